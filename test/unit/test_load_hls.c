/* SPDX-License-Identifier: MIT */
/* test_load_hls.c - the parts of the HLS load tool that need no server. */
#include "tools/load/hls.h"
#include "tools/load/url.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static void test_resolve(void **state)
{
    static const struct {
        const char *base, *ref, *want;
    } rows[] = {
        { "http://h/live/s.m3u8", "s-0.ts", "http://h/live/s-0.ts" },
        { "http://h/live/s.m3u8?a=/b", "s-0.ts?x=1", "http://h/live/s-0.ts?x=1" },
        { "http://h/live/s.m3u8", "/x/s-0.ts", "http://h/x/s-0.ts" },
        { "http://h:8080/a/b/s.m3u8", "../c/./s.ts", "http://h:8080/a/c/s.ts" },
        { "http://h/a/s.m3u8", "../../../s.ts", "http://h/s.ts" },
        { "http://h/a/b/s.m3u8", "..", "http://h/a/" },
        { "http://h/a/b/s.m3u8", ".?q=..", "http://h/a/b/?q=.." },
        { "http://h/a/s.m3u8", "?x=2", "http://h/a/s.m3u8?x=2" },
        { "http://h/a/s.m3u8?x=1", "?x=2", "http://h/a/s.m3u8?x=2" },
        { "http://h/a/s.m3u8", "https://cdn/x/y.ts", "https://cdn/x/y.ts" },
        { "https://h/a/s.m3u8", "//cdn:81/y.ts", "https://cdn:81/y.ts" },
        { "http://h/a/s.m3u8", "y.ts?u=http://z/", "http://h/a/y.ts?u=http://z/" },
        { "http://h/a/s.m3u8", "y.ts#part", "http://h/a/y.ts" },
        { "http://h", "y.ts", "http://h/y.ts" },
        { "http://h", "/y.ts", "http://h/y.ts" },
        { "http://h/a/s.m3u8", "", "http://h/a/" },
    };
    char out[64];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t n = strlen(rows[i].ref);
        char *exact = malloc(n + 1);

        print_message("  %s + %s\n", rows[i].base, rows[i].ref);
        memcpy(exact, rows[i].ref, n);
        exact[n] = '!'; /* is not looked at */
        assert_ok(load_url_resolve(out, sizeof(out), rows[i].base, exact, n));
        assert_string_equal(out, rows[i].want);
        free(exact);
    }
    assert_err(load_url_resolve(out, 20, "http://h/live/s.m3u8", "s-0.ts", 6), ERR_CONF);
    assert_err(load_url_resolve(out, sizeof(out), "h/live", "s-0.ts", 6), ERR_CONF);
}

static const char plain[] =
    "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:5\n"
    "#EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:20.000Z\n#EXTINF:2.000,\ns5\n#EXTINF:1.900,\ns6\n"
    "#EXT-X-GAP\n#EXTINF:2.000,\ns7\n#EXTINF:2.000,\ns8\n#EXTINF:2.000,\ns9\n";
static const char low[] =
    "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:7\n"
    "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.6\n"
    "#EXT-X-PART-INF:PART-TARGET=0.2\n#EXT-X-MAP:URI=\"init\"\n#EXTINF:1.000,\ns7\n"
    "#EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:21.000Z\n"
    "#EXT-X-PART:DURATION=0.2,URI=\"p8.0\",INDEPENDENT=YES\n"
    "#EXT-X-PART:DURATION=0.2,URI=\"p8.1\"\n#EXTINF:0.4,\ns8\n"
    "#EXT-X-PART:DURATION=0.2,URI=\"p9.0\",INDEPENDENT=YES\n"
    "#EXT-X-PART:DURATION=0.2,URI=\"p9.1\"\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p9.2\"\n";

static bool is(struct m3u8_text t, const char *want)
{
    return t.n == strlen(want) && memcmp(t.p, want, t.n) == 0;
}

static void test_plain(void **state)
{
    struct load_hls_list l;
    size_t i;

    (void)state;
    assert_ok(load_hls_list_parse(&l, plain, sizeof(plain) - 1, false));
    assert_int_equal(l.n, 5);
    assert_int_equal(l.target, 2);
    assert_int_equal(l.hold_back, 6 * 90000);
    assert_false(l.parts || l.over || l.hint.p || l.variant.p);
    assert_int_equal(l.end.segment, 10);
    for (i = 0; i < l.n; i++) {
        assert_true(l.units[i].whole && l.units[i].independent);
        assert_int_equal(l.units[i].at.segment, 5 + i);
        assert_int_equal(l.units[i].gap, i == 2);
    }
    assert_int_equal(l.units[2].wall, 1700000003900); /* carried on */
    assert_int_equal(load_hls_list_start(&l, l.hold_back), 2);
    assert_int_equal(load_hls_list_start(&l, 90000), 4);
    assert_int_equal(load_hls_list_start(&l, INT64_MAX / 2), 0);
    assert_int_equal(load_hls_list_left(&l, 3), 4 * 90000);
    i = load_hls_list_find(&l, (struct load_hls_place){ 8, 0 });
    assert_int_equal(i, 3);
    assert_true(load_hls_list_follows(&l, i, (struct load_hls_place){ 8, 0 }));
    assert_int_equal(load_hls_list_find(&l, (struct load_hls_place){ 10, 0 }), 5);
    i = load_hls_list_find(&l, (struct load_hls_place){ 2, 0 });
    assert_int_equal(i, 0);
    assert_false(load_hls_list_follows(&l, i, (struct load_hls_place){ 2, 0 }));
    assert_int_equal(load_hls_list_after(&l.units[0]).segment, 6);
    load_hls_list_free(&l);
}

static void test_low_latency(void **state)
{
    static const struct {
        const char *uri;
        struct load_hls_place at;
        bool whole;
        int64_t wall;
    } want[] = {
        { "s7", { 7, 0 }, true, 0 },
        { "p8.0", { 8, 0 }, false, 1700000001000 }, { "p8.1", { 8, 1 }, false, 1700000001200 },
        { "p9.0", { 9, 0 }, false, 1700000001400 }, { "p9.1", { 9, 1 }, false, 1700000001600 },
    };
    struct load_hls_list l;
    struct load_hls_place next;

    (void)state;
    assert_ok(load_hls_list_parse(&l, low, sizeof(low) - 1, false));
    assert_true(l.parts && is(l.hint, "p9.2"));
    assert_int_equal(l.hold_back, 54000);
    assert_int_equal(l.n, COUNT(want));
    next = want[0].at;
    for (size_t i = 0; i < l.n; i++) {
        print_message("  %s\n", want[i].uri);
        assert_true(is(l.units[i].uri, want[i].uri) && is(l.units[i].map, "init"));
        assert_int_equal(l.units[i].at.segment, want[i].at.segment);
        assert_int_equal(l.units[i].at.part, want[i].at.part);
        assert_int_equal(l.units[i].whole, want[i].whole);
        assert_int_equal(l.units[i].wall, want[i].wall);
        assert_int_equal(load_hls_list_find(&l, next), i);
        assert_true(load_hls_list_follows(&l, i, next));
        next = load_hls_list_after(&l.units[i]);
    }
    assert_int_equal(next.segment, l.end.segment);
    assert_int_equal(next.part, l.end.part);
    assert_false(load_hls_list_follows(&l, 3, (struct load_hls_place){ 8, 1 }));
    assert_int_equal(load_hls_list_start(&l, l.hold_back), 1);
    assert_int_equal(load_hls_list_start(&l, 9000), 3);
    load_hls_list_free(&l);
    assert_ok(load_hls_list_parse(&l, low, sizeof(low) - 1, true));
    assert_true(l.n == 2 && l.units[1].whole && !l.parts && !l.hint.p);
    assert_int_equal(l.end.segment, 9);
    assert_int_equal(l.hold_back, 3 * 90000);
    load_hls_list_free(&l);
}

/* Left-out items still count. */
static void test_update(void **state)
{
    static const char text[] =
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:7\n"
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.6,CAN-SKIP-UNTIL=6\n"
        "#EXT-X-PART-INF:PART-TARGET=0.2\n#EXT-X-SKIP:SKIPPED-SEGMENTS=12\n#EXTINF:1,\ns19\n"
        "#EXT-X-PART:DURATION=0.2,URI=\"p20.0\"\n";
    struct load_hls_list l;

    (void)state;
    assert_ok(load_hls_list_parse(&l, text, sizeof(text) - 1, false));
    assert_int_equal(l.skip_until, 6 * 90000);
    assert_int_equal(l.units[0].at.segment, 19);
    assert_int_equal(l.units[1].at.segment, 20);
    assert_int_equal(l.end.segment, 20);
    assert_int_equal(l.end.part, 1);
    load_hls_list_free(&l);
    assert_ok(load_hls_list_parse(&l, text, sizeof(text) - 1, true));
    assert_int_equal(l.skip_until, 0); /* nor blocking reloads */
    load_hls_list_free(&l);
}

static void test_master(void **state)
{
    static const char text[] = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=5\na\n"
                               "#EXT-X-STREAM-INF:BANDWIDTH=9\nb\n#EXT-X-STREAM-INF:BANDWIDTH=7\nc\n";
    struct load_hls_list l;

    (void)state;
    assert_ok(load_hls_list_parse(&l, text, sizeof(text) - 1, false));
    assert_true(is(l.variant, "b") && l.n == 0);
    load_hls_list_free(&l);
    assert_err(load_hls_list_parse(&l, "<html>", 6, false), ERR_MALFORMED);
    load_hls_list_free(&l);
}

static void test_cut_at_every_byte(void **state)
{
    static const struct { const char *text; size_t size; } rows[] = {
        { plain, sizeof(plain) - 1 }, { low, sizeof(low) - 1 },
    };

    (void)state;
    for (size_t k = 0; k < COUNT(rows); k++) {
        for (size_t n = 0; n < rows[k].size; n++) {
            char *exact = malloc(n ? n : 1);
            struct load_hls_list l;
            err_t err;

            memcpy(exact, rows[k].text, n);
            err = load_hls_list_parse(&l, exact, n, n & 1);
            assert_true(err ? err_code(err) == ERR_MALFORMED && n < 7 : l.n <= 6);
            for (size_t i = 0; i < l.n; i++)
                assert_true(l.units[i].uri.p >= exact && l.units[i].uri.n > 0 &&
                            l.units[i].uri.p + l.units[i].uri.n <= exact + n);
            assert_true(load_hls_list_start(&l, 1) <= l.n);
            err_free(&err);
            load_hls_list_free(&l);
            free(exact);
        }
    }
}

static void test_too_many(void **state)
{
    size_t size = 8, lines = LOAD_HLS_UNITS * 2;
    char *text = malloc(size + lines * 2);
    struct load_hls_list l;

    (void)state;
    memcpy(text, "#EXTM3U\n", 8);
    for (size_t i = 0; i < lines; i++, size += 2)
        memcpy(text + size, "a\n", 2);
    assert_err(load_hls_list_parse(&l, text, size, false), ERR_TOO_MANY);
    assert_null(l.units);
    free(text);
}

enum { MS = 1000, STALL = 100 * MS };

static void test_clock(void **state)
{
    static struct load_stat s;
    struct load_hls_play p = { 0 };

    (void)state;
    load_hls_play_jump(&p, 0, 500 * MS);
    load_hls_play_add(&p, &s, 0, STALL, 400 * MS, 0); /* not yet where it begins */
    assert_false(p.moves);
    load_hls_play_add(&p, &s, 50 * MS, STALL, 400 * MS, 7000000);
    assert_true(p.moves);
    assert_int_equal(p.wall_end, 7400000);
    assert_int_equal(load_hls_play_ahead(&p), 300 * MS);
    load_hls_play_turn(&p, &s, 250 * MS, STALL);
    assert_int_equal(load_hls_play_ahead(&p), 100 * MS);
    load_hls_play_turn(&p, &s, 400 * MS, STALL); /* stalls since 350 */
    assert_false(p.moves);
    assert_int_equal(p.stands_since, 350 * MS);
    load_hls_play_add(&p, &s, 440 * MS, STALL, 100 * MS, 0); /* too short to count */
    assert_int_equal(s.stalls, 0);
    load_hls_play_turn(&p, &s, 900 * MS, STALL); /* stalls since 540 */
    load_hls_play_turn(&p, &s, 950 * MS, STALL);
    assert_int_equal(s.stalls, 1);
    load_hls_play_add(&p, &s, 1540 * MS, STALL, 100 * MS, 0);
    assert_int_equal(s.hls.stall.count, 1);
    assert_int_equal(s.hls.stall.max, 1000 * MS);
    load_hls_play_turn(&p, &s, 1600 * MS, STALL);
    load_hls_play_jump(&p, 1600 * MS, 0);
    load_hls_play_turn(&p, &s, 9000 * MS, STALL);
    assert_int_equal(s.stalls, 1);
    load_hls_play_add(&p, &s, 9000 * MS, STALL, 100 * MS, 0);
    assert_int_equal(load_hls_play_ahead(&p), 100 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_resolve), TEST(test_plain), TEST(test_low_latency), TEST(test_update),
        TEST(test_master),
        TEST(test_cut_at_every_byte), TEST(test_too_many), TEST(test_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
