/* SPDX-License-Identifier: MIT */
/* test_pull_rtsp.c - the streams that a configuration pulls, and their sources. */
#include "pull/rtsp/spec.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const char *tcp[] = { "tcp" }, *both[] = { "udp", "tcp" };

static const struct conf_rtsp_pull pulls[] = {
    { .enabled = true, .stream = "live/[param]", .url = "rtsp://h/any/[param]" },
    { .enabled = true, .stream = "camera", .url = "rtsp://u:p@h/1", .transport = { both, 2 } },
    { .enabled = true, .stream = "a/b/c", .url = "rtsp://h/2", .transport = { tcp, 1 },
      .on_demand = true },
    { .enabled = false, .stream = "live/off", .url = "rtsp://h/3" },
    { .enabled = true, .stream = "t/x-[param]-y", .url = "rtsp://[param].lan/[param]" },
    { .enabled = true, .stream = "deep/[param]/z", .url = "rtsp://h/[param]" },
    { .enabled = true, .stream = "a/safe", .url = "rtsps://h/4", .transport = { both, 2 },
      .on_demand = true },
};

static const struct {
    const char *app, *name, *url; /* NULL: not pulled */
    bool on_demand;
} rows[] = {
    { "live", "camera", "rtsp://u:p@h/1", false },
    { "live", "other", "rtsp://h/any/other", true },
    { "live", "off", "rtsp://h/any/off", true },
    { "a/b", "c", "rtsp://h/2", true },
    { "a", "b", NULL, false },
    { "t", "x-1-y", "rtsp://1.lan/1", true },
    { "t", "x--y", NULL, false },
    { "t", "x-y", NULL, false },
    { "t", "x-1.2-y", "rtsp://1.2.lan/1.2", true },
    { "t", "x-1..2-y", NULL, false },
    { "t", "x-.1-y", NULL, false },
    { "t", "x-a@b-y", NULL, false },
    { "t", "x-a/b-y", NULL, false },
    { "t", "x-a:b-y", NULL, false },
    { "t", "x-a%2f-y", NULL, false },
    { "t", "x-\xc3\xa4-y", NULL, false },
    { "t", "x- -y", NULL, false },
    { "deep/q", "z", "rtsp://h/q", true },
    { "deep/q/q", "z", NULL, false },
};

static void test_which(void **state)
{
    struct conf_vhost v = { .name = "v", .enabled = true };

    (void)state;
    v.rtsp.enabled = true;
    v.rtsp.pull = (struct conf_rtsp_pulls){ pulls, COUNT(pulls) };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtsp_pull_spec w;

        print_message("  %s/%s\n", rows[i].app, rows[i].name);
        assert_int_equal(rtsp_pull_spec_of(&w, &v, rows[i].app, rows[i].name), rows[i].url != NULL);
        if (!rows[i].url)
            continue;
        assert_string_equal(w.url, rows[i].url);
        assert_int_equal(w.on_demand, rows[i].on_demand);
        assert_true(w.transports > 0);
        rtsp_pull_spec_free(&w);
    }
}

static void test_ways(void **state)
{
    struct conf_vhost v = { .name = "v", .enabled = true };
    struct rtsp_pull_spec w, other;

    (void)state;
    v.rtsp.enabled = true;
    v.rtsp.pull = (struct conf_rtsp_pulls){ pulls, COUNT(pulls) };
    assert_true(rtsp_pull_spec_of(&w, &v, "live", "camera"));
    assert_int_equal(w.transports, 2);
    assert_int_equal(w.transport[0], RTSP_PULL_UDP);
    assert_int_equal(w.transport[1], RTSP_PULL_TCP);
    assert_true(rtsp_pull_spec_of(&other, &v, "a/b", "c"));
    assert_int_equal(other.transports, 1);
    assert_int_equal(other.transport[0], RTSP_PULL_TCP);
    assert_true(rtsp_pull_spec_same(&w, &w));
    assert_false(rtsp_pull_spec_same(&w, &other));
    rtsp_pull_spec_free(&other);
    assert_true(rtsp_pull_spec_of(&other, &v, "a", "safe")); /* rtsps: no transport without
                                                              * encryption */
    assert_int_equal(other.transports, 1);
    assert_int_equal(other.transport[0], RTSP_PULL_TCP);
    rtsp_pull_spec_free(&w);
    rtsp_pull_spec_free(&other);
    v.rtsp.enabled = false;
    assert_false(rtsp_pull_spec_of(&w, &v, "live", "camera"));
    v.rtsp.enabled = true;
    v.enabled = false;
    assert_false(rtsp_pull_spec_of(&w, &v, "live", "camera"));
    assert_false(rtsp_pull_spec_of(&w, NULL, "live", "camera"));
}

/* The trusted CAs are part of the spec: a change restarts the pull. */
static void test_trust(void **state)
{
    static const struct {
        bool verify;
        const char *ca, *want;
    } trusts[] = { { false, "", NULL }, { true, "", "" }, { true, "/ca", "/ca" } };
    struct conf_rtsp_pull one = { .name = "", .enabled = true, .stream = "live/s",
                                  .url = "rtsps://h/1", .transport = { NULL, 0 } };
    struct conf_vhost v = { .name = "v", .enabled = true };
    struct rtsp_pull_spec w[COUNT(trusts)];

    (void)state;
    v.rtsp.enabled = true;
    v.rtsp.pull = (struct conf_rtsp_pulls){ &one, 1 };
    for (size_t i = 0; i < COUNT(trusts); i++) {
        one.tls_verify = trusts[i].verify;
        one.tls_ca = trusts[i].ca;
        assert_true(rtsp_pull_spec_of(&w[i], &v, "live", "s"));
        if (trusts[i].want)
            assert_string_equal(w[i].ca, trusts[i].want);
        else
            assert_null(w[i].ca);
    }
    for (size_t i = 0; i < COUNT(trusts); i++) {
        for (size_t k = 0; k < COUNT(trusts); k++)
            assert_int_equal(rtsp_pull_spec_same(&w[i], &w[k]), i == k);
    }
    for (size_t i = 0; i < COUNT(trusts); i++)
        rtsp_pull_spec_free(&w[i]);
}

static void test_steady(void **state)
{
    const char *app, *name;
    size_t size;
    unsigned n = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(pulls); i++)
        n += rtsp_pull_is_permanent(&pulls[i], &app, &size, &name);
    assert_int_equal(n, 1);
    assert_true(rtsp_pull_is_permanent(&pulls[1], &app, &size, &name));
    assert_int_equal(size, 4);
    assert_memory_equal(app, "live", 4);
    assert_string_equal(name, "camera");
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_which), TEST(test_ways), TEST(test_trust), TEST(test_steady) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
