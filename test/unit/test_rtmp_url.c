/* SPDX-License-Identifier: MIT */
/* test_rtmp_url.c - the forms of addresses that clients send, as rows. */
#include "proto/rtmp/url.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* want is "schema host port vhost app stream param". */
static const struct {
    const char *tc_url, *name, *want;
} rows[] = {
    { "rtmp://ip/live", "key", "rtmp ip 1935 ip live key " },
    { "rtmp://ip/live", NULL, "rtmp ip 1935 ip live  " },
    { "rtmp://ip/live/", "key", "rtmp ip 1935 ip live key " },
    { "rtmp://ip//live///", "/key/", "rtmp ip 1935 ip live key " },
    { "rtmp://ip/live", "key?token=x", "rtmp ip 1935 ip live key ?token=x" },
    { "rtmp://ip/live", "key?token=a/b", "rtmp ip 1935 ip live key ?token=a/b" },
    { "RTMP://ip/live", "Key", "rtmp ip 1935 ip live Key " },
    { " rtmp://ip/live \r\n", " key\t", "rtmp ip 1935 ip live key " },
    { "rtmp://ip/li ve", "k\tey\x01", "rtmp ip 1935 ip live key " },
    /* ports */
    { "rtmp://ip:19350/live", "key", "rtmp ip 19350 ip live key " },
    { "rtmp://ip:0/live", "key", "rtmp ip 1935 ip live key " },
    { "rtmp://ip:/live", "key", "rtmp ip 1935 ip live key " },
    { "rtmps://ip/live", "key", "rtmps ip 443 ip live key " },
    { "rtmpt://ip/live", "key", "rtmpt ip 80 ip live key " },
    { "http://ip/live", "key", "http ip 80 ip live key " },
    { "https://ip/live", "key", "https ip 443 ip live key " },
    { "rtmp://[::1]:1936/live", "key", "rtmp ::1 1936 ::1 live key " },
    { "rtmp://[fe80::1%eth0]/live", "key", "rtmp fe80::1%eth0 1935 fe80::1%eth0 live key " },
    { "rtmp://2001:db8::1/live", "key", "rtmp 2001:db8::1 1935 2001:db8::1 live key " },
    { "rtmp://user:pass@ip:1936/live", "key", "rtmp ip 1936 ip live key " },
    /* vhosts */
    { "rtmp://ip/live?vhost=a.com", "key", "rtmp ip 1935 a.com live key ?vhost=a.com" },
    { "rtmp://ip/live?domain=a.com", "key", "rtmp ip 1935 a.com live key ?domain=a.com" },
    { "rtmp://ip/live", "key?vhost=a.com", "rtmp ip 1935 a.com live key ?vhost=a.com" },
    { "rtmp://ip/live", "key?t=1&vhost=a.com", "rtmp ip 1935 a.com live key ?t=1&vhost=a.com" },
    { "rtmp://ip/live?vhost=a.com", "key?vhost=b.com",
      "rtmp ip 1935 b.com live key ?vhost=b.com&vhost=a.com" },
    { "rtmp://ip/live?vhost=a.com", "key?t=1", "rtmp ip 1935 a.com live key ?t=1&vhost=a.com" },
    { "rtmp://ip/live?vhost=", "key", "rtmp ip 1935 ip live key ?vhost=" },
    { "rtmp://ip/live?vhost=a.com/", "key", "rtmp ip 1935 a.com live key ?vhost=a.com/" },
    { "rtmp://ip/live?xvhost=a.com", "key", "rtmp ip 1935 ip live key ?xvhost=a.com" },
    { "rtmp://ip/live...vhost...a.com", "key", "rtmp ip 1935 a.com live key " },
    { "rtmp://ip:1935/live...vhost...a.com/key", "", "rtmp ip 1935 a.com live key " },
    { "rtmp://ip/live?vhost=__defaultVhost__", "key",
      "rtmp ip 1935 __defaultVhost__ live key ?vhost=__defaultVhost__" },
    { "rtmp://__defaultVhost__/live", "key",
      "rtmp __defaultVhost__ 1935 __defaultVhost__ live key " },
    { "rtmp://ip/live#vhost=a.com", "key", "rtmp ip 1935 a.com live key ?vhost=a.com" },
    { "rtmp://ip?vhost=a.com", "key", "rtmp ip 1935 a.com __defaultApp__ key ?vhost=a.com" },
    /* instances */
    { "rtmp://ip/live/_definst_", "key", "rtmp ip 1935 ip live key " },
    { "rtmp://ip/live/_definst_/", "key", "rtmp ip 1935 ip live key " },
    { "rtmp://ip/live/_definst_?vhost=a.com", "key", "rtmp ip 1935 a.com live key ?vhost=a.com" },
    { "rtmp://ip/live", "_definst_/key", "rtmp ip 1935 ip live key " },
    { "rtmp://ip/live/_definst_x", "key", "rtmp ip 1935 ip live/_definst_x key " },
    /* position of the stream */
    { "rtmp://ip/a/b", "key", "rtmp ip 1935 ip a/b key " },
    { "rtmp://ip/a", "b/key", "rtmp ip 1935 ip a/b key " },
    { "rtmp://ip/live/key", "", "rtmp ip 1935 ip live key " },
    { "rtmp://ip/a/b/key", "", "rtmp ip 1935 ip a/b key " },
    { "rtmp://ip/live/key?token=x", "", "rtmp ip 1935 ip live key ?token=x" },
    { "rtmp://ip/live/key?token=a/b", "", "rtmp ip 1935 ip live key ?token=a/b" },
    { "rtmp://ip/live?vhost=a.com/key", "", "rtmp ip 1935 a.com live key ?vhost=a.com" },
    { "rtmp://ip/live?k=v/key", "", "rtmp ip 1935 ip live key ?k=v" },
    { "rtmp://ip/a/b?vhost=a.com/key", "", "rtmp ip 1935 a.com a/b key ?vhost=a.com" },
    { "rtmp://ip/key", "", "rtmp ip 1935 ip __defaultApp__ key " },
    { "rtmp://ip", "key", "rtmp ip 1935 ip __defaultApp__ key " },
    { "rtmp://ip/", "", "rtmp ip 1935 ip __defaultApp__  " },
    { "rtmp://ip", NULL, "rtmp ip 1935 ip __defaultApp__  " },
    { "rtmp://ip/live", "../../etc/./key", "rtmp ip 1935 ip live/etc key " },
};

static void test_forms(void **state)
{
    char got[512];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmp_url u;

        assert_ok(rtmp_url_resolve(&u, rows[i].tc_url, rows[i].name));
        (void)snprintf(got, sizeof(got), "%s %s %d %s %s %s %s", u.schema, u.host, u.port,
                       u.vhost, u.app, u.stream, u.param);
        if (strcmp(got, rows[i].want) != 0)
            fail_msg("%s + %s: %s, want %s", rows[i].tc_url, rows[i].name ? rows[i].name : "-",
                     got, rows[i].want);
        rtmp_url_free(&u);
        rtmp_url_free(&u);
    }
}

static void test_bad(void **state)
{
    static const char *const bad[] = {
        "", "rtmp", "rtmp:", "rtmp:/", "rtmp://", "rtmp:///live", "://ip/live", "ip/live",
        "rtmp://ip:99999/live", "rtmp://ip:65536/live", "rtmp://ip:19x/live", "rtmp://:1935/live",
        "rtmp://[]/live", "rtmp://ip:99999999999999999999/live",
    };
    struct rtmp_url u;
    char *large = malloc(RTMP_URL_MAX + 2);

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_err(rtmp_url_resolve(&u, bad[i], "key"), ERR_RTMP_CONNECT);
    memset(large, 'x', RTMP_URL_MAX + 1);
    large[RTMP_URL_MAX + 1] = '\0';
    memcpy(large, "rtmp://", 7);
    assert_err(rtmp_url_resolve(&u, large, ""), ERR_TOO_LARGE);
    large[RTMP_URL_MAX] = '\0';
    assert_ok(rtmp_url_resolve(&u, large, "")); /* a large host, nothing else */
    rtmp_url_free(&u);
    memcpy(large, "rtmp://h?vhost=", 15); /* maximum memory */
    assert_ok(rtmp_url_resolve(&u, large, ""));
    assert_int_equal(strlen(u.vhost), RTMP_URL_MAX - 15);
    rtmp_url_free(&u);
    free(large);
    assert_err(rtmp_url_parse(&u, "rtmp://ip/"), ERR_RTMP_CONNECT);
}

/* Any prefix of any row is handled. */
static void test_cut_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t cut = 0; cut <= strlen(rows[i].tc_url); cut++) {
            char *exact = strndup(rows[i].tc_url, cut);
            struct rtmp_url u;
            err_t err = rtmp_url_resolve(&u, exact, "");

            if (!err)
                rtmp_url_free(&u);
            err_free(&err);
            free(exact);
        }
    }
}

static const struct {
    const char *url, *tc;
} tc_rows[] = {
    { "rtmp://ip/live/key?a=b", "rtmp://ip/live" },
    { "rtmp://ip:1935/live/key", "rtmp://ip/live" },
    { "rtmp://ip:1936/a/b/key", "rtmp://ip:1936/a/b" },
    { "rtmp://ip/live/key?vhost=a.com", "rtmp://ip/live?vhost=a.com" },
    { "rtmp://ip/live?vhost=a.com/key", "rtmp://ip/live?vhost=a.com" },
    { "rtmps://[::1]:1936/live/key", "rtmps://[::1]:1936/live" },
};

static void test_tc_url(void **state)
{
    struct rtmp_url u;
    char buf[64];

    (void)state;
    for (size_t i = 0; i < COUNT(tc_rows); i++) {
        assert_ok(rtmp_url_parse(&u, tc_rows[i].url));
        assert_string_equal(rtmp_url_tc(&u, buf, sizeof(buf)), tc_rows[i].tc);
        assert_string_equal(u.stream, "key");
        rtmp_url_free(&u);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_forms), TEST(test_bad), TEST(test_cut_everywhere), TEST(test_tc_url),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
