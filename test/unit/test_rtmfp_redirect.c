/* SPDX-License-Identifier: MIT */
/* test_rtmfp_redirect.c - the servers that RTMFP clients are redirected to. */
#include "serve/rtmfp/redirect.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *named, *app;
} rows[] = {
    { "rtmfp://example.com/live", "live" },
    { "rtmfp://example.com:1935/live/stream?x=1", "live" },
    { "rtmfp://example.com/live?x=/1", "live" },
    { "rtmfp://example.com/live#x", "live" },
    { "rtmfp://[2001:db8::1]:1935/a/b", "a" },
    { "RTMFP://h/a", "a" },
    { "rtmfp:///a", "a" },
    { "rtmfp://h/", "" },
    { "rtmfp://h//a", "" },
    { "rtmfp://h", "" },
    { "rtmfp://h?a/b", "" },
    { "rtmfp://", "" },
    { "rtmfp:/", "rtmfp:/" },
    { "://h/a", "://h/a" },
    { "live", "live" },
    { "live/stream", "live/stream" },
    { "", "" },
};

static void apps(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_bytes app =
            rtmfp_redirect_app(rtmfp_bytes(rows[i].named, strlen(rows[i].named)));

        assert_int_equal(app.n, strlen(rows[i].app));
        assert_memory_equal(app.p, rows[i].app, app.n);
    }
}

static void make_servers(struct udp_addr *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_ok(udp_addr_parse(&v[i], "192.0.2.1", 1935 + (int)i));
}

static void all_of_them(void **state)
{
    static const size_t sizes[] = { 0, 1, 24, 25, 60 };
    struct rtmfp_address out[RTMFP_REDIRECTS_MAX];
    struct udp_addr servers[60];

    (void)state;
    make_servers(servers, COUNT(servers));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t n = rtmfp_redirect_all(servers, sizes[i], out);

        assert_int_equal(n, sizes[i] < RTMFP_REDIRECTS_MAX ? sizes[i] : RTMFP_REDIRECTS_MAX);
        for (size_t k = 0; k < n; k++) {
            assert_int_equal(out[k].origin, RTMFP_RELAY);
            assert_true(udp_addr_same(&out[k].at, &servers[k]));
        }
    }
}

enum { APPS = 1000, SERVERS = 5 };

static uint16_t server_of(const struct udp_addr *servers, size_t n, unsigned app)
{
    struct rtmfp_address out[RTMFP_REDIRECTS_MAX];
    char text[16];
    int size = snprintf(text, sizeof(text), "app%u", app);

    assert_int_equal(rtmfp_redirect_by_app(servers, n, rtmfp_bytes(text, (size_t)size), out), 1);
    assert_int_equal(out[0].origin, RTMFP_RELAY);
    return out[0].at.port;
}

static void one_for_each_app(void **state)
{
    struct udp_addr servers[SERVERS], turned[SERVERS];
    struct rtmfp_address out[RTMFP_REDIRECTS_MAX];
    unsigned n[SERVERS] = { 0 };

    (void)state;
    make_servers(servers, SERVERS);
    assert_int_equal(rtmfp_redirect_by_app(servers, 0, rtmfp_bytes("a", 1), out), 0);
    for (size_t i = 0; i < SERVERS; i++)
        turned[i] = servers[SERVERS - 1 - i];
    for (unsigned app = 0; app < APPS; app++) {
        uint16_t port = server_of(servers, SERVERS, app);
        uint16_t fewer = server_of(servers, SERVERS - 1, app); /* the last one is gone */

        n[port - 1935]++;
        assert_int_equal(server_of(turned, SERVERS, app), port);
        if (port != servers[SERVERS - 1].port)
            assert_int_equal(fewer, port);
    }
    for (size_t i = 0; i < SERVERS; i++)
        assert_in_range(n[i], APPS / SERVERS / 2, APPS / SERVERS * 2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(apps),
        TEST(all_of_them),
        TEST(one_for_each_app),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
