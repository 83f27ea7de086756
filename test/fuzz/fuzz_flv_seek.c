/* SPDX-License-Identifier: MIT */
/* fuzz_flv_seek.c - any bytes as an FLV file, and a player that seeks in it.
 *
 * The first byte is the number of decimal digits of "start=" that follow, as bytes; the rest is the file.
 */
#include "fuzz.h"
#include "io_mem.h"
#include "serve/http/http.h"
#include "serve/http/mux.h"
#include "serve/http/static.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUT_MOST = 1 << 20, DIGITS = 21 };

static char dir[] = "/tmp/fuzz_flv_seek.XXXXXX", path[sizeof(dir) + 6];
static struct session_env env;
static struct http_service service;
static uint8_t *out;

static void clean_up(void)
{
    (void)unlink(path);
    (void)rmdir(dir);
    free(out);
}

static void begin(void)
{
    char conf[200];

    assert(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/f.flv", dir);
    (void)atexit(clean_up);
    (void)snprintf(conf, sizeof(conf), "listen 1935; http_server { enabled on; dir %s; }", dir);
    fuzz_serve(&env, conf);
    service = (struct http_service){ .env = &env, .mux = http_mux_new() };
    http_static_mount(service.mux);
    out = malloc(OUT_MOST);
    assert(out);
}

static void write_file(const uint8_t *data, size_t size)
{
    FILE *f = fopen(path, "wb");

    assert(f && fwrite(data, 1, size, f) == size);
    assert(fclose(f) == 0);
}

/* As much as announced, and the end of the file is the end of the response. */
static void check(const struct io_mem *m, const uint8_t *file, size_t size, long start)
{
    const char *body = strstr((const char *)m->out, "\r\n\r\n");
    const char *length = strcasestr((const char *)m->out, "\r\nContent-Length:");
    size_t left;

    if (strncmp((const char *)m->out, "HTTP/1.1 200", 12) != 0)
        return;
    assert(body && length && length < body);
    left = (size_t)((const char *)m->out + m->out_size - (body + 4));
    assert((size_t)strtol(length + 17, NULL, 10) == left);
    if (start > 0 && (size_t)start <= size && left >= size - (size_t)start)
        assert(memcmp(body + 4 + left - (size - (size_t)start), file + start,
                      size - (size_t)start) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char digits[DIGITS] = "", request[100];
    struct io_mem m;
    size_t n;
    err_t err;

    if (!out)
        begin();
    if (size == 0)
        return 0;
    n = data[0] % DIGITS;
    if (n > size - 1)
        n = size - 1;
    for (size_t i = 0; i < n; i++)
        digits[i] = (char)('0' + data[1 + i] % 10);
    data += 1 + n;
    size -= 1 + n;
    write_file(data, size);
    (void)snprintf(request, sizeof(request), "GET /f.flv?start=%s HTTP/1.1\r\nHost: a\r\n\r\n",
                   digits);
    io_mem_init(&m, request, strlen(request));
    m.out = out;
    m.out_cap = OUT_MOST - 1;
    err = http_session_run(&service, &m.io, "127.0.0.1");
    err_free(&err);
    out[m.out_size] = '\0';
    check(&m, data, size, strtol(digits, NULL, 10));
    assert(err_live() == 0);
    return 0;
}
