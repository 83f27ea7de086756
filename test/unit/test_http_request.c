/* SPDX-License-Identifier: MIT */
/* test_http_request.c - requests in memory, whole and cut at every byte. */
#include "base/wr.h"
#include "io_mem.h"
#include "proto/http/request.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct http_limits limits = {
    .max_line = 100, .max_head = 1000, .max_fields = 8, .max_body = 10000,
    .idle_time = CO_FOREVER, .head_time = CO_FOREVER, .body_time = CO_FOREVER,
};

/* A text of everything read: "GET /a q h 11 k-|body|" per request. */
static void describe(struct wr *w, const struct http_request *q)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "%s %s ?%s @%s:%d %d %s%s ", q->method, q->path, q->query,
                   q->host, q->host_port, q->version, q->keep_alive ? "k" : "c",
                   q->has_body ? "b" : "-");
    wr_bytes(w, text, strlen(text));
    for (unsigned i = 0; i < q->n_fields; i++) {
        (void)snprintf(text, sizeof(text), "%s=%s,", q->fields[i].name, q->fields[i].value);
        wr_bytes(w, text, strlen(text));
    }
}

static err_t read_all(const char *bytes, size_t size, size_t piece, struct wr *w, int *status,
                      bool skip)
{
    struct http_reader r;
    struct http_request *q;
    struct io_mem m;
    uint8_t out[4096];
    err_t err;

    io_mem_init(&m, bytes, size);
    m.piece = piece;
    m.out = out;
    m.out_cap = sizeof(out);
    http_reader_init(&r, &m.io, &limits);
    while (!(err = http_reader_next(&r, &q))) {
        char buf[7];
        size_t n = 1;
        bool done;

        describe(w, q);
        wr_u8(w, '|');
        while (!skip && !err && n > 0) {
            err = http_reader_body(&r, buf, sizeof(buf), &n);
            if (!err)
                wr_bytes(w, buf, n);
        }
        if (!err)
            err = http_reader_skip(&r, 100000, &done);
        if (err)
            break;
        assert_true(done);
        wr_u8(w, '|');
    }
    *status = r.status;
    http_reader_fini(&r);
    wr_u8(w, 0);
    return err;
}

static const struct {
    const char *in, *out;
} good[] = {
    { "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / ? @h:0 11 k- Host=h,||" },
    { "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / ? @h:0 11 k- Host=h,||" },
    { "GET / HTTP/1.1\nHost: h\n\n", "GET / ? @h:0 11 k- Host=h,||" },
    { "GET /a%20b?c=d+e#f HTTP/1.1\r\nHost: A.b:80\r\nConnection: close\r\n\r\n",
      "GET /a b ?c=d+e @a.b:80 11 c- Host=A.b:80,Connection=close,||" },
    { "GET / HTTP/1.0\r\n\r\n", "GET / ? @:0 10 c- ||" },
    { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      "GET / ? @:0 10 k- Connection=keep-alive,||" },
    { "POST /p HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /p ? @:0 10 cb Connection=keep-alive,Transfer-Encoding=chunked,||" },
    { "GET http://X:1/y?z HTTP/1.1\r\nHost: h\r\n\r\n", "GET /y ?z @x:1 11 k- Host=h,||" },
    { "GET http://x HTTP/1.1\r\nHost: h\r\n\r\n", "GET / ? @x:0 11 k- Host=h,||" },
    { "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS * ? @h:0 11 k- Host=h,||" },
    { "OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS / ? @h:0 11 k- Host=h,||" },
    { "GET / HTTP/1.1\r\nHost:h\r\nA:\r\nB: \t x y \t\r\n\r\n",
      "GET / ? @h:0 11 k- Host=h,A=,B=x y,||" },
    { "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\nhello world",
      "POST /p ? @h:0 11 kb Host=h,Content-Length=11,|hello world|" },
    { "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
      "POST /p ? @h:0 11 k- Host=h,Content-Length=0,||" },
    { "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: v\r\n\r\n",
      "POST /p ? @h:0 11 kb Host=h,Transfer-Encoding=chunked,|hello world|" },
    { "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /p ? @h:0 11 kb Host=h,Transfer-Encoding=chunked,||" },
    /* pipelined, a body between */
    { "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nPOST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
      "GET /3 HTTP/1.1\r\nHost: h\r\n\r\n",
      "GET /1 ? @h:0 11 k- Host=h,||POST /2 ? @h:0 11 kb Host=h,Content-Length=3,|abc|"
      "GET /3 ? @h:0 11 k- Host=h,||" },
    { "GET /up HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
      "GET /up ? @h:0 11 k- Host=h,Connection=Upgrade,Upgrade=h2c,||" },
};

static void whole_and_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        for (size_t piece = 0; piece < 8; piece++) {
            struct wr w;
            int status;

            wr_init(&w, 1 << 16);
            assert_err(read_all(good[i].in, strlen(good[i].in), piece, &w, &status, false),
                       ERR_IO_CLOSED);
            assert_int_equal(status, 0);
            assert_string_equal((char *)w.buf, good[i].out);
            wr_free(&w);
        }
    }
}

/* The peer leaves after any byte: never a crash, never a request that it did not send. */
static void cut_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        for (size_t size = 0; size < strlen(good[i].in); size++) {
            struct wr w;
            int status;

            wr_init(&w, 1 << 16);
            assert_err(read_all(good[i].in, size, 3, &w, &status, i % 2), ERR_IO_CLOSED);
            assert_true(strncmp((char *)w.buf, good[i].out, 4) == 0 || w.len == 1);
            wr_free(&w);
        }
    }
}

static void refused(void **state)
{
    static const struct {
        const char *in;
        int status;
        enum err_code code;
    } rows[] = {
        { "\x16\x03\x01\x02hello there\r\n\r\n", 400, ERR_HTTP },
        { "GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505, ERR_HTTP },
        { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, ERR_HTTP },
        { "GET / HTTP/1.1\r\n\r\n", 400, ERR_HTTP },                        /* no Host */
        { "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, ERR_HTTP },
        { "GET /../x HTTP/1.1\r\nHost: h\r\n\r\n", 400, ERR_HTTP },
        { "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", 400, ERR_HTTP },
        { "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400, ERR_HTTP }, /* folded */
        { "GET / HTTP/1.1\r\nHost: h\r\nA b: c\r\n\r\n", 400, ERR_HTTP },
        { "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400, ERR_HTTP },
        { "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400,
          ERR_HTTP },
        { "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
          400, ERR_HTTP }, /* RFC 9112 6.1: smuggling */
        { "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10001\r\n\r\n", 413, ERR_TOO_LARGE },
        { "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 400,
          ERR_HTTP },
        { "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400,
          ERR_HTTP },
        { "GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\nE: 5\r\nF: 6\r\nG: 7\r\n"
          "H: 8\r\n\r\n", 431, ERR_TOO_MANY },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t piece = 0; piece < 4; piece++) {
            struct wr w;
            int status;

            wr_init(&w, 1 << 16);
            assert_err(read_all(rows[i].in, strlen(rows[i].in), piece, &w, &status, false),
                       rows[i].code);
            assert_int_equal(status, rows[i].status);
            wr_free(&w);
        }
    }
}

/* A header and a line at their limits, and one byte over. */
static void limits_hold(void **state)
{
    static const struct {
        size_t line, field;
        int status;
    } rows[] = {
        { 100, 10, 0 }, { 101, 10, 414 }, { 5000, 10, 414 },
        { 10, 950, 0 }, { 10, 1001, 431 }, { 10, 70000, 431 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t piece = 0; piece < 3; piece++) {
            char *text = malloc(100000);
            size_t n = 0;
            struct wr w;
            int status;

            n += (size_t)sprintf(text + n, "GET ");
            memset(text + n, '/', rows[i].line);
            n += rows[i].line;
            n += (size_t)sprintf(text + n, " HTTP/1.1\r\nHost: h\r\nA: ");
            memset(text + n, 'x', rows[i].field);
            n += rows[i].field;
            n += (size_t)sprintf(text + n, "\r\n\r\n");
            wr_init(&w, 1 << 20);
            assert_err(read_all(text, n, piece, &w, &status, false),
                       rows[i].status ? ERR_TOO_LARGE : ERR_IO_CLOSED);
            assert_int_equal(status, rows[i].status);
            wr_free(&w);
            free(text);
        }
    }
}

static void chunked_body_over_the_limit(void **state)
{
    char *text = malloc(100000);
    struct wr w;
    int status;
    size_t n;

    (void)state;
    n = (size_t)sprintf(text, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 100; i++) {
        n += (size_t)sprintf(text + n, "80\r\n");
        memset(text + n, 'c', 128);
        n += 128;
        n += (size_t)sprintf(text + n, "\r\n");
    }
    wr_init(&w, 1 << 20);
    assert_err(read_all(text, n, 0, &w, &status, false), ERR_TOO_LARGE);
    assert_int_equal(status, 413);
    wr_free(&w);
    free(text);
}

#define XFF "X-Forwarded-For: "
#define TEN "10.0.0.1, 10.0.0.1, 10.0.0.1, 10.0.0.1, 10.0.0.1, 10.0.0.1, 10.0.0.1, 10.0.0.1, "

/* Networks that begin with 10. and ::1 are trusted. */
static const struct {
    const char *name, *peer, *fields, *ip;
} client_rows[] = {
    { "no proxy header", "10.0.0.1", "", "10.0.0.1" },
    { "one proxy", "10.0.0.1", XFF "1.2.3.4\r\n", "1.2.3.4" },
    { "two proxies", "10.0.0.1", XFF "1.2.3.4, 10.0.0.2\r\n", "1.2.3.4" },
    { "what the client says itself", "10.0.0.1", XFF "127.0.0.1, 1.2.3.4\r\n", "1.2.3.4" },
    { "and that it is one of ours", "10.0.0.1", XFF "10.0.0.9, 1.2.3.4, 10.0.0.2\r\n", "1.2.3.4" },
    { "all of it is ours", "10.0.0.1", XFF "10.0.0.3,10.0.0.2\r\n", "10.0.0.3" },
    { "from an untrusted client", "5.5.5.5", XFF "1.2.3.4\r\n", "5.5.5.5" },
    { "a private address is untrusted, too", "192.168.0.1", XFF "1.2.3.4\r\n", "192.168.0.1" },
    { "IPv6", "::1", XFF "2001:DB8:0::5\r\n", "2001:db8::5" },
    { "IPv4 in IPv6", "10.0.0.1", XFF "::ffff:1.2.3.4\r\n", "1.2.3.4" },
    { "IPv4 in IPv6 of ours", "10.0.0.1", XFF "1.2.3.4, ::ffff:10.0.0.2\r\n", "1.2.3.4" },
    { "garbage at once", "10.0.0.1", XFF "unknown\r\n", "10.0.0.1" },
    { "garbage behind a good one", "10.0.0.1", XFF "x, 10.0.0.2\r\n", "10.0.0.2" },
    { "a port", "10.0.0.1", XFF "1.2.3.4:567\r\n", "10.0.0.1" },
    { "brackets", "10.0.0.1", XFF "[::2]\r\n", "10.0.0.1" },
    { "a zone", "10.0.0.1", XFF "fe80::1%eth0\r\n", "10.0.0.1" },
    { "a name", "10.0.0.1", XFF "localhost\r\n", "10.0.0.1" },
    { "two without a comma", "10.0.0.1", XFF "1.2.3.4 5.6.7.8\r\n", "10.0.0.1" },
    { "nothing in it", "10.0.0.1", "X-Forwarded-For:\r\nX-Real-IP: 9.9.9.9\r\n", "10.0.0.1" },
    { "a comma at the end", "10.0.0.1", XFF "1.2.3.4,\r\n", "10.0.0.1" },
    { "two fields are one list", "10.0.0.1", XFF "1.2.3.4\r\n" XFF "10.0.0.2\r\n", "1.2.3.4" },
    { "and the last one counts", "10.0.0.1", XFF "10.0.0.9\r\n" XFF "1.2.3.4\r\n", "1.2.3.4" },
    { "a list without end", "10.0.0.1", XFF "1.2.3.4, " TEN TEN TEN TEN TEN "10.0.0.1\r\n",
      "10.0.0.1" },
    { "the other field", "10.0.0.1", "X-Real-IP: 1.2.3.4\r\n", "1.2.3.4" },
    { "the other field, from an untrusted client", "5.5.5.5", "X-Real-IP: 1.2.3.4\r\n", "5.5.5.5" },
    { "the other field, with a port", "10.0.0.1", "X-Real-IP: 1.2.3.4:567\r\n", "10.0.0.1" },
    { "the other field is not for both", "10.0.0.1", XFF "1.2.3.4\r\nX-Real-IP: 9.9.9.9\r\n",
      "1.2.3.4" },
};

static bool is_ours(const void *arg, const char *ip)
{
    assert_ptr_equal(arg, client_rows);
    return strncmp(ip, "10.", 3) == 0 || strcmp(ip, "::1") == 0;
}

static void who_asks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(client_rows); i++) {
        char in[1024], ip[IP_TEXT];
        struct http_request *q;
        struct http_reader r;
        struct io_mem m;

        print_message("  %s\n", client_rows[i].name);
        (void)snprintf(in, sizeof(in), "GET / HTTP/1.0\r\n%s\r\n", client_rows[i].fields);
        io_mem_init(&m, in, strlen(in));
        http_reader_init(&r, &m.io, &limits);
        assert_ok(http_reader_next(&r, &q));
        assert_string_equal(http_request_client(q, client_rows[i].peer, is_ours, client_rows, ip),
                            client_rows[i].ip);
        http_reader_fini(&r);
    }
}

static void asked_for(void **state)
{
    static const char text[] = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
                               "Content-Length: 2\r\n\r\nhi";
    struct http_reader r;
    struct http_request *q;
    struct io_mem m;
    uint8_t out[100];
    char buf[64];
    size_t n;
    bool done;

    (void)state;
    io_mem_init(&m, text, sizeof(text) - 1 - 2); /* the body comes after 100 Continue */
    m.out = out;
    m.out_cap = sizeof(out);
    http_reader_init(&r, &m.io, &limits);
    assert_ok(http_reader_next(&r, &q));
    assert_true(http_request_has(q, "expect", "100-Continue"));
    assert_int_equal(m.out_size, 0);
    m.in_size = 2;
    assert_ok(http_reader_body(&r, buf, sizeof(buf), &n));
    assert_int_equal(n, 2);
    assert_memory_equal(out, "HTTP/1.1 100 Continue\r\n\r\n", m.out_size);
    assert_ok(http_reader_skip(&r, 10, &done));
    assert_true(done);
    http_reader_fini(&r);
}

/* Requests arrive one by one and many at once in turn, each with a body: the buffer keeps its size. */
static void buffer_is_bounded(void **state)
{
    enum { REQUESTS = 20000, BODY_ROOM = 4096 };
    static const char one[] = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\n01234567890123456789";
    struct http_reader r;
    struct io_mem m;
    struct wr all;

    (void)state;
    wr_init(&all, sizeof(one) * REQUESTS);
    for (int i = 0; i < REQUESTS; i++)
        wr_bytes(&all, one, sizeof(one) - 1);
    io_mem_init(&m, all.buf, all.len);
    http_reader_init(&r, &m.io, &limits);
    for (int i = 0; i < REQUESTS; i++) {
        struct http_request *q;
        char buf[64];
        size_t n = 1;

        m.piece = i / 100 % 2 ? 5 : all.len;
        assert_ok(http_reader_next(&r, &q));
        while (n > 0)
            assert_ok(http_reader_body(&r, buf, sizeof(buf), &n));
        assert_true(r.cap <= limits.max_head + 1 + BODY_ROOM);
    }
    http_reader_fini(&r);
    wr_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(whole_and_cut), TEST(cut_short), TEST(refused), TEST(limits_hold),
        TEST(chunked_body_over_the_limit), TEST(who_asks), TEST(asked_for),
        TEST(buffer_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
