/* SPDX-License-Identifier: MIT */
/* test_http_session.c - whole HTTP conversations in memory: mux, files, live streams, errors. */
#include "base/log.h"
#include "env.h"
#include "format/flv/flv.h"
#include "io_mem.h"
#include "live/impl.h"
#include "serve/http/http.h"
#include "serve/http/live.h"
#include "serve/http/mux.h"
#include "serve/http/packed.h"
#include "serve/http/static.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct session_env *env;
static struct http_service service;
static char folder[] = "/tmp/test_http_XXXXXX";
static void begin(const char *text)
{
    env = env_new_format("listen 1935; http_server { enabled on; dir %s; crossdomain on; } %s",
                         folder, text);
    env->packs = http_packs_new(1 << 20);
    service = (struct http_service){ .env = env, .mux = http_mux_new() };
}

static void end(void)
{
    http_mux_free(service.mux);
    http_packs_free(env->packs);
    env_free(&env);
}

#define VHOST "vhost __defaultVhost__ { http_remux { enabled on; } }"

static char out[1 << 20];

/* Serves a client that sends this; the responses are in `out`, a string. */
static err_t talk(const char *in, size_t piece)
{
    struct io_mem m;
    err_t err;

    io_mem_init(&m, in, strlen(in));
    m.piece = piece;
    m.out = (uint8_t *)out;
    m.out_cap = sizeof(out) - 1;
    err = http_session_run(&service, &m.io, "127.0.0.1");
    out[m.out_size] = '\0';
    return err;
}

/* The status of each response and its body: "200 hello;404 ...;" */
static const char *answers(void)
{
    static char text[4096];
    const char *p = out;
    size_t n = 0;

    text[0] = '\0';
    while (p && strncmp(p, "HTTP/1.1 ", 9) == 0) {
        const char *body = strstr(p, "\r\n\r\n"), *length = strstr(p, "Content-Length: ");
        size_t size = length && length < body ? (size_t)atol(length + 16) : 0;

        n += (size_t)snprintf(text + n, sizeof(text) - n, "%.3s %.*s;", p + 9, (int)size,
                              body + 4);
        p = body + 4 + size;
    }
    return text;
}

static err_t say(struct http_exchange *x, void *arg)
{
    return http_response_send(x->resp, 200, arg, strlen(arg));
}

static err_t decline(struct http_exchange *x, void *arg)
{
    ++*(int *)arg;
    x->declined = true;
    return NULL;
}

static struct http_entry *mount(const char *pattern, const char *text)
{
    return http_mux_add(service.mux, &(struct http_mount){
        .pattern = pattern, .ports = HTTP_PORT_SERVER, .handler = say, .arg = (void *)(uintptr_t)text });
}

static void ask(const char *host, const char *path, const char *wanted)
{
    char in[512];

    (void)snprintf(in, sizeof(in), "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, host);
    assert_err(talk(in, 0), ERR_IO_CLOSED);
    assert_string_equal(answers(), wanted);
}

static void mux(void **state)
{
    int declined = 0;

    (void)state;
    begin(VHOST);
    ask("h", "/x", "404 404 Not Found\n;");
    mount("/", "root");
    mount("/a/", "below a");
    mount("/a/b/", "below b");
    mount("/a/b", "b");
    mount("b.c/a/", "a of b.c");
    mount("*.x", "ends in x");
    (void)mount("/a/b/c/", "below c");
    ask("h", "/z", "200 root;");
    ask("h", "/a/z", "200 below a;");
    ask("h", "/a/b/z", "200 below b;");
    ask("h", "/a/b", "200 b;");          /* the exact path wins over the redirect */
    ask("B.C:80", "/a/z", "200 a of b.c;");
    ask("b.c", "/a/b/z", "200 below b;"); /* the longer one wins */
    ask("h", "/a/b/z.x", "200 ends in x;");
    ask("h", "/a/b/c/d", "200 below c;");
    ask("h", "/a?q=1", "302 302 Found\n;");
    assert_non_null(strstr(out, "\r\nLocation: /a/?q=1\r\n"));
    (void)http_mux_add(service.mux, &(struct http_mount){ .pattern = "/a/b/z", .handler = decline,
                                                          .ports = HTTP_PORT_ALL, .arg = &declined });
    ask("h", "/a/b/z", "200 below b;");
    assert_int_equal(declined, 1);
    (void)http_mux_add(service.mux, &(struct http_mount){ .pattern = "/api", .handler = say,
                                                          .ports = HTTP_PORT_API, .arg = out });
    end();
}

static void methods(void **state)
{
    (void)state;
    begin(VHOST);
    (void)http_mux_add(service.mux, &(struct http_mount){
        .pattern = "/p", .methods = 1u << HTTP_VERB_POST | 1u << HTTP_VERB_PUT,
        .ports = HTTP_PORT_SERVER, .handler = say, .arg = (void *)(uintptr_t)"posted" });
    (void)http_mux_add(service.mux, &(struct http_mount){
        .pattern = "/g", .methods = 1u << HTTP_VERB_GET, .ports = HTTP_PORT_SERVER,
        .handler = say, .arg = (void *)(uintptr_t)"got" });
    ask("h", "/p", "405 405 Method Not Allowed\n;");
    assert_non_null(strstr(out, "\r\nAllow: POST, PUT\r\n"));
    assert_err(talk("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody"
                    "HEAD /g HTTP/1.1\r\nHost: h\r\n\r\n", 0), ERR_IO_CLOSED);
    assert_non_null(strstr(out, "\r\n\r\nposted"));
    assert_non_null(strstr(out, "Content-Length: 3\r\nConnection: keep-alive\r\n\r\n"));
    assert_null(strstr(out, "got"));
    assert_err(talk("OPTIONS /g HTTP/1.1\r\nHost: h\r\n\r\n", 0), ERR_IO_CLOSED);
    assert_string_equal(answers(), "200 ;");
    assert_non_null(strstr(out, "Access-Control-Allow-Origin: *\r\n"));
    end();
}

/* Several pipelined requests, in pieces of any size. */
static void pipelined(void **state)
{
    static const char in[] = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
                             "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
                             "GET /3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
                             "GET /4 HTTP/1.1\r\nHost: h\r\n\r\n";

    (void)state;
    begin(VHOST);
    mount("/1", "one");
    mount("/2", "two");
    mount("/3", "three");
    mount("/4", "four");
    for (size_t piece = 0; piece < 40; piece++) {
        assert_ok(talk(in, piece));
        assert_string_equal(answers(), "200 one;200 two;200 three;");
    }
    end();
}

static void errors(void **state)
{
    static const struct {
        const char *in;
        enum err_code code;
        const char *wanted;
    } rows[] = {
        { "", ERR_IO_CLOSED, "" },
        { "hello\r\n\r\n", ERR_HTTP, "400 400 Bad Request\n;" },
        { "GET / HTTP/1.1\r\n\r\n", ERR_HTTP, "400 400 Bad Request\n;" },
        { "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", ERR_HTTP, "400 400 Bad Request\n;" },
        { "GET / HTTP/1.1\r\nHost", ERR_IO_CLOSED, "" },
        { "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 999999999\r\n\r\n", ERR_TOO_LARGE,
          "413 413 Content Too Large\n;" },
    };

    (void)state;
    begin(VHOST);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_err(talk(rows[i].in, i), rows[i].code);
        assert_string_equal(answers(), rows[i].wanted);
    }
    end();
}

/* ---- files */

static void put_file(const char *name, const void *data, size_t size)
{
    char path[128];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void put_folder(const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)mkdir(path, 0755);
}

static void get(const char *path, const char *fields, const char *wanted)
{
    char in[512];

    (void)snprintf(in, sizeof(in), "GET %s HTTP/1.1\r\nHost: h\r\n%s\r\n", path, fields);
    assert_err(talk(in, 0), ERR_IO_CLOSED);
    assert_string_equal(answers(), wanted);
}

static void files(void **state)
{
    char path[128], etag[128] = "If-None-Match: ", *at;
    char long_text[3000];

    (void)state;
    begin(VHOST);
    http_static_mount(service.mux);
    put_file("a.txt", "0123456789", 10);
    put_file("index.html", "index", 5);
    put_file("m.mp4", "abcdefghij", 10);
    put_folder("d");
    put_file("d/index.html", "of d", 4);
    put_folder("e");
    (void)snprintf(path, sizeof(path), "%s/link", folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    (void)snprintf(path, sizeof(path), "%s/inside", folder);
    assert_int_equal(symlink("d/index.html", path), 0);

    get("/a.txt", "", "200 0123456789;");
    at = strstr(out, "ETag: ");
    assert_non_null(at);
    (void)snprintf(etag + 15, sizeof(etag) - 15, "%.*s\r\n", (int)strcspn(at + 6, "\r"), at + 6);
    get("/a.txt", etag, "304 ;");
    get("/a.txt", "If-None-Match: \"x\", *\r\n", "200 0123456789;");
    get("/a.txt", "If-None-Match: *\r\n", "304 ;");
    get("/a.txt", "If-Modified-Since: Sun, 06 Nov 2093 08:49:37 GMT\r\n", "304 ;");
    get("/a.txt", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "200 0123456789;");
    get("/a.txt", "Range: bytes=2-4\r\n", "206 234;");
    assert_non_null(strstr(out, "Content-Range: bytes 2-4/10\r\n"));
    get("/a.txt", "Range: bytes=-1\r\n", "206 9;");
    get("/a.txt", "Range: bytes=10-\r\n", "416 416 Range Not Satisfiable\n;");
    assert_non_null(strstr(out, "Content-Range: bytes */10\r\n"));
    get("/a.txt", "Range: bytes=2-4\r\nIf-Range: \"other\"\r\n", "200 0123456789;");
    get("/m.mp4?range=2-4", "", "206 cde;");
    get("/m.mp4?bytes=9-", "", "206 j;");
    get("/a.txt?bytes=9-", "", "200 0123456789;");
    get("/", "", "200 index;");
    get("/d/", "", "200 of d;");
    get("/d", "", "302 302 Found\n;");
    get("/e/", "", "404 404 Not Found\n;");
    get("/nix", "", "404 404 Not Found\n;");
    get("/a.txt/", "", "404 404 Not Found\n;");
    get("/a.txt/b", "", "404 404 Not Found\n;");
    get("/link", "", "404 404 Not Found\n;");   /* leads out */
    get("/inside", "", "200 of d;");
    memset(long_text, 'x', sizeof(long_text));
    put_file("long.js", long_text, sizeof(long_text));
    assert_err(talk("GET /long.js HTTP/1.1\r\nHost: h\r\nAccept-Encoding: br, gzip\r\n\r\n", 0),
               ERR_IO_CLOSED);
    assert_non_null(strstr(out, "Content-Encoding: gzip\r\n"));
    assert_non_null(strstr(out, "Vary: Accept-Encoding\r\n"));
    assert_err(talk("GET /long.js HTTP/1.1\r\nHost: h\r\n\r\n", 0), ERR_IO_CLOSED);
    assert_null(strstr(out, "Content-Encoding"));
    assert_non_null(strstr(out, "Content-Length: 3000\r\n"));
    end();
}

static size_t put_tag(uint8_t *at, uint8_t type, const char *body, size_t size)
{
    struct flv_tag tag = { .type = type, .size = (uint32_t)size };

    flv_tag_build(at, &tag);
    memcpy(at + FLV_TAG_HEADER, body, size);
    memset(at + FLV_TAG_HEADER + size, 0, 4);
    return FLV_TAG_HEADER + size + 4;
}

static void flv_start(void **state)
{
    uint8_t file[512];
    size_t head = FLV_FILE_HEADER + 4, configs, size;
    char path[64], want[64];

    (void)state;
    begin(VHOST);
    http_static_mount(service.mux);
    flv_file_build(file, true, true);
    configs = head;
    configs += put_tag(file + configs, FLV_DATA, "meta", 4);
    configs += put_tag(file + configs, FLV_VIDEO, "\x17\0\0\0\0avcC", 9);
    configs += put_tag(file + configs, FLV_AUDIO, "\xaf\0\x12\x10", 4);
    size = configs + put_tag(file + configs, FLV_VIDEO, "\x17\x01\0\0\0one", 8);
    size += put_tag(file + size, FLV_VIDEO, "\x17\x01\0\0\0two", 8);
    put_file("f.flv", file, size);
    (void)snprintf(path, sizeof(path), "/f.flv?start=%zu", size - 23);
    (void)snprintf(want, sizeof(want), "Content-Length: %zu\r\n", configs + 23);
    assert_err(talk("GET /f.flv HTTP/1.1\r\nHost: h\r\n\r\n", 0), ERR_IO_CLOSED);
    (void)snprintf(out + 100000, 200, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path);
    assert_err(talk(out + 100000, 0), ERR_IO_CLOSED);
    assert_non_null(strstr(out, want));
    assert_memory_equal(strstr(out, "\r\n\r\n") + 4, file, configs);
    assert_memory_equal(strstr(out, "\r\n\r\n") + 4 + configs, file + size - 23, 23);
    assert_err(talk("GET /f.flv?start=99999 HTTP/1.1\r\nHost: h\r\n\r\n", 0), ERR_IO_CLOSED);
    (void)snprintf(want, sizeof(want), "Content-Length: %zu\r\n", size);
    assert_non_null(strstr(out, want));
    end();
}

/* ---- live */

static void push(struct live_source *src, uint8_t tag, const char *body, size_t size, uint32_t ms)
{
    struct av_packet *pkt = av_packet_new(size);

    pkt->origin = tag;
    memcpy(pkt->data, body, size);
    assert_ok(flv_packet_describe(pkt));
    live_source_push(src, pkt, AV_MS(ms));
    (void)av_packet_unref(pkt);
}

static struct live_source *stream(struct live_publisher *p)
{
    struct live_settings set = session_live_settings(env->conf, conf_vhost_find(env->conf, "any"));
    struct live_source *src = live_registry_get(env->streams, "__defaultVhost__/live/s", &set);

    *p = (struct live_publisher){ .ip = "1.2.3.4" };
    assert_ok(live_source_begin(src, p, &(struct live_takeover){ LIVE_TAKEOVER_OFF, 0, 0 }));
    push(src, FLV_VIDEO, "\x17\0\0\0\0\x01\x64\0\x1f", 9, 0);
    push(src, FLV_AUDIO, "\xaf\0\x12\x10", 4, 0);
    push(src, FLV_VIDEO, "\x17\x01\0\0\0key", 8, 10);
    push(src, FLV_AUDIO, "\xaf\x01snd", 5, 20);
    return src;
}

/* In memory a player "leaves" when it has sent everything; it gets what was there by then. */
static void flv(void **state)
{
    static const struct {
        const char *remux;
        uint8_t flags;
    } rows[] = {
        { "", 5 },
        { "has_audio off;", 1 },
        { "has_video off;", 4 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct live_publisher p;
        struct live_source *src;
        char text[128];
        const char *body;

        (void)snprintf(text, sizeof(text),
                       "vhost __defaultVhost__ { http_remux { enabled on; %s } }", rows[i].remux);
        begin(text);
        http_live_mount(service.mux);
        src = stream(&p);
        assert_err(talk("GET /live/s.flv HTTP/1.1\r\nHost: h\r\n\r\n", 0), ERR_IO_CLOSED);
        assert_non_null(strstr(out, "Content-Type: video/x-flv\r\n"));
        assert_non_null(strstr(out, "Connection: close\r\n\r\n"));
        assert_null(strstr(out, "\r\nContent-Length"));
        body = strstr(out, "\r\n\r\n") + 4;
        assert_memory_equal(body, "FLV\x01", 4);
        assert_int_equal(body[4], rows[i].flags);
        assert_err(talk("GET /live/s.flv HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\n"
                        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", 0), ERR_IO_CLOSED);
        assert_non_null(strstr(out, "101 Switching Protocols"));
        assert_non_null(strstr(out, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        body = strstr(out, "\r\n\r\n") + 4;
        assert_memory_equal(body, "\x82\x0d" "FLV\x01", 6);
        assert_err(talk("GET /live/s.flv HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\n"
                        "Upgrade: websocket\r\nSec-WebSocket-Version: 8\r\n\r\n", 0),
                   ERR_IO_CLOSED);
        assert_non_null(strstr(out, "426 Upgrade Required"));
        live_source_end(src, &p);
        (void)live_source_unref(src);
        assert_int_equal(env->players, 0);
        end();
    }
}

static void flv_refused(void **state)
{
    (void)state;
    begin("vhost __defaultVhost__ { http_remux { enabled on; } security { enabled on; "
          "deny play 10.0.0.0/8; allow play all; } }");
    http_live_mount(service.mux);
    assert_err(talk("GET /live/s.flv HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 10.1.1.1\r\n\r\n", 0),
               ERR_IO_CLOSED); /* the proxy is local, so it is trusted */
    assert_non_null(strstr(out, "403 Forbidden"));
    end();
    begin("vhost __defaultVhost__ { http_remux { enabled on; } refer { enabled on; play a.b; } }");
    http_live_mount(service.mux);
    assert_err(talk("GET /live/s.flv HTTP/1.1\r\nHost: h\r\nReferer: http://c.d/x\r\n\r\n", 0),
               ERR_IO_CLOSED);
    assert_non_null(strstr(out, "403 Forbidden"));
    end();
    begin("vhost __defaultVhost__ { }");
    http_live_mount(service.mux);
    assert_err(talk("GET /live/s.flv HTTP/1.1\r\nHost: h\r\n\r\n", 0), ERR_IO_CLOSED);
    assert_non_null(strstr(out, "404 Not Found"));
    end();
}

static int set_up(void **state)
{
    const struct log_setup quiet = { .min = LOG_NONE };

    (void)state;
    log_init(&quiet);
    assert_ok(co_init());
    assert_non_null(mkdtemp(folder));
    return 0;
}

static int clean_up(void **state)
{
    static const char *const names[] = { "a.txt", "index.html", "m.mp4", "d/index.html", "link",
                                         "inside", "long.js", "f.flv" };
    char path[128];

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    (void)snprintf(path, sizeof(path), "%s/d", folder);
    (void)rmdir(path);
    (void)snprintf(path, sizeof(path), "%s/e", folder);
    (void)rmdir(path);
    return rmdir(folder);
}

/* Guesses of an untrusted client, which must fail. */
static void test_hidden(void **state)
{
    static const struct {
        const char *path;
        bool hidden;
    } paths[] = {
        { "/", false },           { "", false },          { "/a.m3u8", false },
        { "/a.m3u8.tmp", true },  { "/.tmp", true },      { "/a/.git/config", true },
        { "/.htpasswd", true },   { "/a.tmp/b", true },   { "/a..b", false },
        { "/tmp", false },        { "/a/b.tmpl", false }, { "/a//.b", true },
        { "/a.tmp/", true },      { "/tmp/x.", false },   { "/a.TMP", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(paths); i++) {
        print_message("  %s\n", paths[i].path);
        assert_int_equal(http_static_is_hidden(paths[i].path), paths[i].hidden);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_hidden), TEST(mux), TEST(methods), TEST(pipelined), TEST(errors), TEST(files), TEST(flv_start),
        TEST(flv), TEST(flv_refused),
    };

    return cmocka_run_group_tests(tests, set_up, clean_up);
}
