/* SPDX-License-Identifier: MIT */
/* test_rtsp_call.c - calls to servers with different habits, over loopback. */
#include "base/wr.h"
#include "co/net/io_tcp.h"
#include "proto/rtsp/call.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The server's responses to one request after the other; '@' is its CSeq, '#' the server's port, '^'
 * ends the connection. */
enum { STEPS = 8 };

struct server {
    struct io_listener *l;
    const char *const *steps;
    char said[4096]; /* the first line of each request */
};

#define OK "RTSP/1.0 200 OK\r\nCSeq: @\r\n\r\n"
#define OK_BODY(n) "RTSP/1.0 200 OK\r\nCSeq: @\r\nContent-Length: " n "\r\n\r\n"
#define LOGIN "RTSP/1.0 401 x\r\nCSeq: @\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"1\"\r\n\r\n"
#define OTHER "RTSP/1.0 401 x\r\nCSeq: @\r\nWWW-Authenticate: Digest realm=\"s\", nonce=\"2\"\r\n\r\n"
#define STALE "RTSP/1.0 401 x\r\nCSeq: @\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"3\", " \
    "stale=\"TRUE\"\r\n\r\n"
#define BASIC "RTSP/1.0 401 x\r\nCSeq: @\r\nWWW-Authenticate: Basic realm=\"r\"\r\n\r\n"
#define FRAME "$\001\000\020" "0123456789abcdef"

static const struct {
    const char *name, *user;
    const char *steps[STEPS];
    enum err_code code;
    int status;
    unsigned frames;
    const char *said;
} rows[] = {
    { "all is well", "", { OK, OK_BODY("2") "v=" }, ERR_OK, 200, 0, "OPTIONS/a DESCRIBE/a " },
    { "no CSeq", "", { "RTSP/1.0 200 OK\r\n\r\n", OK }, ERR_OK, 200, 0, "OPTIONS/a DESCRIBE/a " },
    { "frames before the answer", "", { OK, FRAME FRAME OK }, ERR_OK, 200, 2, NULL },
    { "garbage around a frame", "", { OK, FRAME "zz$\007zz" FRAME "\001" OK }, ERR_OK, 200, 2, NULL },
    { "an unrequested answer", "", { OK, "RTSP/1.0 200 OK\r\nCSeq: 99\r\n\r\n" OK },
      ERR_OK, 200, 0, NULL },
    { "it asks, too", "", { OK, "OPTIONS * RTSP/1.0\r\nCSeq: 7\r\n\r\n" OK }, ERR_OK, 200, 0, NULL },
    { "login", "u:p@", { OK, LOGIN, OK }, ERR_OK, 200, 0, "OPTIONS/a DESCRIBE/a DESCRIBE/a " },
    { "login by basic", "u:p@", { OK, BASIC, OK }, ERR_OK, 200, 0, NULL },
    { "a nonce for each request", "u:p@", { LOGIN, OK, STALE, OK }, ERR_OK, 200, 0,
      "OPTIONS/a OPTIONS/a DESCRIBE/a DESCRIBE/a " },
    { "another realm for each request", "u:p@", { LOGIN, OK, OTHER, OK }, ERR_OK, 200, 0,
      "OPTIONS/a OPTIONS/a DESCRIBE/a DESCRIBE/a " },
    { "a body that is longer than it says", "", { OK, OK_BODY("2") "v=garbage" }, ERR_OK, 200, 0,
      NULL },
    { "wrong password", "u:p@", { OK, LOGIN, LOGIN, LOGIN, LOGIN }, ERR_RTSP_LOGIN, 401, 0, NULL },
    { "no password", "", { OK, LOGIN }, ERR_RTSP_LOGIN, 401, 0, NULL },
    { "moved", "", { OK, "RTSP/1.0 302 x\r\nCSeq: @\r\nLocation: rtsp://127.0.0.1:#/b\r\n\r\n^",
      OK }, ERR_OK, 200, 0, "OPTIONS/a DESCRIBE/a DESCRIBE/b " },
    { "moved to nowhere", "", { OK, "RTSP/1.0 302 x\r\nCSeq: @\r\n\r\n" }, ERR_RTSP_REFUSED, 302, 0,
      NULL },
    { "not there", "", { OK, "RTSP/1.0 404 Not Found\r\nCSeq: @\r\n\r\n" }, ERR_RTSP_REFUSED, 404, 0,
      NULL },
    { "not its method", "", { "RTSP/1.0 501 x\r\nCSeq: @\r\n\r\n" }, ERR_RTSP_REFUSED, 501, 0, NULL },
    { "it hangs up", "", { OK, "^" }, ERR_IO_CLOSED, 0, 0, NULL },
    { "it hangs up in the midst", "", { OK, "RTSP/1.0 2^" }, ERR_IO_CLOSED, 0, 0, NULL },
    { "it says nothing", "", { OK, "" }, ERR_IO_TIMEOUT, 0, 0, NULL },
    { "frames for ever, no answer", "", { OK, FRAME FRAME }, ERR_IO_TIMEOUT, 0, 2, NULL },
    { "no server of RTSP", "", { "HTTP/1.1 400 Bad Request\r\n\r\n^" }, ERR_IO_CLOSED, 0, 0, NULL },
};

static void say(struct io *io, const struct server *s, const char *text, const char *cseq)
{
    char out[1024];
    size_t n = 0;

    for (; *text && *text != '^'; text++) {
        if (*text == '@')
            n += (size_t)snprintf(out + n, sizeof(out) - n, "%.*s", (int)strcspn(cseq, "\r"), cseq);
        else if (*text == '#')
            n += (size_t)snprintf(out + n, sizeof(out) - n, "%d", io_listener_port(s->l));
        else if (memcmp(text, "$\001", 2) == 0) { /* the length has a 0 in it */
            memcpy(out + n, text, 20);
            n += 20;
            text += 19;
        } else {
            out[n++] = *text;
        }
    }
    assert_ok(io_write(io, out, n));
}

/* The method and the path of a request. */
static void note(struct server *s, const char *request)
{
    const char *path = strchr(strstr(request, "://") + 3, '/');
    size_t n = strlen(s->said);

    (void)snprintf(s->said + n, sizeof(s->said) - n, "%.*s%.*s ", (int)strcspn(request, " "),
                   request, (int)strcspn(path, " "), path);
}

/* One connection: returns the number of steps. */
static size_t serve_one(struct server *s, struct io *io, const char *const *steps)
{
    size_t done = 0, size = 0;
    char in[4096];

    while (done < STEPS && steps[done]) {
        size_t n;
        err_t err = io_read(io, in + size, sizeof(in) - 1 - size, &n);
        const char *end;

        if (err) {
            err_free(&err);
            return STEPS;
        }
        size += n;
        in[size] = '\0';
        while ((end = strstr(in, "\r\n\r\n")) && done < STEPS && steps[done]) {
            bool asks = strncmp(in, "RTSP/", 5) != 0;

            if (asks) {
                note(s, in);
                say(io, s, steps[done], strstr(in, "CSeq: ") + 6);
                done++;
            }
            size -= (size_t)(end + 4 - in);
            memmove(in, end + 4, size + 1);
            if (asks && strchr(steps[done - 1], '^'))
                return done;
        }
    }
    (void)!io_wait(io, false, CO_SECONDS(2)); /* until the client closes */
    return STEPS;
}

static err_t serve(void *server)
{
    struct server *s = server;
    size_t at = 0;

    while (at < STEPS && s->steps[at]) {
        uint8_t peer[IO_ADDR_BYTES];
        struct io *io;
        int fd;
        err_t err = io_accept(s->l, &fd, peer);

        if (err)
            return err;
        assert_ok(io_tcp_open(&io, fd));
        at += serve_one(s, io, s->steps + at);
        io_close(io);
    }
    return NULL;
}

static void on_frame(void *arg, uint8_t channel, const uint8_t *data, size_t size)
{
    unsigned *frames = arg;

    assert_int_equal(channel, 1);
    assert_int_equal(size, 16);
    assert_memory_equal(data, "0123456789abcdef", 16);
    ++*frames;
}

static err_t talk(struct rtsp_call *c)
{
    err_t err = rtsp_call_request(c, &(struct rtsp_request){ .method = RTSP_OPTIONS }, NULL);

    if (err)
        return err;
    c->reader.frames = true;
    rtsp_reader_add_channel(&c->reader, 1);
    return rtsp_call_request(c, &(struct rtsp_request){ .method = RTSP_DESCRIBE }, NULL);
}

static void test_manners(void **state)
{
    static const struct rtsp_call_setup setup = { .connect = CO_SECONDS(5), .answer = CO_MS(300) };

    (void)state;
    assert_ok(co_init());
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct server s = { .steps = rows[i].steps };
        struct co_group g;
        struct rtsp_call c;
        unsigned frames = 0;
        char url[100];

        print_message("  %s\n", rows[i].name);
        assert_ok(io_listen(&s.l, "127.0.0.1", 0, 4));
        (void)snprintf(url, sizeof(url), "rtsp://%s127.0.0.1:%d/a", rows[i].user,
                       io_listener_port(s.l));
        co_group_init(&g);
        assert_ok(co_go(&g, "server", serve, &s));
        assert_ok(rtsp_call_init(&c, url, &setup));
        c.on_frame = on_frame;
        c.arg = &frames;
        assert_err(talk(&c), rows[i].code);
        assert_int_equal(frames, rows[i].frames);
        if (rows[i].status)
            assert_int_equal(c.client.status, rows[i].status);
        if (rows[i].said)
            assert_string_equal(s.said, rows[i].said);
        rtsp_call_fini(&c);
        assert_err(co_group_stop(&g), ERR_OK);
        io_listener_close(s.l);
    }
    co_fini();
}

/* Without a listener, and for invalid urls; the error has no password. */
static void test_no_listener(void **state)
{
    static const struct rtsp_call_setup setup = { .connect = CO_SECONDS(5), .answer = CO_MS(300) };
    struct rtsp_call c;
    char text[512];
    err_t err;

    (void)state;
    assert_ok(co_init());
    assert_err(rtsp_call_init(&c, "http://a/b", &setup), ERR_RTSP);
    assert_ok(rtsp_call_init(&c, "rtsp://u:geheim@127.0.0.1:1/a", &setup));
    err = rtsp_call_request(&c, &(struct rtsp_request){ .method = RTSP_OPTIONS }, NULL);
    assert_int_equal(err_code(err), ERR_IO_CONNECT);
    assert_null(strstr(err_text(err, text, sizeof(text)), "geheim"));
    err_free(&err);
    rtsp_call_fini(&c);
    co_fini();
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_manners), TEST(test_no_listener) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
