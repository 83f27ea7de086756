/* SPDX-License-Identifier: MIT */
/* test_session_hooks.c - callbacks: their content, and the meaning of responses. */
#include "base/jpick.h"
#include "co/co.h"
#include "env.h"
#include "session/clients.h"
#include "session/hooks_impl.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int status;
    const char *body;
    bool yes;
} verdicts[] = {
    { "0", 200, "0", true },
    { "0 and space", 200, " 0\r\n", true },
    { "created", 201, "0", true },
    { "object", 200, "{\"code\":0}", true },
    { "object and more", 200, "{\"a\":[{}],\"code\":0 }", true },
    { "-0 is a number, too", 200, "{\"code\":-0}", true },
    { "accepted is not", 202, "0", false },
    { "no content", 204, "", false },
    { "moved", 302, "0", false },
    { "empty", 200, "", false },
    { "1", 200, "1", false },
    { "00", 200, "00", false },
    { "code 1", 200, "{\"code\":1}", false },
    { "code as text", 200, "{\"code\":\"0\"}", false },
    { "code as real", 200, "{\"code\":0.0}", false },
    { "no code", 200, "{}", false },
    { "list", 200, "[0]", false },
    { "text", 200, "\"0\"", false },
    { "cut", 200, "{\"code\":0", false },
    { "more behind it", 200, "{\"code\":0}x", false },
};

static void test_verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(verdicts); i++) {
        print_message("  %s\n", verdicts[i].name);
        assert_err(hooks_verdict(verdicts[i].status, verdicts[i].body, strlen(verdicts[i].body)),
                   verdicts[i].yes ? ERR_OK : ERR_HOOK_DENIED);
    }
}

static void test_flat(void **state)
{
    static const struct {
        const char *text;
        bool flat;
    } rows[] = {
        { "", true }, { "[[[[[[[[[[[[[[[[", true }, { "[[[[[[[[[[[[[[[[[", false },
        { "\"[[[[[[[[[[[[[[[[[[[[[[[\"", true }, { "\"\\\"[[[[[[[[[[[[[[[[[[[[[\"", true },
        { "[][][][][][][][][][][][][][][][][][]", true },
        { "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":[[[[[[[[", false },
    }, few[] = {
        { "1", true }, { "[1,2,3,4]", true }, { "[1,2,3,4,5]", false }, { "[[],{}]", true },
        { "[{},{},{}]", false }, { "{\"a,[[[[\":\",\\\",,,\"}", true }, { ",,,,,", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(jpick_is_flat(rows[i].text, strlen(rows[i].text), HOOKS_DEPTH,
                                  HOOKS_VALUES), rows[i].flat);
    for (size_t i = 0; i < COUNT(few); i++)
        assert_int_equal(jpick_is_flat(few[i].text, strlen(few[i].text), HOOKS_DEPTH, 4), few[i].flat);
}

static void test_forward_urls(void **state)
{
    static const struct {
        const char *body;
        size_t n;
        const char *first;
    } rows[] = {
        { "{\"code\":0,\"data\":{\"urls\":[\"rtmp://a/b/c\",\"rtmp://d/e/f\"]}}", 2, "rtmp://a/b/c" },
        { "{\"code\":0,\"data\":{\"urls\":[]}}", 0, NULL },
        { "{\"code\":0,\"data\":{\"urls\":[1,null,\"x\"]}}", 1, "x" },
        { "{\"code\":0,\"data\":{}}", 0, NULL }, { "{\"code\":0}", 0, NULL },
        { "{\"data\":[1]}", 0, NULL }, { "0", 0, NULL }, { "", 0, NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char **urls;
        size_t n;

        hooks_forward_urls(rows[i].body, strlen(rows[i].body), &urls, &n);
        assert_int_equal(n, rows[i].n);
        if (n > 0)
            assert_string_equal(urls[0], rows[i].first);
        while (n > 0)
            free(urls[--n]);
        free(urls);
    }
}

/* ---- content */

static const struct {
    enum hooks_action action;
    const char *fields; /* after the common ones */
} bodies[] = {
    { HOOKS_CONNECT, "tcUrl stream param pageUrl" },
    { HOOKS_CLOSE, "send_bytes recv_bytes" },
    { HOOKS_PUBLISH, "tcUrl stream param stream_url stream_id clients" },
    { HOOKS_UNPUBLISH, "tcUrl stream param stream_url stream_id clients" },
    { HOOKS_PLAY, "tcUrl stream param pageUrl stream_url stream_id clients" },
    { HOOKS_STOP, "tcUrl stream param stream_url stream_id clients" },
    { HOOKS_DVR, "tcUrl stream param cwd file stream_url stream_id clients" },
    { HOOKS_HLS, "tcUrl stream param cwd file duration url m3u8 m3u8_url seq_no stream_url "
                 "stream_id clients" },
    { HOOKS_FORWARD, "tcUrl stream param stream_id clients" },
};

static void test_bodies(void **state)
{
    static const char common[] = "server_id service_id action client_id ip vhost app ";
    struct session_env *env = env_new("listen 1935;");
    const struct session_stream names = { "__defaultVhost__", "live", "s", "?a=b", "rtmp://h/live",
                                        "http://page", "1.2.3.4", NULL, NULL, NULL };
    const struct hooks_event event = { .names = &names, .client_id = "abcdefgh", .in = 1, .out = 2,
                                       .file = "./a.ts", .url = "a.ts", .m3u8 = "./a.m3u8",
                                       .m3u8_url = "a.m3u8", .duration = 9.5, .seq_no = 7 };

    (void)state;
    for (size_t i = 0; i < COUNT(bodies); i++) {
        char got[512] = "", want[512];
        const char *key;
        json_t *v, *member;
        struct wr w;

        wr_init(&w, 65536);
        hooks_body(&w, env, bodies[i].action, &event);
        v = json_loadb((const char *)w.buf, w.len, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(v);
        json_object_foreach(v, key, member) {
            (void)strncat(got, key, sizeof(got) - strlen(got) - 2);
            (void)strncat(got, " ", 2);
        }
        (void)snprintf(want, sizeof(want), "%s%s ", common, bodies[i].fields);
        assert_string_equal(got, want);
        assert_string_equal(json_string_value(json_object_get(v, "action")),
                            hooks_name(bodies[i].action));
        if (bodies[i].action == HOOKS_PUBLISH)
            assert_string_equal(json_string_value(json_object_get(v, "stream_url")), "/live/s");
        json_decref(v);
        wr_free(&w);
    }
    env_free(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_verdicts), TEST(test_flat), TEST(test_forward_urls), TEST(test_bodies),
    };

    assert_ok(co_init());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
