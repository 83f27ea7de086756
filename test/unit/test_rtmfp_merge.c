/* SPDX-License-Identifier: MIT */
/* test_rtmfp_merge.c - merges two flows of a publisher in order of time: waits and timeouts. */
#include "serve/rtmfp/merge.h"

#include "unit.h"

#include <stdio.h>
#include <string.h>

enum { S = RTMFP_MERGE_AUDIO, P = RTMFP_MERGE_VIDEO };

static void put(struct rtmfp_merge *o, unsigned line, uint32_t time, bool aside, co_usec now)
{
    const struct rtmp_msg m = { .type = (uint8_t)(line == S ? 8 : 9), .time = time, .size = 1000 };

    rtmfp_merge_put(o, line, &m, aside, now);
}

/* All that are next, as "s0 p40". */
static const char *given(struct rtmfp_merge *o, bool all, co_usec now)
{
    static char text[512];
    struct rtmp_msg m;
    size_t n = 0;

    text[0] = '\0';
    while (rtmfp_merge_next(o, &m, all, now) && n < sizeof(text) - 16)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%c%u", n ? " " : "",
                              m.type == 8 ? 's' : 'p', m.time);
    return text;
}

#define AT(ms) (CO_SECONDS(100) + CO_MS(ms))

/* Arrivals, and the output at that time. */
struct step {
    int ms;
    char line; /* 's', 'p'; 0: nothing */
    uint32_t time;
    bool aside, behind;
    const char *out;
};

static const struct row {
    const char *what;
    struct step v[10];
} rows[] = {
    { "a single kind does not wait",
      { { 0, 's', 0, .out = "s0" }, { 20, 's', 20, .out = "s20" }, { 40, 's', 40, .out = "s40" } } },
    { "side by side",
      { { 0, 'p', 0, .out = "p0" }, { 1, 's', 0, .out = "s0" }, { 20, 's', 20, .out = "" },
        { 40, 'p', 40, .out = "s20" }, { 41, 's', 45, .out = "p40" } } },
    { "the other one is not waited for longer than shortly",
      { { 0, 'p', 0, .out = "p0" }, { 20, 's', 20, .out = "" }, { 79, 0, .out = "" },
        { 80, 0, .out = "s20" } } },
    { "it comes again, late",
      { { 0, 'p', 0, .out = "p0" }, { 20, 's', 20, .behind = true, .out = "" },
        { 300, 's', 300, .behind = true, .out = "" }, { 310, 'p', 15, .behind = true, .out = "p15" },
        { 311, 'p', 100, .behind = true, .out = "s20 p100" },
        { 312, 'p', 310, .out = "s300" } } },
    { "it does not come at all",
      { { 0, 'p', 0, .out = "p0" }, { 20, 's', 20, .behind = true, .out = "" },
        { 900, 's', 900, .behind = true, .out = "" }, { 1000, 0, .behind = true, .out = "s20 s900" },
        { 1010, 's', 1010, .behind = true, .out = "s1010" } } },
    { "longer where something was lost",
      { { 0, 'p', 0, .behind = true, .out = "p0" }, { 20, 's', 20, .out = "" },
        { 269, 0, .out = "" }, { 270, 0, .out = "s20" }, { 5020, 'p', 5000, .out = "p5000" },
        { 5021, 's', 5010, .out = "" }, { 5080, 0, .out = "" }, { 5081, 0, .out = "s5010" } } },
    { "a configuration has no time",
      { { 0, 'p', 0, true, .out = "p0" }, { 0, 's', 0, true, .out = "s0" },
        { 1, 'p', 5000, .out = "" }, { 2, 's', 5000, .out = "p5000 s5000" },
        { 3, 'p', 0, true, .out = "p0" }, { 4, 's', 5020, .out = "" },
        { 5, 'p', 5040, .out = "s5020" } } },
    { "clocks of their own",
      { { 0, 'p', 90000, .out = "p90000" }, { 1, 's', 0, .out = "s0" },
        { 20, 'p', 90040, .out = "p90040" }, { 21, 's', 20, .out = "s20" } } },
    { "over the end of 32 bits",
      { { 0, 'p', 0xfffffff0, .out = "p4294967280" }, { 1, 's', 0xfffffff8, .out = "" },
        { 2, 'p', 16, .out = "s4294967288" }, { 3, 's', 20, .out = "p16" } } },
};

static void turns(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rtmfp_merge o = { .n = 0 };

        for (const struct step *s = rows[i].v; s->out; s++) {
            const char *got;

            o.behind = s->behind;
            if (s->line)
                put(&o, s->line == 's' ? S : P, s->time, s->aside, AT(s->ms));
            got = given(&o, false, AT(s->ms));
            if (strcmp(got, s->out) != 0)
                fail_msg("%s, at %d ms: \"%s\", not \"%s\"", rows[i].what, s->ms, got, s->out);
            assert_true(rtmfp_merge_due(&o) == CO_FOREVER || rtmfp_merge_due(&o) > AT(s->ms));
        }
        (void)given(&o, true, 0);
        assert_int_equal(o.n, 0);
        assert_int_equal(o.bytes, 0);
        assert_true(rtmfp_merge_due(&o) == CO_FOREVER);
    }
}

static void what_waits_is_bounded(void **state)
{
    struct rtmfp_merge o = { .behind = true };
    struct rtmp_msg m;

    (void)state;
    put(&o, P, 0, false, AT(0));
    assert_true(rtmfp_merge_next(&o, &m, false, AT(0)));
    for (uint32_t i = 1; i <= RTMFP_MERGE_MOST; i++) {
        put(&o, S, i, false, AT(1));
        assert_false(rtmfp_merge_next(&o, &m, false, AT(1)));
    }
    put(&o, S, RTMFP_MERGE_MOST + 1, false, AT(1));
    assert_string_equal(given(&o, false, AT(1)), "s1");
    assert_true(rtmfp_merge_due(&o) == AT(1000)); /* a second after the last video */
    while (rtmfp_merge_next(&o, &m, true, 0)) {}
    assert_int_equal(o.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns),
        cmocka_unit_test(what_waits_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
