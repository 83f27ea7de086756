/* SPDX-License-Identifier: MIT */
/* test_m3u8.c - playlists: written, read back, and read when written by others. */
#include "format/playlist/m3u8.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const struct m3u8_part parts[] = {
    { 18000, true, "s-7.0.m4s" }, { 9000, false, "s-7.1.m4s" },
};

static const struct {
    const char *name;
    struct m3u8 list;
    size_t n;
    struct m3u8_segment v[3];
    const char *text;
} rows[] = {
    { "plain", { .version = 3, .target = 2, .sequence = 5 }, 2,
      { { .duration = 180000, .uri = "s-5.ts" },
        { .duration = 90045, .uri = "s-6.ts", .discontinuity = true, .wall = 1700000000123 } },
      "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-MEDIA-SEQUENCE:5\n#EXT-X-TARGETDURATION:2\n"
      "#EXTINF:2.000,\ns-5.ts\n"
      "#EXT-X-DISCONTINUITY\n#EXT-X-PROGRAM-DATE-TIME:2023-11-14T22:13:20.123Z\n"
      "#EXTINF:1.000,\ns-6.ts\n" },
    { "initialization and keys", { .version = 7, .target = 2, .sequence = 0, .discontinuities = 3 },
      3,
      { { .duration = 90000, .uri = "a", .map = "i", .key = "k1", .iv = { 1 } },
        { .duration = 90000, .uri = "b", .map = "i", .key = "k1", .iv = { 1 } },
        { .duration = 90000, .uri = "c", .map = "j", .key = "k1", .iv = { 2 }, .gap = true } },
      "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-DISCONTINUITY-SEQUENCE:3\n"
      "#EXT-X-TARGETDURATION:2\n#EXT-X-MAP:URI=\"i\"\n"
      "#EXT-X-KEY:METHOD=AES-128,URI=\"k1\",IV=0x01000000000000000000000000000000\n"
      "#EXTINF:1.000,\na\n#EXTINF:1.000,\nb\n#EXT-X-KEY:METHOD=NONE\n#EXT-X-MAP:URI=\"j\"\n"
      "#EXT-X-KEY:METHOD=AES-128,URI=\"k1\",IV=0x02000000000000000000000000000000\n"
      "#EXT-X-GAP\n#EXTINF:1.000,\nc\n" },
    { "a key that ends", { .version = 3, .target = 1 }, 2,
      { { .duration = 90000, .uri = "a", .key = "k" }, { .duration = 90000, .uri = "b" } },
      "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-TARGETDURATION:1\n"
      "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x00000000000000000000000000000000\n"
      "#EXTINF:1.000,\na\n#EXT-X-KEY:METHOD=NONE\n#EXTINF:1.000,\nb\n" },
    { "low latency", { .version = 9, .target = 1, .sequence = 7, .part_target = 18000,
                       .independent = true, .breaks = true, .hint = "s-8.0.m4s" }, 1,
      { { .duration = 27000, .uri = "s-7.m4s", .map = "i", .parts = parts, .n_parts = 2 } },
      "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-TARGETDURATION:1\n"
      "#EXT-X-INDEPENDENT-SEGMENTS\n"
      "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.600\n"
      "#EXT-X-PART-INF:PART-TARGET=0.200\n#EXT-X-MAP:URI=\"i\"\n"
      "#EXT-X-PART:DURATION=0.20000,URI=\"s-7.0.m4s\",INDEPENDENT=YES\n"
      "#EXT-X-PART:DURATION=0.10000,URI=\"s-7.1.m4s\"\n#EXTINF:0.300,\ns-7.m4s\n"
      "#EXT-X-DISCONTINUITY\n"
      "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"s-8.0.m4s\"\n" },
    { "an update", { .version = 9, .target = 1, .sequence = 7, .discontinuities = 1,
                     .part_target = 90000, .skip_until = 540000, .skipped = 12 }, 1,
      { { .duration = 27000, .uri = "s-19.m4s", .map = "i" } },
      "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n"
      "#EXT-X-TARGETDURATION:1\n"
      "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=3.000,CAN-SKIP-UNTIL=6.000\n"
      "#EXT-X-PART-INF:PART-TARGET=1.000\n#EXT-X-SKIP:SKIPPED-SEGMENTS=12\n"
      "#EXT-X-MAP:URI=\"i\"\n#EXTINF:0.300,\ns-19.m4s\n" },
    { "empty", { .version = 3, .target = 10 }, 0, { { 0 } },
      "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-MEDIA-SEQUENCE:0\n#EXT-X-TARGETDURATION:10\n" },
};

static void write_list(struct wr *w, size_t i)
{
    wr_init(w, 1 << 16);
    m3u8_head(w, &rows[i].list);
    for (size_t k = 0; k < rows[i].n; k++)
        m3u8_put(w, &rows[i].v[k], k ? &rows[i].v[k - 1] : NULL);
    m3u8_tail(w, &rows[i].list);
}

static void test_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wr w;

        print_message("  %s\n", rows[i].name);
        write_list(&w, i);
        wr_u8(&w, 0);
        assert_string_equal((const char *)w.buf, rows[i].text);
        wr_free(&w);
    }
}

static bool is(struct m3u8_text t, const char *want)
{
    if (!want)
        return t.p == NULL;
    return t.n == strlen(want) && memcmp(t.p, want, t.n) == 0;
}

static bool next_segment(struct m3u8_reader *r)
{
    enum m3u8_item item;

    while ((item = m3u8_item(r)) != M3U8_END && item != M3U8_SEGMENT)
        ;
    return item == M3U8_SEGMENT;
}

static void test_read_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct m3u8_reader r;
        struct wr w;

        print_message("  %s\n", rows[i].name);
        write_list(&w, i);
        assert_ok(m3u8_open(&r, (const char *)w.buf, w.len));
        for (size_t k = 0; k < rows[i].n; k++) {
            const struct m3u8_segment *want = &rows[i].v[k];

            assert_true(next_segment(&r));
            assert_true(is(r.uri, want->uri));
            assert_true(is(r.map, want->map));
            assert_true(is(r.key, want->key));
            assert_in_range(r.segment.duration, want->duration - 50, want->duration + 50);
            assert_int_equal(r.segment.wall, want->wall);
            assert_int_equal(r.segment.discontinuity, want->discontinuity);
            assert_int_equal(r.segment.gap, want->gap);
            if (want->key)
                assert_memory_equal(r.segment.iv, want->iv, 16);
        }
        assert_false(next_segment(&r));
        assert_int_equal(r.list.sequence, rows[i].list.sequence);
        assert_int_equal(r.list.discontinuities, rows[i].list.discontinuities);
        assert_int_equal(r.list.target, rows[i].list.target);
        assert_int_equal(r.list.skip_until, rows[i].list.skip_until);
        assert_int_equal(r.list.skipped, rows[i].list.skipped);
        wr_free(&w);
    }
}

/* Cut anywhere, it is read as far as possible: no byte after the end is read. */
static void test_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t n = 0; n < strlen(rows[i].text); n++) {
            char *exact = malloc(n + 1);
            struct m3u8_reader r;
            size_t count = 0;
            err_t err;

            memcpy(exact, rows[i].text, n);
            exact = realloc(exact, n ? n : 1);
            err = m3u8_open(&r, exact, n);
            while (!err && next_segment(&r))
                count++;
            err_free(&err);
            assert_true(count <= rows[i].n);
            err = m3u8_open(&r, exact, n);
            for (count = 0; !err && m3u8_item(&r) != M3U8_END; count++)
                assert_true(r.uri.n > 0 && r.uri.p > exact && r.uri.p + r.uri.n <= exact + n);
            err_free(&err);
            assert_true(count <= rows[i].n + 4);
            free(exact);
        }
    }
}

static void test_of_others(void **state)
{
    static const char text[] =
        "#EXTM3U\r\n#EXT-X-ALLOW-CACHE:YES\r\n#EXT-X-TARGETDURATION:99999999999\r\n"
        "#EXT-X-MEDIA-SEQUENCE:-5\r\n\r\n# a comment\r\n#EXTINF:nan, title\r\nx.ts\r\n"
        "#EXTINF:1e9\r\n#EXT-X-KEY:METHOD=AES-128,IV=0x1,URI=\"a,b\"\r\ny.ts";
    struct m3u8_reader r;

    (void)state;
    assert_ok(m3u8_open(&r, text, sizeof(text) - 1));
    assert_true(next_segment(&r));
    assert_true(is(r.uri, "x.ts"));
    assert_int_equal(r.segment.duration, 0);
    assert_true(next_segment(&r));
    assert_true(is(r.uri, "y.ts"));
    assert_int_equal(r.segment.duration, 0);
    assert_true(is(r.key, "a,b"));
    assert_int_equal(r.list.sequence, 0);
    assert_int_equal(r.list.target, 0);
    assert_false(next_segment(&r));
    assert_err(m3u8_open(&r, "<html>", 6), ERR_MALFORMED);
    assert_err(m3u8_open(&r, "", 0), ERR_MALFORMED);
}

/* Fields that a low-latency player uses. */
static void test_items(void **state)
{
    static const char text[] =
        "#EXTM3U\n#EXT-X-VERSION:9\n#EXT-X-TARGETDURATION:4\n"
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.0,HOLD-BACK=12\n"
        "#EXT-X-PART-INF:PART-TARGET=0.33334\n#EXT-X-MEDIA-SEQUENCE:266\n"
        "#EXT-X-MAP:URI=\"init\"\n#EXT-X-PROGRAM-DATE-TIME:2019-02-14T02:13:36.106Z\n"
        "#EXTINF:4,\ns266\n#EXT-X-PROGRAM-DATE-TIME:2019-02-14T02:13:40.106Z\n"
        "#EXT-X-PART:DURATION=0.33334,URI=\"p0\",INDEPENDENT=YES\n"
        "#EXT-X-PART:INDEPENDENT=NO,URI=\"p1\",DURATION=0.2\n#EXTINF:0.53,\ns267\n"
        "#EXT-X-PART:DURATION=0.3,URI=\"p2\"\n#EXT-X-PART:DURATION=0.3\n"
        "#EXT-X-PRELOAD-HINT:TYPE=MAP,URI=\"m\"\n#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"p3\"\n"
        "#EXT-X-RENDITION-REPORT:URI=\"../1M/x\",LAST-MSN=273\n#EXT-X-ENDLIST\n";
    static const struct {
        enum m3u8_item item;
        const char *uri;
        int64_t duration, wall;
        bool independent;
    } want[] = {
        { M3U8_SEGMENT, "s266", 360000, 1550110416106, false },
        { M3U8_PART, "p0", 30001, 1550110420106, true },
        { M3U8_PART, "p1", 18000, 1550110420106, false },
        { M3U8_SEGMENT, "s267", 47700, 1550110420106, false },
        { M3U8_PART, "p2", 27000, 0, false },
        { M3U8_HINT, "p3", 0, 0, false },
    };
    struct m3u8_reader r;

    (void)state;
    assert_ok(m3u8_open(&r, text, sizeof(text) - 1));
    for (size_t i = 0; i < COUNT(want); i++) {
        print_message("  %s\n", want[i].uri);
        assert_int_equal(m3u8_item(&r), want[i].item);
        assert_true(is(r.uri, want[i].uri));
        assert_true(is(r.map, "init"));
        assert_int_equal(r.segment.wall, want[i].wall);
        if (want[i].item == M3U8_PART) {
            assert_int_equal(r.part.duration, want[i].duration);
            assert_int_equal(r.part.independent, want[i].independent);
        } else if (want[i].item == M3U8_SEGMENT) {
            assert_int_equal(r.segment.duration, want[i].duration);
        }
    }
    assert_false(r.over);
    assert_int_equal(m3u8_item(&r), M3U8_END);
    assert_true(r.over && r.can_block);
    assert_int_equal(r.list.sequence, 266);
    assert_int_equal(r.list.part_target, 30001);
    assert_int_equal(r.part_hold_back, 90000);
    assert_int_equal(r.hold_back, 12 * 90000);
}

static void test_advance_parts(void **state)
{
    static const struct {
        int64_t target;
        unsigned parts;
    } limits[] = { { 0, 3 }, { 18000, 15 }, { 29999, 9 }, { 45000, 6 }, { 89999, 3 }, { 90000, 3 },
                   { 450000, 3 } };

    (void)state;
    for (size_t i = 0; i < COUNT(limits); i++)
        assert_int_equal(m3u8_advance_parts(limits[i].target), limits[i].parts);
}

static void test_variants(void **state)
{
    static const char text[] =
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1280000,CODECS=\"a,b\"\nlow.m3u8\n"
        "#EXT-X-STREAM-INF:AVERAGE-BANDWIDTH=1,BANDWIDTH=99999999999\n\nhigh.m3u8?x=1\n";
    struct m3u8_reader r;

    (void)state;
    assert_ok(m3u8_open(&r, text, sizeof(text) - 1));
    assert_int_equal(m3u8_item(&r), M3U8_VARIANT);
    assert_true(is(r.uri, "low.m3u8"));
    assert_int_equal(r.bandwidth, 1280000);
    assert_int_equal(m3u8_item(&r), M3U8_VARIANT);
    assert_true(is(r.uri, "high.m3u8?x=1"));
    assert_int_equal(r.bandwidth, UINT32_MAX);
    assert_int_equal(m3u8_item(&r), M3U8_END);
    assert_ok(m3u8_open(&r, text, sizeof(text) - 1));
    assert_false(next_segment(&r));
}

static void test_seconds(void **state)
{
    static const struct {
        int64_t duration;
        unsigned seconds;
    } times[] = { { 0, 0 }, { -5, 0 }, { 44999, 0 }, { 45000, 1 }, { 134999, 1 }, { 135000, 2 },
                  { 900000, 10 } };

    (void)state;
    for (size_t i = 0; i < COUNT(times); i++)
        assert_int_equal(m3u8_seconds(times[i].duration), times[i].seconds);
}

static void test_master(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, 4096);
    m3u8_master(&w, "/live/s.m3u8?hls_ctx=1", 800000, "avc1.64000c,mp4a.40.2", 640, 360);
    m3u8_master(&w, "a", 1, "", 0, 0);
    wr_u8(&w, 0);
    assert_string_equal((const char *)w.buf,
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000,AVERAGE-BANDWIDTH=800000,"
        "CODECS=\"avc1.64000c,mp4a.40.2\",RESOLUTION=640x360\n/live/s.m3u8?hls_ctx=1\n"
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AVERAGE-BANDWIDTH=1\na\n");
    wr_free(&w);
}

static void test_add_query(void **state)
{
    static const struct {
        unsigned which;
        const char *from, *to;
    } of[] = {
        { M3U8_URLS_MEDIA, "#EXTM3U\n#EXTINF:1,\na.ts\n", "#EXTM3U\n#EXTINF:1,\na.ts?i=1\n" },
        { M3U8_URLS_MEDIA, "a.ts?b=c\r\n\nhttp://x/b.ts", "a.ts?b=c&i=1\r\n\nhttp://x/b.ts?i=1\n" },
        { M3U8_URLS_MEDIA, "#EXT-X-MAP:URI=\"i.mp4\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n",
          "#EXT-X-MAP:URI=\"i.mp4?i=1\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n" },
        { M3U8_URLS_KEYS, "#EXT-X-MAP:URI=\"i.mp4\"\n#EXT-X-KEY:URI=\"k?t=1\",IV=0x1\na.ts\n",
          "#EXT-X-MAP:URI=\"i.mp4\"\n#EXT-X-KEY:URI=\"k?t=1&i=1\",IV=0x1\na.ts\n" },
        { M3U8_URLS_MEDIA | M3U8_URLS_KEYS,
          "#EXT-X-KEY:METHOD=NONE\n#EXT-X-PART:DURATION=1,URI=\"p\",INDEPENDENT=YES\n"
          "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"h\"\n#EXT-X-PART:URI=\"open\n# URI=\"no\"\n",
          "#EXT-X-KEY:METHOD=NONE\n#EXT-X-PART:DURATION=1,URI=\"p?i=1\",INDEPENDENT=YES\n"
          "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"h?i=1\"\n#EXT-X-PART:URI=\"open\n# URI=\"no\"\n" },
        { 0, "a.ts\n", "a.ts\n" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(of); i++) {
        struct wr w;

        wr_init(&w, 4096);
        m3u8_add_query(&w, of[i].from, strlen(of[i].from), "i=1", of[i].which);
        wr_u8(&w, 0);
        assert_string_equal((const char *)w.buf, of[i].to);
        wr_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_text), TEST(test_read_back), TEST(test_cut_at_every_byte),
        TEST(test_of_others), TEST(test_items), TEST(test_advance_parts), TEST(test_variants),
        TEST(test_seconds), TEST(test_master), TEST(test_add_query),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
