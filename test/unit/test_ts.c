/* SPDX-License-Identifier: MIT */
/* test_ts.c - MPEG transport streams, read back by the test's own demuxer. */
#include "format/ts/mux.h"
#include "format/ts/pes.h"
#include "media_configs.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 22 };

/* ---- the demuxer: one PID, checks all rules of TS */

struct demux {
    uint16_t pid;
    int cc;            /* the last one, -1: none yet */
    struct wr pes;     /* all bytes of all PES packets */
    uint32_t starts[400]; /* where each begins in them */
    size_t n;
    unsigned tables, pcrs;
    int64_t pcr;
    bool random_access;
    unsigned new_clocks; /* PCRs that do not continue the last one */
};

static void read_field(struct demux *d, const uint8_t *p)
{
    unsigned n = p[4];

    assert_in_range(n, 0, 183);
    if (n == 0)
        return;
    d->random_access |= (p[5] & 0x40) != 0;
    if (p[5] & 0x10) {
        int64_t pcr = (int64_t)p[6] << 25 | p[7] << 17 | p[8] << 9 | p[9] << 1 | p[10] >> 7;

        assert_true(n >= 7);
        if (p[5] & 0x80)
            d->new_clocks++;
        else
            assert_true(d->pcrs == 0 || pcr > d->pcr || d->pcr - pcr > (int64_t)1 << 32);
        d->pcrs++;
        d->pcr = pcr;
    }
    for (unsigned i = 1 + (p[5] & 0x10 ? 6 : 0); i < n; i++)
        assert_int_equal(p[5 + i], 0xff);
}

static void read_packet(struct demux *d, const uint8_t *p)
{
    uint16_t pid = (uint16_t)((p[1] & 0x1f) << 8 | p[2]);
    unsigned at = 4;

    assert_int_equal(p[0], 0x47);
    if (pid == 0 || pid == TS_PID_PMT) {
        unsigned n = (p[6] & 0x0fu) << 8 | p[7];

        d->tables += pid == TS_PID_PMT;
        assert_int_equal(ts_crc32(p + 5, 3 + n), 0); /* over the CRC too */
    }
    if (pid != d->pid)
        return;
    if (p[3] & 0x20) {
        read_field(d, p);
        at += 1u + p[4];
    }
    if (!(p[3] & 0x10)) {
        assert_int_equal(p[3] & 0x0f, d->cc & 0x0f);
        return;
    }
    if (d->cc >= 0)
        assert_int_equal(p[3] & 0x0f, (d->cc + 1) & 0x0f);
    d->cc = p[3] & 0x0f;
    if (p[1] & 0x40)
        d->starts[d->n++] = (uint32_t)d->pes.len;
    wr_bytes(&d->pes, p + at, TS_PACKET - at);
}

static struct demux demux(const struct wr *out, uint16_t pid)
{
    struct demux d = { .pid = pid, .cc = -1 };

    wr_init(&d.pes, LIMIT);
    assert_false(out->bad);
    assert_int_equal(out->len % TS_PACKET, 0);
    for (size_t at = 0; at < out->len; at += TS_PACKET)
        read_packet(&d, out->buf + at);
    d.starts[d.n] = (uint32_t)d.pes.len;
    return d;
}

static int64_t time_of(const uint8_t *p)
{
    return (int64_t)(p[0] >> 1 & 7) << 30 | p[1] << 22 | (p[2] >> 1) << 15 | p[3] << 7 | p[4] >> 1;
}

struct pes {
    int64_t pts, dts;
    const uint8_t *data;
    size_t size;
};

static struct pes pes_of(const struct demux *d, size_t i)
{
    const uint8_t *p = d->pes.buf + d->starts[i];
    size_t size = d->starts[i + 1] - d->starts[i], said = (size_t)p[4] << 8 | p[5];
    struct pes got = { .data = p + 9 + p[8], .size = size - 9 - p[8] };

    assert_memory_equal(p, "\0\0\1", 3);
    if (said)
        assert_int_equal(said, size - 6);
    got.pts = got.dts = time_of(p + 9);
    if (p[7] & 0x40)
        got.dts = time_of(p + 14);
    return got;
}

/* ---- muxing */

static void add(struct ts_mux *m, struct wr *out, struct frame f)
{
    assert_ok(ts_mux_frame(m, &f, out));
}

static void test_crc(void **state)
{
    (void)state;
    assert_int_equal(ts_crc32((const uint8_t *)"123456789", 9), 0x0376e6e7);
}

/* A slice of `size` bytes after its length of 4. */
static size_t slice(uint8_t *buf, uint8_t first, size_t size)
{
    buf[0] = 0;
    buf[1] = (uint8_t)(size >> 16);
    buf[2] = (uint8_t)(size >> 8);
    buf[3] = (uint8_t)size;
    for (size_t i = 0; i < size; i++)
        buf[4 + i] = (uint8_t)(i * 7 + 1);
    buf[4] = first;
    return 4 + size;
}

/* Every size around the ends of packets: the stuffing is right, and nothing is lost. */
static void test_every_size(void **state)
{
    static uint8_t buf[70000];

    (void)state;
    for (size_t size = 1; size < 67000; size += size < 800 ? 1 : 66111) {
        struct ts_mux m;
        struct demux d;
        struct pes pes;
        struct wr out;

        ts_mux_init(&m);
        wr_init(&out, LIMIT);
        add(&m, &out, media_config(AV_H264, MEDIA_BYTES(CONFIG_H264)));
        add(&m, &out, media_frame(AV_H264, false, 9000, buf, slice(buf, 0x41, size)));
        d = demux(&out, TS_PID_VIDEO);
        assert_int_equal(d.n, 1);
        assert_int_equal(d.pcrs, 1);
        assert_int_equal(d.pcr, 9000);
        assert_int_equal(d.tables, 1);
        pes = pes_of(&d, 0);
        assert_int_equal(pes.dts, 9000 + TS_DELAY);
        assert_int_equal(pes.size, 6 + 4 + size);
        assert_memory_equal(pes.data, "\0\0\0\1\x09\xf0\0\0\0\1\x41", 11);
        assert_memory_equal(pes.data + 10, buf + 4, size);
        wr_free(&d.pes);
        wr_free(&out);
        ts_mux_fini(&m);
    }
}

/* Output for a frame. */
static const struct {
    const char *name;
    enum av_codec codec;
    const char *config;
    size_t config_size;
    bool key;
    const char *frame;
    size_t frame_size;
    const char *out;
    size_t out_size;
} rows[] = {
#define B(s) s, sizeof(s) - 1
#define AUD "\0\0\0\1\x09\xf0"
#define SPS "\0\0\0\1\x67\x64\x00\x0c\xac\xd9\x41\x41\x9f\x9f\x01\x6c\x80\x00\x00\x03\x00\x80" \
    "\x00\x00\x19\x07\x8a\x14\xcb"
#define PPS "\0\0\0\1\x68\xeb\xe3\xcb\x22\xc0"
    { "H.264 key", AV_H264, B(CONFIG_H264), true, B("\0\0\0\2\x65\1"),
      B(AUD SPS PPS "\0\0\0\1\x65\1") },
    { "H.264 inter", AV_H264, B(CONFIG_H264), false, B("\0\0\0\2\x41\1"), B(AUD "\0\0\0\1\x41\1") },
    { "H.264 with a delimiter", AV_H264, B(CONFIG_H264), false, B("\0\0\0\2\x09\x30\0\0\0\2\x41\1"),
      B(AUD "\0\0\0\1\x41\1") },
    { "H.264 key that brings its own", AV_H264, B(CONFIG_H264), true,
      B("\0\0\0\2\x67\1\0\0\0\2\x68\1\0\0\0\2\x65\1"),
      B(AUD "\0\0\0\1\x67\1\0\0\0\1\x68\1\0\0\0\1\x65\1") },
    { "H.264 with an empty unit", AV_H264, B(CONFIG_H264), false, B("\0\0\0\0\0\0\0\2\x41\1"),
      B(AUD "\0\0\0\1\x41\1") },
    { "H.264 in Annex B", AV_H264, B(CONFIG_H264), false, B("\0\0\0\1\x06\5\0\0\1\x41\1"),
      B(AUD "\0\0\0\1\x06\5\0\0\0\1\x41\1") },
    { "H.265 key", AV_H265, B(CONFIG_H265), true, B("\0\0\0\3\x26\1\1"),
      B("\0\0\0\1\x46\1\x50\0\0\0\1\x40\x01\x0c\x01\0\0\0\1\x44\x01\xc1\0\0\0\1\x26\1\1") },
    { "H.265 inter", AV_H265, B(CONFIG_H265), false, B("\0\0\0\3\x02\1\1"),
      B("\0\0\0\1\x46\1\x50\0\0\0\1\x02\1\1") },
    { "AAC", AV_AAC, B(CONFIG_AAC), false, B("frame"), B("\xff\xf1\x4c\x80\x01\x9f\xfc" "frame") },
    { "MP3", AV_MP3, NULL, 0, false, B(MP3_FRAME "frame"), B(MP3_FRAME "frame") },
    { "Opus", AV_OPUS, B(CONFIG_OPUS), false, B("\xfc" "frame"), B("\x7f\xe0\x06\xfc" "frame") },
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool is_video = av_codec_row(rows[i].codec)->kind == AV_VIDEO;
        struct ts_mux m;
        struct demux d;
        struct pes pes;
        struct wr out;

        print_message("  %s\n", rows[i].name);
        ts_mux_init(&m);
        wr_init(&out, LIMIT);
        if (rows[i].config)
            add(&m, &out, media_config(rows[i].codec, (const uint8_t *)rows[i].config,
                                       rows[i].config_size));
        add(&m, &out, media_frame(rows[i].codec, rows[i].key, 90, (const uint8_t *)rows[i].frame,
                                  rows[i].frame_size));
        d = demux(&out, is_video ? TS_PID_VIDEO : TS_PID_AUDIO);
        assert_int_equal(d.n, 1);
        assert_int_equal(d.random_access, rows[i].key || !is_video);
        pes = pes_of(&d, 0);
        assert_int_equal(pes.size, rows[i].out_size);
        assert_memory_equal(pes.data, rows[i].out, rows[i].out_size);
        wr_free(&d.pes);
        wr_free(&out);
        ts_mux_fini(&m);
    }
}

/* Rejected frames: the muxer continues, and nothing of them is in the stream. */
static const struct {
    const char *name;
    enum av_codec codec;
    bool config;
    const char *bytes;
    size_t size;
    enum err_code code;
} bad[] = {
    { "AV1", AV_AV1, true, B(CONFIG_AV1), ERR_UNSUPPORTED },
    { "FLAC", AV_FLAC, true, B(CONFIG_FLAC), ERR_UNSUPPORTED },
    { "AAC before its configuration", AV_AAC, false, B("x"), ERR_CODEC },
    { "a broken avcC", AV_H264, true, B("\x01\x64"), ERR_CODEC },
    { "a broken hvcC", AV_H265, true, B("\x01\x64"), ERR_CODEC },
    { "no NAL units", AV_H264, false, B("\0\0\0\x09\x41"), ERR_CODEC },
    { "empty NAL units only", AV_H264, false, B("\0\0\0\0"), ERR_CODEC },
    { "no MP3", AV_MP3, false, B("xxxxxx"), ERR_CODEC },
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct ts_mux m;
        struct wr out;
        struct frame f = media_frame(bad[i].codec, true, 0, (const uint8_t *)bad[i].bytes,
                                     bad[i].size);

        print_message("  %s\n", bad[i].name);
        f.config = bad[i].config;
        ts_mux_init(&m);
        wr_init(&out, LIMIT);
        assert_err(ts_mux_frame(&m, &f, &out), bad[i].code);
        assert_int_equal(out.len, 0);
        add(&m, &out, media_config(AV_H264, MEDIA_BYTES(CONFIG_H264)));
        add(&m, &out, media_frame(AV_H264, true, 0, MEDIA_BYTES("\0\0\0\2\x65\1")));
        assert_true(out.len > 0);
        wr_free(&out);
        ts_mux_fini(&m);
    }
}

/* Audio frames share a PES until audio_span; all are there after a flush, in order. */
static void test_audio_together(void **state)
{
    struct ts_mux m;
    struct demux d;
    struct wr out;
    size_t total = 0;

    (void)state;
    ts_mux_init(&m);
    wr_init(&out, LIMIT);
    m.audio_span = AV_MS(100);
    add(&m, &out, media_config(AV_H264, MEDIA_BYTES(CONFIG_H264)));
    add(&m, &out, media_config(AV_AAC, MEDIA_BYTES(CONFIG_AAC)));
    for (int i = 0; i < 20; i++) {
        uint8_t byte = (uint8_t)i;

        add(&m, &out, media_frame(AV_AAC, false, i * 1920, &byte, 1));
    }
    ts_mux_flush(&m, &out);
    ts_mux_flush(&m, &out);
    d = demux(&out, TS_PID_AUDIO);
    assert_int_equal(d.n, 4);
    for (size_t i = 0; i < d.n; i++) {
        struct pes pes = pes_of(&d, i);

        assert_int_equal(pes.pts, (int64_t)i * 5 * 1920 + TS_DELAY);
        assert_int_equal(pes.size, (i < 3 ? 5 : 5) * 8);
        for (size_t k = 7; k < pes.size; k += 8)
            assert_int_equal(pes.data[k], total++);
    }
    wr_free(&d.pes);
    d = demux(&out, TS_PID_VIDEO); /* no video comes: the clock is sent without it */
    assert_in_range(d.pcrs, 3, 4);
    assert_int_equal(d.n, 0);
    wr_free(&d.pes);
    wr_free(&out);
    ts_mux_fini(&m);
}

/* In ms: timestamps of frames of 1024 samples at 44.1 kHz. */
static int64_t stamp_looped(int n)
{
    return n * 1024LL * 1000 / 44100 - 13 * (n / 50);
}
static int64_t stamp_equal(int n)
{
    return (n - n % 3) * 1024LL * 1000 / 44100;
}
static int64_t stamp_gaps(int n)
{
    return n * 1024LL * 1000 / 44100 + 2000 * (n / 50);
}
static int64_t stamp_jitter(int n)
{
    return n * 1024LL * 1000 / 44100 + n * 7919 % 40;
}

/* The reader's view: a PES has the time of its first frame, the others follow. No time decreases,
 * within a PES or from one to the next, and none is far from its timestamp. */
static void test_audio_times(void **state)
{
    static int64_t (*const stamps[])(int) = { stamp_looped, stamp_equal, stamp_gaps, stamp_jitter };
    enum { FRAMES = 300, LENGTH = 2089 /* 1/90000 s */ };

    (void)state;
    for (size_t k = 0; k < COUNT(stamps) * 3; k++) {
        struct ts_mux m;
        struct wr out;
        struct demux d;
        int64_t last = -1;
        int n = 0;

        ts_mux_init(&m);
        wr_init(&out, LIMIT);
        m.audio_span = AV_MS(k % 3 * 50);
        add(&m, &out, media_config(AV_AAC, MEDIA_BYTES("\x12\x10")));
        for (int i = 0; i < FRAMES; i++)
            add(&m, &out, media_frame(AV_AAC, false, AV_MS(stamps[k / 3](i)), MEDIA_BYTES("x")));
        ts_mux_flush(&m, &out);
        d = demux(&out, TS_PID_AUDIO);
        for (size_t i = 0; i < d.n; i++) {
            struct pes pes = pes_of(&d, i);
            int64_t at = pes.pts - TS_DELAY;

            for (size_t b = 0; b < pes.size; b += 8, at += LENGTH, n++) {
                int64_t off = at - AV_MS(stamps[k / 3](n));

                assert_true(at > last);
                assert_in_range(off + AV_MS(60), 0, AV_MS(120));
                last = at;
            }
        }
        assert_int_equal(n, FRAMES);
        assert_true(m.audio_span == 0 || d.n < FRAMES * 3 / 4);
        wr_free(&d.pes);
        wr_free(&out);
        ts_mux_fini(&m);
    }
}

/* Frames with equal and decreasing times are put in sequence; a jump is marked as such. */
static void test_video_times(void **state)
{
    static const struct {
        int64_t dts, cts, want;
        bool jumps;
    } frames[] = {
        { 9000, 0, 9000, false },     { 9000, 0, 9001, false },      { 8000, 0, 9002, false },
        { 8000, 3600, 9003, false },  { 12600, 3600, 12600, false }, { 900000, 0, 900000, false },
        { 450000, 0, 450000, true },  { 450000, 0, 450001, false },  { 0, 7200, 0, true },
    };
    unsigned jumps = 0;
    struct ts_mux m;
    struct demux d;
    struct wr out;

    (void)state;
    ts_mux_init(&m);
    wr_init(&out, LIMIT);
    add(&m, &out, media_config(AV_H264, MEDIA_BYTES(CONFIG_H264)));
    for (size_t i = 0; i < COUNT(frames); i++) {
        struct frame f = media_frame(AV_H264, false, frames[i].dts, MEDIA_BYTES("\0\0\0\2\x41\1"));

        f.pts += frames[i].cts;
        add(&m, &out, f);
        jumps += frames[i].jumps;
    }
    d = demux(&out, TS_PID_VIDEO);
    assert_int_equal(d.new_clocks, jumps);
    for (size_t i = 0; i < COUNT(frames); i++) {
        struct pes pes = pes_of(&d, i);

        assert_int_equal(pes.dts, frames[i].want + TS_DELAY);
        assert_true(pes.pts >= pes.dts);
        assert_true(pes.pts == pes.dts || pes.pts == frames[i].dts + frames[i].cts + TS_DELAY);
    }
    wr_free(&d.pes);
    wr_free(&out);
    ts_mux_fini(&m);
}

/* 33 bits are 26.5 hours: times wrap, the tables stay. */
static void test_wrap(void **state)
{
    const int64_t wrap = (int64_t)1 << 33;
    struct ts_mux m;
    struct demux d;
    struct pes pes;
    struct wr out;

    (void)state;
    ts_mux_init(&m);
    wr_init(&out, LIMIT);
    add(&m, &out, media_config(AV_H264, MEDIA_BYTES(CONFIG_H264)));
    for (int64_t t = wrap - 90000; t < wrap + 90000; t += 9000) {
        struct frame f = media_frame(AV_H264, false, t, MEDIA_BYTES("\0\0\0\2\x41\1"));

        f.pts += 3600;
        add(&m, &out, f);
    }
    d = demux(&out, TS_PID_VIDEO);
    assert_int_equal(d.n, 20);
    assert_in_range(d.tables, 4, 5);
    for (size_t i = 0; i < d.n; i++) {
        int64_t t = wrap - 90000 + (int64_t)i * 9000;

        pes = pes_of(&d, i);
        assert_int_equal(pes.dts, (t + TS_DELAY) % wrap);
        assert_int_equal(pes.pts, (t + TS_DELAY + 3600) % wrap);
    }
    wr_free(&d.pes);
    wr_free(&out);
    ts_mux_fini(&m);
}

/* A codec that changes makes new tables with another version. */
static void test_codec_changes(void **state)
{
    struct ts_mux m;
    struct demux d;
    struct wr out;

    (void)state;
    ts_mux_init(&m);
    wr_init(&out, LIMIT);
    m.audio_span = AV_MS(100);
    add(&m, &out, media_config(AV_AAC, MEDIA_BYTES(CONFIG_AAC)));
    add(&m, &out, media_frame(AV_AAC, false, 0, MEDIA_BYTES("x")));
    add(&m, &out, media_frame(AV_MP3, false, 1920, MEDIA_BYTES(MP3_FRAME)));
    ts_mux_flush(&m, &out);
    d = demux(&out, TS_PID_AUDIO);
    assert_int_equal(d.n, 2);
    assert_int_equal(d.tables, 2);
    assert_int_equal(pes_of(&d, 0).size, 8);
    assert_int_equal(pes_of(&d, 1).size, 4);
    wr_free(&d.pes);
    wr_free(&out);
    ts_mux_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_crc), TEST(test_every_size), TEST(test_rows), TEST(test_refused),
        TEST(test_audio_together), TEST(test_audio_times), TEST(test_video_times), TEST(test_wrap), TEST(test_codec_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
