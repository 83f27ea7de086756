/* SPDX-License-Identifier: MIT */
/* test_mpd.c - MPDs: written, and parts of them read back. */
#include "format/playlist/mpd.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct span {
    uint64_t begin, duration;
};

static const struct {
    const char *name;
    size_t n;
    struct span v[5];
    const char *text; /* with | for the start of each S */
} timelines[] = {
    { "one", 1, { { 0, 180000 } }, "|t=\"0\" d=\"180000\"" },
    { "the same again", 3, { { 10, 5 }, { 15, 5 }, { 20, 5 } }, "|t=\"10\" d=\"5\" r=\"2\"" },
    { "each another", 3, { { 2513, 86016 }, { 88529, 88064 }, { 176593, 89088 } },
      "|t=\"2513\" d=\"86016\"|d=\"88064\"|d=\"89088\"" },
    { "a hole", 3, { { 0, 5 }, { 5, 5 }, { 20, 5 } }, "|t=\"0\" d=\"5\" r=\"1\"|t=\"20\" d=\"5\"" },
    { "one tick back", 2, { { 0, 5 }, { 4, 5 } }, "|t=\"0\" d=\"5\"|t=\"4\" d=\"5\"" },
    { "runs", 5, { { 0, 5 }, { 5, 5 }, { 10, 6 }, { 16, 6 }, { 22, 5 } },
      "|t=\"0\" d=\"5\" r=\"1\"|d=\"6\" r=\"1\"|d=\"5\"" },
};

static void collect(const char *text, char *out, size_t size)
{
    size_t n = 0;

    while ((text = strstr(text, "<S "))) {
        const char *end = strstr(text, "/>");

        assert_non_null(end);
        assert_true(n + (size_t)(end - text) < size);
        out[n++] = '|';
        text += 3;
        memcpy(out + n, text, (size_t)(end - text));
        n += (size_t)(end - text);
    }
    out[n] = '\0';
}

static void test_timelines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(timelines); i++) {
        struct mpd_track t = { .video = true, .timescale = 90000, .init = "i", .media = "m-" };
        struct mpd_writer m;
        char got[400];
        struct wr w;

        print_message("  %s\n", timelines[i].name);
        wr_init(&w, 1 << 16);
        mpd_begin(&m, &w, &(struct mpd){ 0 });
        mpd_set(&m, &t);
        for (size_t k = 0; k < timelines[i].n; k++)
            mpd_segment(&m, timelines[i].v[k].begin, timelines[i].v[k].duration);
        mpd_set_end(&m, &t);
        wr_u8(&w, 0);
        collect((const char *)w.buf, got, sizeof(got));
        assert_string_equal(got, timelines[i].text);
        wr_free(&w);
    }
}

static const struct mpd_track video = {
    .video = true, .codecs = "avc1.64001f", .timescale = 90000, .bandwidth = 900000, .width = 1280,
    .height = 720, .fps = 29.97, .init = "s/video-init-7.mp4", .media = "s/video-7-",
};
static const struct mpd_track audio = {
    .codecs = "mp4a.40.2", .timescale = 44100, .bandwidth = 64000, .rate = 44100, .channels = 2,
    .init = "a&\"<$ #.mp4", .media = "a-",
};

static const char whole[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" "
    "profiles=\"urn:mpeg:dash:profile:isoff-live:2011\" type=\"dynamic\"\n"
    "     availabilityStartTime=\"2023-11-14T22:13:20.123Z\" "
    "publishTime=\"2023-11-14T22:14:20.000Z\"\n"
    "     minimumUpdatePeriod=\"PT5.000S\" timeShiftBufferDepth=\"PT50.000S\"\n"
    "     maxSegmentDuration=\"PT2.040S\" minBufferTime=\"PT2.040S\" "
    "suggestedPresentationDelay=\"PT9.080S\">\n"
    "  <Period id=\"1700000000123\" start=\"PT0.000S\">\n"
    "    <AdaptationSet id=\"1\" contentType=\"video\" mimeType=\"video/mp4\" "
    "segmentAlignment=\"true\" startWithSAP=\"1\">\n"
    "      <SegmentTemplate timescale=\"90000\" initialization=\"s/video-init-7.mp4\" "
    "media=\"s/video-7-$Time$.m4s\">\n"
    "        <SegmentTimeline>\n          <S t=\"0\" d=\"180000\"/>\n"
    "        </SegmentTimeline>\n      </SegmentTemplate>\n"
    "      <Representation id=\"video\" bandwidth=\"900000\" codecs=\"avc1.64001f\" width=\"1280\" "
    "height=\"720\" frameRate=\"30000/1001\"/>\n    </AdaptationSet>\n"
    "    <AdaptationSet id=\"2\" contentType=\"audio\" mimeType=\"audio/mp4\" "
    "segmentAlignment=\"true\" startWithSAP=\"1\">\n"
    "      <AudioChannelConfiguration "
    "schemeIdUri=\"urn:mpeg:dash:23003:3:audio_channel_configuration:2011\" value=\"2\"/>\n"
    "      <SegmentTemplate timescale=\"44100\" initialization=\"a&amp;&quot;&lt;$$%20%23.mp4\" "
    "media=\"a-$Time$.m4s\">\n"
    "        <SegmentTimeline>\n          <S t=\"3\" d=\"88064\"/>\n"
    "        </SegmentTimeline>\n      </SegmentTemplate>\n"
    "      <Representation id=\"audio\" bandwidth=\"64000\" codecs=\"mp4a.40.2\" "
    "audioSamplingRate=\"44100\"/>\n    </AdaptationSet>\n"
    "  </Period>\n"
    "  <Period id=\"1700000060000\" start=\"PT59.877S\">\n  </Period>\n"
    "</MPD>\n";

static void write_whole(struct wr *w)
{
    const struct mpd mpd = { .available = 1700000000123, .published = 1700000060000, .update = 5000,
                             .shift = 50000, .delay = 9080, .longest = 2040 };
    struct mpd_writer m;

    wr_init(w, 1 << 16);
    mpd_begin(&m, w, &mpd);
    mpd_period(&m, 1700000000123, 0);
    mpd_set(&m, &video);
    mpd_segment(&m, 0, 180000);
    mpd_set_end(&m, &video);
    mpd_set(&m, &audio);
    mpd_segment(&m, 3, 88064);
    mpd_set_end(&m, &audio);
    mpd_period_end(&m);
    mpd_period(&m, 1700000060000, 59877);
    mpd_period_end(&m);
    mpd_end(&m);
}

static void test_text(void **state)
{
    struct wr w;

    (void)state;
    write_whole(&w);
    wr_u8(&w, 0);
    assert_string_equal((const char *)w.buf, whole);
    wr_free(&w);
}

static void test_time(void **state)
{
    const char *with = "  <UTCTiming schemeIdUri=\"urn:mpeg:dash:utc:direct:2014\" "
                       "value=\"2023-11-14T22:13:21.005Z\"/>\n</MPD>\n";
    struct wr w;

    (void)state;
    wr_init(&w, 1 << 16);
    mpd_put_personal(&w, whole, strlen(whole), &(struct mpd_personal){ .now = 1700000001005 });
    assert_int_equal(w.len, strlen(whole) - 7 + strlen(with));
    assert_memory_equal(w.buf, whole, strlen(whole) - 7);
    assert_memory_equal(w.buf + strlen(whole) - 7, with, strlen(with));
    wr_free(&w);
    wr_init(&w, 64);
    mpd_put_personal(&w, "</MPD>", 6, &(struct mpd_personal){ 0 }); /* not ours: unchanged */
    assert_int_equal(w.len, 6);
    wr_free(&w);
}

static void test_personal(void **state)
{
    const struct mpd_personal p = { .query = "i=1", .location = "s.mpd?i=1&t=<\"\xc3>" };
    const char *head = strstr(whole, "  <Period "), *at;
    char text[sizeof(whole) * 2];
    unsigned n = 0;
    struct wr w;

    (void)state;
    wr_init(&w, 1 << 16);
    mpd_put_personal(&w, whole, strlen(whole), &p);
    wr_u8(&w, 0);
    assert_non_null(head);
    assert_memory_equal(w.buf, whole, (size_t)(head - whole));
    at = (const char *)w.buf + (head - whole);
    assert_true(strncmp(at, "  <Location>s.mpd?i=1&amp;t=%3C%22%C3%3E</Location>\n  <Period ", 62) == 0);
    for (at = (const char *)w.buf; (at = strstr(at, "?i=1\"")); at += 5)
        n++;
    assert_int_equal(n, 4); /* an initialization and media of two tracks */
    assert_non_null(strstr((const char *)w.buf, "initialization=\"s/video-init-7.mp4?i=1\""));
    assert_non_null(strstr((const char *)w.buf, "$Time$.m4s?i=1\">"));
    wr_free(&w);
    (void)snprintf(text, sizeof(text), "%s", whole);
    for (size_t size = 0; size <= strlen(whole); size++) { /* cut anywhere, nothing is lost */
        wr_init(&w, 1 << 16);
        mpd_put_personal(&w, text, size, &p);
        assert_int_equal(w.bad, ERR_OK);
        assert_true(w.len >= size);
        wr_free(&w);
    }
}

/* The parts of a whole MPD in their order; if it ends anywhere, all of it is in pieces. */
static void test_cuts(void **state)
{
    static const enum mpd_place want[] = { MPD_LOCATION, MPD_QUERY, MPD_QUERY, MPD_QUERY,
                                           MPD_QUERY, MPD_TIME, MPD_NOTHING };
    struct mpd_cut c;
    size_t n = 0;

    (void)state;
    for (mpd_cut_begin(&c, whole, strlen(whole)); mpd_cut_next(&c); n++) {
        assert_true(n < COUNT(want));
        assert_int_equal(c.place, want[n]);
    }
    assert_int_equal(n, COUNT(want));
    for (size_t size = 0; size <= strlen(whole); size++) {
        const char *at = whole;

        for (mpd_cut_begin(&c, whole, size); mpd_cut_next(&c); at += c.size)
            assert_ptr_equal(c.text, at);
        assert_ptr_equal(at, whole + size);
        assert_int_equal(c.place, MPD_NOTHING);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_timelines), TEST(test_text), TEST(test_time), TEST(test_personal),
        TEST(test_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
