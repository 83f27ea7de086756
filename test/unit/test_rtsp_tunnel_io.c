/* SPDX-License-Identifier: MIT */
/* test_rtsp_tunnel_io.c - tunnels as io: over two HTTP connections or a WebSocket. */
#include "base/log.h"
#include "base/must.h"
#include "base/wr.h"
#include "co/net/io_tcp.h"
#include "env.h"
#include "io_mem.h"
#include "proto/rtsp/tunnel.h"
#include "proto/rtsp/ws_io.h"
#include "serve/rtsp/rtsp.h"
#include "serve/rtsp/tunnel_io.h"
#include "serve/rtsp/tunnel_post.h"
#include "unit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- an io that transfers a limited number of bytes per call */

struct narrow {
    struct io io;
    struct wr got;
    size_t limit;   /* per call */
    size_t window; /* calls until it is full; io_wait() empties it */
    size_t left;
    const uint8_t *in;
    size_t in_size;
    bool closed;
};

static err_t narrow_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    struct narrow *t = (struct narrow *)io;
    size_t room = t->left > 0 ? t->limit : 0;

    *n = 0;
    t->left -= t->left > 0;
    for (int i = 0; i < count && *n < room; i++) {
        size_t take = iov[i].iov_len < room - *n ? iov[i].iov_len : room - *n;

        wr_bytes(&t->got, iov[i].iov_base, take);
        *n += take;
    }
    return NULL;
}

static err_t narrow_writev(struct io *io, struct iovec *iov, int count)
{
    struct narrow *t = (struct narrow *)io;

    for (int i = 0; i < count; i++)
        wr_bytes(&t->got, iov[i].iov_base, iov[i].iov_len);
    return NULL;
}

static err_t narrow_read(struct io *io, void *buf, size_t size, size_t *n)
{
    struct narrow *t = (struct narrow *)io;

    *n = t->in_size < t->limit ? t->in_size : t->limit;
    if (*n == 0)
        return err_new(ERR_IO_CLOSED, "end");
    if (*n > size)
        *n = size;
    memcpy(buf, t->in, *n);
    t->in += *n;
    t->in_size -= *n;
    return NULL;
}

static bool narrow_readable(struct io *io)
{
    (void)io;
    return true;
}

static enum co_wake narrow_wait(struct io *io, bool out, co_usec timeout)
{
    struct narrow *t = (struct narrow *)io;

    (void)timeout;
    if (out)
        t->left = t->window;
    return CO_WOKEN;
}

static void narrow_close(struct io *io)
{
    ((struct narrow *)io)->closed = true;
}

static const struct io_ops narrow_ops = {
    .name = "narrow", .read = narrow_read, .read_now = narrow_read, .writev = narrow_writev,
    .send_some = narrow_some, .readable = narrow_readable, .wait = narrow_wait,
    .close = narrow_close,
};

static void narrow_init(struct narrow *t, size_t limit, size_t window)
{
    *t = (struct narrow){ .io = { .ops = &narrow_ops }, .limit = limit, .window = window,
                          .left = window };
    wr_init(&t->got, 16 << 20);
}

/* ---- WebSocket */

static err_t on_payload(void *arg, const struct http_ws_in *in, const uint8_t *data, size_t size,
                        bool end)
{
    (void)end;
    if (in->op == HTTP_WS_BINARY || in->op == HTTP_WS_CONTINUE)
        wr_bytes(arg, data, size);
    return NULL;
}

/* Unwraps frames as a client does, up to a close frame. */
static void unwrap(struct wr *frames, struct wr *out)
{
    static const struct http_ws_handler handler = { on_payload };
    struct http_ws_in in;

    http_ws_in_init(&in, false, 1 << 20);
    assert_ok(http_ws_feed(&in, frames->buf, frames->len, &handler, out));
    assert_int_equal(in.op, HTTP_WS_CLOSE);
    assert_false(in.in_payload);
}

/* Sends like a player's sender: the rest of a partial write is offered again when there is room. */
static void send_all(struct io *io, const uint8_t *data, size_t size, size_t turn)
{
    size_t at = 0, end = 0;

    while (at < size) {
        struct iovec iov[3];
        size_t n, left;

        if (at == end) /* a new turn; until then the same bytes are offered */
            end = at + turn < size ? at + turn : size;
        left = end - at;
        iov[0] = (struct iovec){ (uint8_t *)(uintptr_t)data + at, left / 3 };
        iov[1] = (struct iovec){ (uint8_t *)(uintptr_t)data + at + left / 3, 0 };
        iov[2] = (struct iovec){ (uint8_t *)(uintptr_t)data + at + left / 3, left - left / 3 };
        assert_ok(io_send_some(io, iov, 3, &n));
        assert_true(n <= left);
        at += n;
        if (n < left)
            assert_int_equal(io_wait(io, true, CO_FOREVER), CO_WOKEN);
    }
}

static void ws_sends(void **state)
{
    static const struct {
        size_t size, turn, limit, window;
    } rows[] = {
        { 1000, 100, 1, 1 }, { 1000, 100, 1, 7 }, { 1000, 1000, 3, 2 }, { 1000, 2, 1, 3 },
        { 5000, 300, 301, 1 }, { 5000, 300, 302, 1 }, { 5000, 300, 303, 1 }, { 5000, 300, 304, 1 },
        { 2000000, 700000, 100000, 3 }, { 2000000, 65536, 1000, 1 }, { 2000000, 2000000, 1 << 30, 9 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t *data = must(malloc(rows[i].size));
        struct iovec last = { data, 100 };
        struct narrow below;
        struct wr out;
        struct io *io;

        for (size_t k = 0; k < rows[i].size; k++)
            data[k] = (uint8_t)(k * 31 + k / 251);
        narrow_init(&below, rows[i].limit, rows[i].window);
        io = rtsp_ws_open(&below.io, NULL, 0);
        wr_init(&out, 16 << 20);
        send_all(io, data, rows[i].size, rows[i].turn);
        assert_ok(io_writev(io, &last, 1)); /* a response is sent completely */
        below.limit = 1 << 30;
        below.left = 9;
        io_close(io);
        assert_true(below.closed);
        unwrap(&below.got, &out);
        assert_int_equal(out.len, rows[i].size + 100);
        assert_memory_equal(out.buf, data, rows[i].size);
        assert_memory_equal(out.buf + rows[i].size, data, 100);
        wr_free(&out);
        wr_free(&below.got);
        free(data);
    }
}

#define WS_IN "\x82\x83\0\0\0\0abc" "\x89\x81\0\0\0\0p" "\x02\x82\x01\x01\x01\x01" "ed" \
              "\x80\x81\0\0\0\0f" "\x88\x80\0\0\0\0" "\x82\x81\0\0\0\0z"

/* Any part may come together with the request, and the rest in any pieces. */
static void ws_reads(void **state)
{
    static const char in[] = WS_IN;
    const size_t size = sizeof(in) - 1;

    (void)state;
    for (size_t rest = 0; rest <= size; rest++) {
        for (size_t limit = 1; limit <= size; limit++) {
            struct narrow below;
            char got[20] = "";
            size_t have = 0, n;
            struct io *io;
            err_t err = NULL;

            narrow_init(&below, limit, 100);
            below.in = (const uint8_t *)in + rest;
            below.in_size = size - rest;
            io = rtsp_ws_open(&below.io, in, rest);
            io->read_timeout = CO_SECONDS(1);
            while (!err && have < sizeof(got) - 1) {
                err = io_read(io, got + have, 1 + limit % 5, &n);
                have += err ? 0 : n;
            }
            assert_err(err, ERR_IO_CLOSED);
            got[have] = '\0'; /* the payload is unmasked in place */
            assert_string_equal(got, "abcdef");
            below.limit = 1 << 20;
            io_close(io);
            assert_int_equal(below.got.len, 5);
            assert_memory_equal(below.got.buf, "\x8a\x01p\x88\x00", 5);
            wr_free(&below.got);
        }
    }
}

/* Endless pings from a client that does not read the pongs. */
static void ws_pings_and_never_reads(void **state)
{
    static uint8_t pings[64 * 1024];
    struct narrow below;
    err_t err = NULL;
    struct io *io;
    size_t n;

    (void)state;
    for (size_t i = 0; i + 7 <= sizeof(pings); i += 7)
        memcpy(pings + i, "\x89\x81\0\0\0\0p", 7);
    narrow_init(&below, sizeof(pings), 0);
    io = rtsp_ws_open(&below.io, NULL, 0);
    for (unsigned i = 0; i < 10000 && !err; i++) {
        char buf[700];

        below.in = pings;
        below.in_size = 700;
        err = io_read_now(io, buf, sizeof(buf), &n);
    }
    assert_err(err, ERR_TOO_LARGE);
    io_close(io);
    wr_free(&below.got);
}

/* ---- two connections */

static struct session_env *idle, *env;
static struct co_group group;

/* Creates a connection; *peer is its other end. */
static struct io *connection(int *peer)
{
    struct io *io;
    int v[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, v), 0);
    assert_ok(io_tcp_open(&io, v[0]));
    *peer = v[1];
    return io;
}

static struct io *tunnel(const char *cookie, int *peer)
{
    struct io *io;

    assert_ok(rtsp_tunnel_open(&io, connection(peer), cookie));
    io->read_timeout = CO_SECONDS(10);
    return io;
}

static void post(const char *cookie, const char *rest, int *peer)
{
    struct rtsp_post *p = rtsp_post_new(idle, connection(peer), cookie, rest, strlen(rest));

    assert_ok(co_go(&group, "post", rtsp_post_main, p));
}

static void expect(struct io *io, const char *text)
{
    char got[100] = "";

    assert_true(strlen(text) < sizeof(got));
    assert_ok(io_read_full(io, got, strlen(text)));
    assert_string_equal(got, text);
}

static void send_text(int peer, const char *text, size_t size)
{
    assert_int_equal(write(peer, text, size), (ssize_t)size);
}

static void all_end(void)
{
    err_t err = co_group_wait(&group);

    assert_ok(err);
    assert_int_equal(rtsp_tunnel_where("c"), RTSP_TUNNEL_NOT_FOUND);
}

/* "OPTIONS" and more in base64, with padding in between. One part comes behind the head of the
 * POST, the rest in two pieces, cut at every byte. */
static void up_in_pieces(void **state)
{
    static const char text[] = "T1BUSU9OUw==IA==\r\nKg==UlRTUC8xLjANCg0K";
    const size_t size = sizeof(text) - 1;

    (void)state;
    for (size_t rest = 0; rest <= size; rest += 5) {
        for (size_t cut = rest; cut <= size; cut++) {
            char first[100] = "";
            int down, up;
            struct io *io = tunnel("c", &down);

            memcpy(first, text, rest);
            post("c", first, &up);
            send_text(up, text + rest, cut - rest);
            co_yield();
            send_text(up, text + cut, size - cut);
            expect(io, "OPTIONS *RTSP/1.0\r\n\r\n");
            io_close(io);
            all_end();
            (void)close(down);
            (void)close(up);
        }
    }
}

/* More input than the queue holds, while the server does not read. */
static void up_bounded(void **state)
{
    enum { SIZE = 1 << 20 };
    char *text = must(malloc(SIZE));
    size_t sent = 0, got = 0, n;
    int down, up;
    struct io *io = tunnel("c", &down);

    (void)state;
    memset(text, 'A', SIZE);
    post("c", "", &up);
    while (got < SIZE / 4 * 3) {
        uint8_t buf[5000];
        ssize_t put = send(up, text + sent, SIZE - sent, MSG_DONTWAIT);

        sent += put > 0 ? (size_t)put : 0;
        assert_ok(io_read(io, buf, sizeof(buf), &n));
        for (size_t i = 0; i < n; i++)
            assert_int_equal(buf[i], 0);
        got += n;
    }
    assert_int_equal(sent, SIZE);
    io_close(io);
    all_end();
    (void)close(down);
    (void)close(up);
    free(text);
}

/* A second POST follows the first; then a third comes while the second is still open. */
static void up_again(void **state)
{
    int down, up[3];
    struct io *io = tunnel("c", &down);
    char c;

    (void)state;
    post("c", "QUJD", &up[0]);
    expect(io, "ABC");
    (void)close(up[0]);
    post("c", "REVG", &up[1]);
    expect(io, "DEF");
    post("c", "R0hJ", &up[2]);
    expect(io, "GHI");
    assert_int_equal(read(up[1], &c, 1), 0);
    assert_ok(io_write(io, "raw", 3));
    assert_int_equal(read(down, &c, 1), 1);
    assert_int_equal(c, 'r');
    io_close(io);
    all_end();
    assert_int_equal(read(up[2], &c, 1), 0);
    (void)close(up[1]);
    (void)close(up[2]);
    (void)close(down);
}

/* The POST may come before the GET. */
static void up_early(void **state)
{
    int down, up;
    struct io *io;

    (void)state;
    post("c", "QUJD", &up);
    co_yield();
    io = tunnel("c", &down);
    expect(io, "ABC");
    io_close(io);
    all_end();
    (void)close(up);
    (void)close(down);
}

static void ends(void **state)
{
    int down, up;
    struct io *io = tunnel("c", &down), *second;
    char buf[10];
    size_t n;

    (void)state;
    second = connection(&up);
    /* a second tunnel with the same cookie */
    assert_err(rtsp_tunnel_open(&second, second, "c"), ERR_DENIED);
    io_close(second);
    (void)close(up);
    post("c", "QUJD!", &up); /* not base64 */
    assert_err(io_read(io, buf, sizeof(buf), &n), ERR_OK);
    assert_err(io_read(io, buf, sizeof(buf), &n), ERR_IO_CLOSED);
    io_close(io);
    all_end();
    (void)close(up);
    (void)close(down);

    io = tunnel("c", &down);
    (void)close(down);
    assert_err(io_read(io, buf, sizeof(buf), &n), ERR_IO_CLOSED);
    io_close(io);

    io = tunnel("c", &down);
    io->read_timeout = CO_MS(20);
    assert_err(io_read(io, buf, sizeof(buf), &n), ERR_IO_TIMEOUT);
    for (int i = 0; i < 200; i++) { /* unexpected bytes on the GET's connection */
        char stray[512] = { 0 };

        (void)send(down, stray, sizeof(stray), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    assert_err(io_read(io, buf, sizeof(buf), &n), ERR_RTSP);
    io_close(io);
    (void)close(down);
    assert_int_equal(rtsp_tunnel_where("c"), RTSP_TUNNEL_NOT_FOUND);
}

/* A detached tunnel cannot be joined; its POST waits and finds it again. */
static void moves(void **state)
{
    int down, up;
    struct io *io = tunnel("c", &down);

    (void)state;
    post("c", "QUJD", &up);
    expect(io, "ABC");
    assert_int_equal(rtsp_tunnel_where("c"), 0);
    send_text(up, "RE", 2);
    co_yield();
    io_detach(io);
    assert_int_equal(rtsp_tunnel_where("c"), RTSP_TUNNEL_MOVING);
    send_text(up, "VG", 2);
    assert_ok(co_sleep(CO_MS(20)));
    assert_ok(io_attach(io));
    expect(io, "DEF");
    io_close(io);
    all_end();
    (void)close(up);
    (void)close(down);
}

/* ---- opening a tunnel on the RTSP port */

#define UPGRADE "GET /rtsp HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
                "Sec-WebSocket-Protocol: rtsp.onvif.org\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define OPTIONS "OPTIONS * RTSP/1.0\r\nCSeq: 7\r\n\r\n"

static const struct {
    const char *sent, *received[3];
    bool off;
    enum err_code code;
} begins[] = {
    { "GET /live/s HTTP/1.0\r\nx-sessioncookie: c\r\nAccept: application/x-rtsp-tunnelled\r\n\r\n",
      { "HTTP/1.0 200 OK\r\n", "Content-Type: application/x-rtsp-tunnelled\r\n" }, false,
      ERR_IO_CLOSED },
    { "GET / HTTP/1.0\r\nx-sessioncookie: c\r\n\r\n", { "HTTP/1.0 404 " }, true, ERR_HTTP },
    { "GET / HTTP/1.1\r\nHost: h\r\n\r\n", { "HTTP/1.0 404 " }, false, ERR_HTTP },
    { "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n", { "HTTP/1.0 404 " }, false, ERR_HTTP },
    { "POST / HTTP/1.1\r\nContent-Type: application/x-rtsp-tunnelled\r\nx-sessioncookie: c\r\n\r\n"
      "T1BU", { "" }, false, ERR_OK },
    { OPTIONS "GET / HTTP/1.0\r\nx-sessioncookie: c\r\n\r\n",
      { "RTSP/1.0 200 OK\r\n", "HTTP/1.0 200 OK\r\n" }, false, ERR_IO_CLOSED },
    { UPGRADE KEY "Sec-WebSocket-Version: 13\r\n\r\n"
      "\x82\x9f\x01\x01\x01\x01NQUHNOR!+!SURQ.0/1\x0c\x0b" "BRdp;!6\x0c\x0b\x0c\x0b",
      { "HTTP/1.1 101 ", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
        "Sec-WebSocket-Protocol: rtsp.onvif.org\r\n", "RTSP/1.0 200 OK\r\nCSeq: 7\r\n" }, false,
      ERR_IO_CLOSED },
    { UPGRADE KEY "Sec-WebSocket-Version: 8\r\n\r\n",
      { "HTTP/1.0 426 ", "Sec-WebSocket-Version: 13\r\n" }, false, ERR_HTTP },
    { UPGRADE "Sec-WebSocket-Version: 13\r\n\r\n", { "HTTP/1.0 426 " }, false, ERR_HTTP },
};

static void on_rtsp_port(void **state)
{
    static const char *const confs[] = {
        "listen 1935; rtsp_server { enabled on; listen 8554; }",
        "listen 1935; rtsp_server { enabled on; listen 8554; tunnel off; }",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(begins); i++) {
        for (size_t piece = 0; piece < 40; piece += 13) {
            struct io_mem m;
            char out[4096] = "";

            env = env_new(confs[begins[i].off]);
            io_mem_init(&m, begins[i].sent, strlen(begins[i].sent));
            m.piece = piece;
            m.out = (uint8_t *)out;
            m.out_cap = sizeof(out) - 1;
            assert_err(rtsp_conn_run(env, &m.io, "192.0.2.1"), begins[i].code);
            for (size_t k = 0; k < COUNT(begins[i].received) && begins[i].received[k]; k++) {
                if (!memmem(out, m.out_size, begins[i].received[k], strlen(begins[i].received[k])))
                    fail_msg("%s\nwants %s, got\n%s", begins[i].sent, begins[i].received[k], out);
            }
            env_free(&env);
            assert_int_equal(rtsp_tunnel_where("c"), RTSP_TUNNEL_NOT_FOUND);
        }
    }
}

/* A minimal server. */
static int begin_idle(void **state)
{
    (void)state;
    idle = env_new("listen 1935;");
    return 0;
}

static int end_idle(void **state)
{
    (void)state;
    env_free(&idle);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ws_sends), TEST(ws_reads), TEST(ws_pings_and_never_reads),
        TEST(up_in_pieces), TEST(up_bounded), TEST(up_again), TEST(up_early), TEST(ends),
        TEST(moves), TEST(on_rtsp_port),
    };
    const struct log_setup quiet = { .min = LOG_NONE };
    err_t err = co_init();

    assert(!err);
    log_init(&quiet);
    co_group_init(&group);
    return cmocka_run_group_tests(tests, begin_idle, end_idle);
}
