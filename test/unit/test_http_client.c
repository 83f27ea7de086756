/* SPDX-License-Identifier: MIT */
/* test_http_client.c - parsing of urls, and responses in memory, cut at every byte. */
#include "co/co.h"
#include "io_mem.h"
#include "proto/http/client.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *url;
    bool ok, tls;
    const char *host;
    int port;
    const char *target, *userinfo;
} urls[] = {
    { "http://a.b/c?d=e", true, false, "a.b", 80, "/c?d=e", "" },
    { "https://a.b", true, true, "a.b", 443, "/", "" },
    { "HTTP://a.b:8085/x", true, false, "a.b", 8085, "/x", "" },
    { "http://[::1]:80/", true, false, "::1", 80, "/", "" },
    { "http://u:p%40q@h/", true, false, "h", 80, "/", "u:p@q" },
    { "http://h?x=1", true, false, "h", 80, "/?x=1", "" },
    { "http://h/a?b=http://c/d", true, false, "h", 80, "/a?b=http://c/d", "" },
    { "http://h:0/", false, false, NULL, 0, NULL, NULL },
    { "http://h:99999/", false, false, NULL, 0, NULL, NULL },
    { "rtmp://h/a", false, false, NULL, 0, NULL, NULL },
    { "h/a", false, false, NULL, 0, NULL, NULL },
    { "/a", false, false, NULL, 0, NULL, NULL },
    { "", false, false, NULL, 0, NULL, NULL },
    { "http:///x", false, false, NULL, 0, NULL, NULL },
    { "http://h/a b", false, false, NULL, 0, NULL, NULL },
    { "http://h/a\r\nX: y", false, false, NULL, 0, NULL, NULL },
    { "http://u%zz@h/", false, false, NULL, 0, NULL, NULL },
};

static void test_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(urls); i++) {
        struct http_location p;

        print_message("  %s\n", urls[i].url);
        assert_err(http_location_parse(&p, urls[i].url), urls[i].ok ? ERR_OK : ERR_HTTP);
        if (!urls[i].ok)
            continue;
        assert_int_equal(p.tls, urls[i].tls);
        assert_string_equal(p.host, urls[i].host);
        assert_int_equal(p.port, urls[i].port);
        assert_string_equal(p.target, urls[i].target);
        assert_string_equal(p.userinfo, urls[i].userinfo);
        http_location_free(&p);
    }
}

/* ---- responses */

static err_t ask(const char *url, const struct http_call *call, const char *answer, size_t size,
                 size_t piece, struct http_reply *reply, char *said, size_t cap)
{
    struct http_location to;
    struct io_mem m;
    err_t err;

    assert_ok(http_location_parse(&to, url));
    io_mem_init(&m, answer, size);
    m.piece = piece;
    m.out = (uint8_t *)said;
    m.out_cap = cap;
    err = http_client_exchange(reply, &m.io, &to, call);
    if (said)
        said[m.out_size] = '\0';
    http_location_free(&to);
    return err;
}

#define OK "HTTP/1.1 200 OK\r\n"

static const struct {
    const char *name, *answer;
    enum err_code code;
    int status;
    const char *body;
    size_t least; /* bytes of the response that suffice; 0: all */
} rows[] = {
    { "length", OK "Content-Length: 2\r\n\r\nhi", ERR_OK, 200, "hi", 0 },
    { "more behind it", OK "Content-Length: 2\r\n\r\nhigh", ERR_OK, 200, "hi", 40 },
    { "chunks", OK "Transfer-Encoding: chunked\r\n\r\n1\r\nh\r\n2\r\nig\r\n0\r\n\r\n", ERR_OK, 200,
      "hig", 0 },
    { "to the close", OK "\r\nhello", ERR_OK, 200, "hello", 1000 },
    { "HTTP/1.0", "HTTP/1.0 404 No\r\n\r\nno", ERR_OK, 404, "no", 1000 },
    { "no body", "HTTP/1.1 204 No\r\n\r\n", ERR_OK, 204, "", 0 },
    { "empty", OK "Content-Length: 0\r\n\r\n", ERR_OK, 200, "", 0 },
    { "100 first", "HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 1\r\n\r\n0", ERR_OK, 200, "0",
      0 },
    { "no HTTP", "SSH-2.0-x\r\n", ERR_HTTP, 0, NULL, 1000 },
    { "two lengths", OK "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", ERR_HTTP, 0, NULL, 1000 },
    { "over the limit", OK "Content-Length: 20\r\n\r\n01234567890123456789", ERR_TOO_LARGE, 0, NULL,
      1000 },
    { "nothing", "", ERR_IO_CLOSED, 0, NULL, 1000 },
};

static void test_answers(void **state)
{
    const struct http_call call = { .timeout = 1000000, .max_reply = 10 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        for (size_t piece = 0; piece < 3; piece++) {
            struct http_reply r;

            assert_err(ask("http://h/", &call, rows[i].answer, strlen(rows[i].answer), piece, &r,
                           NULL, 4096), rows[i].code);
            if (rows[i].code)
                continue;
            assert_int_equal(r.status, rows[i].status);
            assert_string_equal(r.body, rows[i].body);
            http_reply_free(&r);
        }
    }
}

/* A server may stop after any byte: that is never a complete response. */
static void test_cut_at_every_byte(void **state)
{
    const struct http_call call = { .timeout = 1000000, .max_reply = 10 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t all = strlen(rows[i].answer);

        for (size_t size = 0; rows[i].code == ERR_OK && rows[i].least == 0 && size < all; size++) {
            struct http_reply r;

            assert_err(ask("http://h/", &call, rows[i].answer, size, 0, &r, NULL, 4096),
                       ERR_IO_CLOSED);
        }
    }
}

static void test_a_part_is_enough(void **state)
{
    const struct http_call call = { .timeout = 1000000, .max_reply = 4, .cut = true };
    struct http_reply r;

    (void)state;
    assert_ok(ask("http://h/", &call, OK "\r\n0123456789", strlen(OK) + 12, 0, &r, NULL, 4096));
    assert_string_equal(r.body, "0123");
    http_reply_free(&r);
}

static err_t count(void *arg, size_t n)
{
    *(size_t *)arg += n;
    return NULL;
}

/* A client that repeats requests over the same connection, and discards the data. */
static void test_dropped(void **state)
{
    static const char answer[] = "HTTP/1.1 302 Found\r\nLocal: x\r\nLocation: /b\r\nServer: y\r\n"
                                 "Content-Length: 20\r\n\r\n01234567890123456789";
    char buffer[64];
    size_t size = strlen(answer), n;
    const struct http_call call = { .timeout = 1000000, .keep = true, .drop = true, .came = count,
                                    .arg = &n, .buffer = buffer, .buffer_size = sizeof(buffer) };
    struct http_reply r;

    (void)state;
    for (size_t piece = 0; piece < 20; piece++) {
        char said[200];

        n = 0;
        assert_ok(ask("http://h/a", &call, answer, size, piece, &r, said, 200));
        assert_string_equal(said, "GET /a HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n\r\n");
        assert_int_equal(n, size);
        assert_int_equal(r.status, 302);
        assert_string_equal(r.location, "/b");
        assert_true(r.keep && r.size == 0);
        http_reply_free(&r);
    }
    assert_err(ask("http://h/a", &call, OK "Content-Length: 1\r\n\r\nab", strlen(OK) + 23, 0, &r,
                   NULL, 4096), ERR_HTTP);
    assert_ok(ask("http://h/a", &call, "HTTP/1.0 200 OK\r\n\r\n", 19, 0, &r, NULL, 4096));
    assert_true(!r.keep && !r.location);
    http_reply_free(&r);
}

static void test_requests(void **state)
{
    static const char get[] = "GET /a?b HTTP/1.1\r\nHost: h:81\r\nAccept: */*\r\n"
                              "Authorization: Basic dTpw\r\nConnection: close\r\n\r\n";
    static const char post[] = "POST / HTTP/1.1\r\nHost: [::1]\r\nUser-Agent: us\r\nAccept: */*\r\n"
                               "X-A: b\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
                               "Connection: close\r\n\r\n{}";
    struct http_field field = { (char *)(uintptr_t)"X-A", (char *)(uintptr_t)"b" };
    const struct http_call plain = { .timeout = 1000000, .max_reply = 10 };
    const struct http_call full = { .timeout = 1000000, .max_reply = 10, .body = "{}", .size = 2,
                                    .agent = "us", .fields = &field, .n_fields = 1 };
    const char *answer = OK "Content-Length: 1\r\n\r\n0";
    char said[1024];
    struct http_reply r;

    (void)state;
    assert_ok(ask("http://u:p@h:81/a?b", &plain, answer, strlen(answer), 0, &r, said, 1000));
    assert_string_equal(said, get);
    http_reply_free(&r);
    assert_ok(ask("http://[::1]", &full, answer, strlen(answer), 0, &r, said, 1000));
    assert_string_equal(said, post);
    http_reply_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_urls), TEST(test_answers), TEST(test_cut_at_every_byte),
        TEST(test_a_part_is_enough), TEST(test_dropped), TEST(test_requests),
    };

    assert_ok(co_init());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
