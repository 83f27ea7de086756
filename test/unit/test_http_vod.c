/* SPDX-License-Identifier: MIT */
/* test_http_vod.c - files on demand over HTTP and WebSocket: whole conversations. */
#include "base/log.h"
#include "env.h"
#include "flv_film.h"
#include "live/impl.h"
#include "peer.h"
#include "proto/http/ws.h"
#include "serve/http/http.h"
#include "serve/http/live.h"
#include "serve/http/mux.h"
#include "serve/http/packed.h"
#include "serve/http/static.h"
#include "serve/http/vod.h"
#include "vod_idle.h"

#include <stdlib.h>
#include <sys/stat.h>

static struct session_env *env;
static struct http_service service;
static struct script_io peer;

/* The files are below the folder of http_server, as by default. */
static void begin(const char *more)
{
    env = env_new_format("listen 1935; http_server { enabled on; dir %s; } "
                         "vhost __defaultVhost__ { vod { enabled on; dir %s/vod; } %s }",
                         dir, dir, more);
    env->packs = http_packs_new(1 << 20);
    env->vod = vod_new(env->streams, env->conf, 1);
    service = (struct http_service){ .env = env, .mux = http_mux_new() };
    http_vod_mount(service.mux);
    http_live_mount(service.mux);
    http_static_mount(service.mux);
    script_init(&peer);
}

static void end(void)
{
    script_fini(&peer);
    http_mux_free(service.mux);
    http_packs_free(env->packs);
    vod_end_idle(env->vod);
    env_free(&env);
}

static char films[64];

static int setup(void **state)
{
    if (vod_setup(state) != 0)
        return 1;
    (void)snprintf(films, sizeof(films), "%s/vod", dir);
    return mkdir(films, 0755);
}

#define WITH_FILMS(f) cmocka_unit_test_setup_teardown(f, setup, vod_teardown)

static struct wr *ask(const char *method, const char *path, const char *fields)
{
    struct wr *out = script_put(&peer, "");

    wr_printf(out, "%s %s HTTP/1.1\r\nHost: h\r\n%s\r\n", method, path, fields);
    return out;
}

static err_t talk(void)
{
    return http_session_run(&service, &peer.io, "127.0.0.1");
}

static int status(void)
{
    wr_u8(&peer.out, 0);
    peer.out.len--;
    return strncmp((char *)peer.out.buf, "HTTP/1.1 ", 9) == 0 ? atoi((char *)peer.out.buf + 9) : 0;
}

/* The tags of a film, as text. */
static void tell_tags(char *text, size_t size, struct rd *r)
{
    while (rd_left(r) > 0) {
        size_t n = strlen(text);
        struct flv_tag tag;
        const uint8_t *body;

        assert_ok(flv_tag_parse(&tag, r));
        body = rd_take(r, tag.size);
        assert_int_equal(rd_u32(r), FLV_TAG_HEADER + tag.size);
        assert_false(r->bad);
        if (tag.type == FLV_DATA)
            (void)snprintf(text + n, size - n, "meta ");
        else
            (void)snprintf(text + n, size - n, "%c%u%s ", tag.type == FLV_VIDEO ? 'V' : 'A',
                           tag.time, body[1] == 0 ? "c"
                           : tag.type == FLV_VIDEO && body[0] >> 4 == 1 ? "k" : "");
    }
}

/* Binary messages of a WebSocket, one after the other in place. */
static size_t unframe(uint8_t *p, size_t size)
{
    size_t at = 0, n = 0;

    while (at + 2 <= size && (p[at] & 0x0f) == HTTP_WS_BINARY) {
        size_t len = p[at + 1];

        at += 2;
        if (len == 126) {
            len = (size_t)p[at] << 8 | p[at + 1];
            at += 2;
        }
        assert_true(at + len <= size);
        memmove(p + n, p + at, len);
        n += len;
        at += len;
    }
    return n;
}

static const char *told(bool ws)
{
    static char text[8192];
    uint8_t *body = memmem(peer.out.buf, peer.out.len, "\r\n\r\n", 4);
    size_t size;
    struct rd r;

    text[0] = '\0';
    assert_non_null(body);
    body += 4;
    size = (size_t)(peer.out.buf + peer.out.len - body);
    if (ws)
        size = unframe(body, size);
    r = rd_init(body, size);
    assert_ok(flv_file_parse(&r));
    assert_int_equal(body[4], 5);
    tell_tags(text, sizeof(text), &r);
    return text;
}

#define FILM "meta V0c A0c V0k A50 V100 A150 V200 A250 V300 A350 V400 A450 V500 A550 V600 A650 " \
             "V700 A750 V800 A850 V900 A950 "

/* The end of the film ends the response; http_remux is off. */
static void from_begin_to_end(void **state)
{
    (void)state;
    film_write(films, "a.flv", 10, 0);
    for (size_t piece = 0; piece < 3; piece++) {
        begin("");
        peer.piece = piece;
        ask("GET", "/vod/a.flv.flv", "");
        script_stay(&peer);
        assert_ok(talk());
        assert_int_equal(status(), 200);
        assert_non_null(strstr((char *)peer.out.buf, "Content-Type: video/x-flv\r\n"));
        assert_string_equal(told(false), FILM);
        end();
    }
}

static void by_websocket(void **state)
{
    (void)state;
    film_write(films, "a.flv", 10, 0);
    begin("http_remux { enabled on; }");
    ask("GET", "/vod/a.flv.flv", "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
    script_stay(&peer);
    assert_ok(talk());
    assert_int_equal(status(), 101);
    assert_string_equal(told(true), FILM);
    end();
    begin("");
    ask("GET", "/vod/a.flv.flv", "Upgrade: websocket\r\nConnection: Upgrade\r\n");
    script_put(&peer, "\r\n\r\n");
    assert_err(talk(), ERR_IO_CLOSED);
    assert_int_equal(status(), 426);
    end();
}

static void from_a_place_for_a_while(void **state)
{
    static const struct {
        const char *query, *told;
    } rows[] = {
        { "start=2", "meta V2000c A2000c V2000k A2050 " },
        { "start=2.95&x=y", "meta V2000c A2000c V2000k A2050 " },
        { "start=0&end=0.2", "meta V0c A0c V0k A50 V100 A150 " },
        { "start=1.5&end=1.7", "meta V1000c A1000c V1000k A1050 " },
        { "start=", NULL }, { "start=x", NULL }, { "start=-1", NULL }, { "start=1e3", NULL },
        { "start=nan", NULL }, { "start=1.5.5", NULL }, { "end=0x10", NULL }, { "start=.5", NULL },
    };

    (void)state;
    film_write(films, "a.flv", 30, 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[64];
        err_t err;

        begin("");
        (void)snprintf(path, sizeof(path), "/vod/a.flv.flv?%s", rows[i].query);
        ask("GET", path, "");
        script_put(&peer, rows[i].told ? "\xaf\x01\xde\xad" : "400 Bad Request\n");
        err = talk(); /* either side may leave first */
        err_free(&err);
        assert_int_equal(status(), rows[i].told ? 200 : 400);
        if (rows[i].told)
            assert_memory_equal(told(false), rows[i].told, strlen(rows[i].told));
        end();
    }
}

static const struct {
    const char *method, *path, *conf;
    int status;
} refused_rows[] = {
    { "GET", "/vod/none.flv.flv", "", 404 },
    { "GET", "/vod/none.flv.flv", "http_remux { enabled on; }", 404 },
    { "HEAD", "/vod/none.flv.flv", "", 404 },
    { "GET", "/vod/text.flv.flv", "", 415 },
    { "HEAD", "/vod/text.flv.flv", "", 415 },
    { "HEAD", "/vod/a.flv.flv", "", 200 },
    { "HEAD", "/vod/a.flv.flv?start=3", "", 416 },
    { "GET", "/vod/a.flv.flv?start=1", "", 200 },
    { "GET", "/vod/a.flv.flv?start=2.1", "", 416 },
    { "GET", "/vod/a.flv.flv?start=0.5&end=0.5", "", 416 },
    { "GET", "/vod/a.flv.flv?start=99999999999999999", "", 416 },
    { "GET", "/vod/a.flv.flv", "security { enabled on; deny play all; }", 403 },
    { "HEAD", "/vod/none.flv.flv", "security { enabled on; deny play all; }", 403 },
    { "HEAD", "/vod/none.flv.flv", "security { enabled on; allow play all; }", 200 },
    { "GET", "/vod/%2e%2e/vod/none.flv.flv", "", 404 },
    { "GET", "/vod/../../a.flv.flv", "", 400 },
    { "GET", "/vod/a%00.flv.flv", "", 400 },
    { "POST", "/vod/a.flv.flv", "", 405 },
};

static void what_is_refused(void **state)
{
    char path[128];
    FILE *f;

    (void)state;
    film_write(films, "a.flv", 10, 0);
    (void)snprintf(path, sizeof(path), "%s/text.flv", films);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs("It is no film.", f) > 0);
    assert_int_equal(fclose(f), 0);
    for (size_t i = 0; i < COUNT(refused_rows); i++) {
        err_t err;

        begin(refused_rows[i].conf);
        ask(refused_rows[i].method, refused_rows[i].path, "");
        script_put(&peer, "\r\n\r\n");
        err = talk();
        err_free(&err);
        if (status() != refused_rows[i].status)
            fail_msg("%s %s: %d", refused_rows[i].method, refused_rows[i].path, status());
        end();
    }
}

/* A file of exactly this name is served unchanged if there is no file to play. */
static void a_file_as_it_is(void **state)
{
    (void)state;
    film_write(films, "a.mp4.flv", 10, 0);
    begin("");
    ask("GET", "/vod/a.mp4.flv", "");
    script_put(&peer, "\xaf\x01\xde\xad");
    assert_err(talk(), ERR_IO_CLOSED);
    assert_int_equal(status(), 200);
    assert_non_null(strstr((char *)peer.out.buf, "Content-Length: "));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILMS(from_begin_to_end),
        WITH_FILMS(by_websocket),
        WITH_FILMS(from_a_place_for_a_while),
        WITH_FILMS(what_is_refused),
        WITH_FILMS(a_file_as_it_is),
    };
    const struct log_setup quiet = { .min = LOG_NONE };

    log_init(&quiet);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
