/* SPDX-License-Identifier: MIT */
/* fuzz_http.c - an HTTP connection to the server: the input is everything that the client sends.
 *
 * For small inputs the first byte is the size of the pieces in which it arrives.
 */
#include "fuzz.h"
#include "io_mem.h"
#include "serve/http/http.h"
#include "serve/http/live.h"
#include "serve/http/mux.h"
#include "serve/http/static.h"

#include <assert.h>

const size_t fuzz_input_most = FUZZ_LARGEST;
enum { SMALL = 64 * 1024 };

static struct session_env env;
static struct http_service service;

static const char conf[] = "listen 1935; http_server { enabled on; dir ./conf; }"
                           "vhost __defaultVhost__ { http_remux { enabled on; } }"
                           "vhost b { http_remux { enabled on; mount b/x/[app]@[stream].flv; "
                           "guess_has_av off; } http_static { enabled on; mount b/s/; "
                           "dir ./doc; } refer { enabled on; play a.b; } }";

static err_t echo(struct http_exchange *x, void *arg)
{
    char buf[100];
    size_t n = 0;
    err_t err = http_response_begin(x->resp, 200, HTTP_CHUNKED);

    (void)arg;
    do {
        if (!err)
            err = http_reader_body(x->reader, buf, sizeof(buf), &n);
        if (!err)
            err = http_response_write(x->resp, buf, n);
    } while (!err && n > 0);
    return err ? err : http_response_end(x->resp);
}

static void begin(void)
{
    fuzz_serve(&env, conf);
    service = (struct http_service){ .env = &env, .mux = http_mux_new() };
    (void)http_mux_add(service.mux, &(struct http_mount){ .pattern = "/e/", .handler = echo,
                                                          .ports = HTTP_PORT_ALL });
    http_live_mount(service.mux);
    http_static_mount(service.mux);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct io_mem m;
    err_t err;

    if (!env.conf)
        begin();
    if (size == 0)
        return 0;
    io_mem_init(&m, data + 1, size - 1);
    m.piece = size < SMALL ? data[0] : 0;
    m.out_cap = 1 << 20;
    err = http_session_run(&service, &m.io, "127.0.0.1");
    err_free(&err);
    assert(err_live() == 0 && av_packet_live() == 0 && live_source_live() == 0);
    assert(env.players == 0);
    return 0;
}
