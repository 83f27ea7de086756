/* SPDX-License-Identifier: MIT */
/* test_mp4.c - fragmented MP4, its boxes read back by the test itself. */
#include "base/rd.h"
#include "format/mp4/frag.h"
#include "media_configs.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 22 };
#define B(s) (const uint8_t *)(s), sizeof(s) - 1

/* ---- reading boxes */

static bool holds_boxes(const uint8_t *type)
{
    static const char *const names[] = { "moov", "trak", "mdia", "minf", "stbl", "dinf", "mvex",
                                         "moof", "traf", "edts" };

    for (size_t i = 0; i < COUNT(names); i++) {
        if (memcmp(type, names[i], 4) == 0)
            return true;
    }
    return false;
}

/* Every box ends where its parent says, down to the last byte. */
static void check_boxes(const uint8_t *p, size_t size)
{
    while (size > 0) {
        uint32_t n;

        assert_true(size >= 8);
        n = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        assert_in_range(n, 8, size);
        if (holds_boxes(p + 4))
            check_boxes(p + 8, n - 8);
        p += n;
        size -= n;
    }
}

/* The body of the n-th box of that path ("moov/trak/mdia"); an empty reader if there is none. */
static struct rd walk(struct rd in, const char *path, unsigned *n)
{
    while (rd_left(&in) >= 8) {
        uint32_t size = rd_u32(&in);
        const uint8_t *type = rd_take(&in, 4);
        struct rd body = rd_sub(&in, size - 8);

        if (memcmp(type, path, 4) != 0)
            continue;
        if (path[4] == '\0' && (*n)-- == 0)
            return body;
        if (path[4] == '/') {
            struct rd r = walk(body, path + 5, n);

            if (rd_left(&r) > 0)
                return r;
        }
    }
    return rd_init(NULL, 0);
}

static struct rd find(struct rd in, const char *path, unsigned n)
{
    return walk(in, path, &n);
}

static struct rd all(const struct wr *w)
{
    assert_false(w->bad);
    return rd_init(w->buf, w->len);
}

/* ---- muxing */

static void add(struct mp4_frag *m, struct frame f)
{
    bool changed;

    assert_ok(mp4_frag_add(m, &f, &changed));
}

static struct frame config_of(enum av_codec codec)
{
    switch (codec) {
    case AV_H264: return media_config(codec, MEDIA_BYTES(CONFIG_H264));
    case AV_H265: return media_config(codec, MEDIA_BYTES(CONFIG_H265));
    case AV_AV1: return media_config(codec, MEDIA_BYTES(CONFIG_AV1));
    case AV_VP9: return media_config(codec, MEDIA_BYTES(CONFIG_VP9));
    case AV_AAC: return media_config(codec, MEDIA_BYTES(CONFIG_AAC));
    case AV_OPUS: return media_config(codec, MEDIA_BYTES(CONFIG_OPUS));
    default: return media_config(codec, MEDIA_BYTES(CONFIG_FLAC));
    }
}

static const struct {
    enum av_codec codec;
    const char *entry;  /* the path below stsd is not walked: the name of the sample entry is searched */
    const char *name;   /* RFC 6381 */
    uint32_t scale;
    const uint8_t *config; /* bytes that the file must contain */
    size_t size;
} codecs[] = {
    { AV_H264, "avc1", "avc1.64000c", 90000, B("avcC" CONFIG_H264) },
    { AV_H265, "hvc1", "hvc1.1.6.L90.90", 90000, B("hvcC" CONFIG_H265) },
    { AV_AV1, "av01", "av01.0.00M.08", 90000, B("av1C" CONFIG_AV1) },
    { AV_VP9, "vp09", "vp09.00.10.08", 90000, B("vpcC" CONFIG_VP9) },
    { AV_AAC, "mp4a", "mp4a.40.2", 48000,
      B("esds\0\0\0\0\x03\x19\0\2\0\x04\x11\x40\x15\0\0\0\0\0\0\0\0\0\0\0\x05\2" CONFIG_AAC
        "\x06\x01\x02") },
    { AV_MP3, "mp4a", "mp4a.40.34", 48000,
      B("esds\0\0\0\0\x03\x15\0\2\0\x04\x0d\x6b\x15\0\0\0\0\0\0\0\0\0\0\0\x06\x01\x02") },
    { AV_OPUS, "Opus", "opus", 48000, B("dOps\0\x02\x01\x38\0\0\xbb\x80\0\0\0") },
    { AV_FLAC, "fLaC", "fLaC", 48000, B("dfLa\0\0\0\0\x80\0\0\x22\x12\0") },
};

static void test_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++) {
        bool is_video = av_codec_row(codecs[i].codec)->kind == AV_VIDEO;
        struct mp4_frag m;
        struct wr out;
        struct rd r;
        char name[32];

        print_message("  %s\n", codecs[i].name);
        mp4_frag_init(&m, LIMIT, NULL);
        wr_init(&out, LIMIT);
        if (codecs[i].codec == AV_MP3)
            add(&m, media_frame(AV_MP3, false, 0, MEDIA_BYTES(MP3_FRAME)));
        else
            add(&m, config_of(codecs[i].codec));
        mp4_frag_header(&m, &out);
        check_boxes(out.buf, out.len);
        assert_string_equal(mp4_track_name(is_video ? &m.video.track : &m.audio.track, name,
                                           sizeof(name)), codecs[i].name);
        r = find(all(&out), "moov/trak/mdia/mdhd", 0);
        (void)rd_take(&r, 12);
        assert_int_equal(rd_u32(&r), codecs[i].scale);
        r = find(all(&out), "moov/trak/mdia/minf/stbl/stsd", 0);
        assert_memory_equal(r.p + 12, codecs[i].entry, 4);
        assert_non_null(memmem(r.p, rd_left(&r), codecs[i].config, codecs[i].size));
        r = find(all(&out), "moov/trak", 1);
        assert_int_equal(rd_left(&r), 0);
        wr_free(&out);
        mp4_frag_fini(&m);
    }
}

/* One track of the first fragment, read back. */
struct got {
    uint64_t begin;
    unsigned n;
    uint32_t duration[64], size[64], flags[64];
    int32_t cts[64];
    const uint8_t *data;
};

static struct got read_traf(const struct wr *w, unsigned which)
{
    struct rd r = find(all(w), "moof/traf/tfhd", which), moof = find(all(w), "moof", 0);
    uint32_t flags = rd_u32(&r), usual = 0, offset;
    struct got g = { 0 };

    (void)rd_u32(&r);
    if (flags & 8)
        usual = rd_u32(&r);
    r = find(all(w), "moof/traf/tfdt", which);
    assert_int_equal(rd_u32(&r), 0x01000000);
    g.begin = rd_u64(&r);
    r = find(all(w), "moof/traf/trun", which);
    flags = rd_u32(&r);
    g.n = rd_u32(&r);
    assert_in_range(g.n, 1, 64);
    offset = rd_u32(&r);
    for (unsigned i = 0; i < g.n; i++) {
        g.duration[i] = flags & 0x100 ? rd_u32(&r) : usual;
        g.size[i] = rd_u32(&r);
        g.flags[i] = flags & 0x400 ? rd_u32(&r) : 0x02000000;
        g.cts[i] = flags & 0x800 ? (int32_t)rd_u32(&r) : 0;
    }
    assert_int_equal(rd_left(&r), 0);
    g.data = moof.p - 8 + offset;
    return g;
}

static void join(struct wr *out, struct blocks *b)
{
    for (const struct block *p = blocks_begin(b); p; p = p->next)
        wr_bytes(out, p->data, p->len);
    blocks_free(b);
}

/* The segment in one piece. */
static void cut(struct mp4_frag *m, int64_t dts, bool styp, struct wr *out)
{
    struct blocks b;

    blocks_init(&b, LIMIT, NULL);
    mp4_frag_cut(m, dts, styp, &b);
    join(out, &b);
}

static void test_samples(void **state)
{
    struct mp4_frag m;
    struct wr out;
    struct got v, a;
    struct frame f;

    (void)state;
    mp4_frag_init(&m, LIMIT, NULL);
    wr_init(&out, LIMIT);
    m.origin = 90000;
    add(&m, config_of(AV_H264));
    add(&m, config_of(AV_AAC));
    for (int i = 0; i < 3; i++) {
        f = media_frame(AV_H264, i == 0, 90000 + i * 3000, MEDIA_BYTES("\0\0\0\2\x65\1"));
        f.pts = f.dts + (i == 1 ? 6000 : i == 2 ? -3000 : 0);
        add(&m, f);
        add(&m, media_frame(AV_AAC, false, 90000 + i * 1890, MEDIA_BYTES("sound"))); /* 21 ms */
    }
    cut(&m, 90000 + 4 * 3000, true, &out);
    check_boxes(out.buf, out.len);
    v = read_traf(&out, 0);
    a = read_traf(&out, 1);
    assert_int_equal(v.begin, 0);
    assert_int_equal(v.n, 3);
    assert_int_equal(v.duration[0], 3000);
    assert_int_equal(v.duration[2], 6000);
    assert_int_equal(v.cts[1], 6000);
    assert_int_equal(v.cts[2], -3000);
    assert_int_equal(v.flags[0], 0x02000000);
    assert_int_equal(v.flags[1], 0x01010000);
    assert_memory_equal(v.data, "\0\0\0\2\x65\1\0\0\0\2\x65\1", 12);
    assert_int_equal(a.n, 3);
    assert_int_equal(a.duration[2], 1024); /* counted, not 21 ms */
    assert_memory_equal(a.data, "soundsoundsound", 15);
    /* the next one continues where this one ended */
    wr_free(&out);
    add(&m, media_frame(AV_AAC, false, 90000 + 3 * 1890, MEDIA_BYTES("x")));
    cut(&m, 0, false, &out);
    a = read_traf(&out, 0);
    assert_int_equal(a.begin, 3 * 1024);
    wr_free(&out);
    cut(&m, 0, false, &out);
    assert_int_equal(out.len, 0);
    mp4_frag_fini(&m);
}

/* A file for each track, with the content of one from mp4_frag_cut(). */
static void test_one_track(void **state)
{
    static const enum av_kind kinds[] = { AV_VIDEO, AV_AUDIO };
    struct mp4_frag m;
    struct blocks b;
    struct wr out;

    (void)state;
    mp4_frag_init(&m, LIMIT, NULL);
    add(&m, config_of(AV_H264));
    add(&m, config_of(AV_AAC));
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct rd r;

        wr_init(&out, LIMIT);
        mp4_frag_header_one(&m, kinds[k], &out);
        check_boxes(out.buf, out.len);
        r = find(all(&out), "moov/trak", 1);
        assert_int_equal(rd_left(&r), 0);
        r = find(all(&out), "moov/trak/tkhd", 0);
        (void)rd_take(&r, 12);
        assert_int_equal(rd_u32(&r), k + 1);
        wr_free(&out);
    }
    m.origin = 9000;
    for (int i = 0; i < 3; i++) {
        add(&m, media_frame(AV_H264, i == 0, 8000 + i * 3000, MEDIA_BYTES("\0\0\0\1\x65")));
        add(&m, media_frame(AV_AAC, false, 12000 + i * 1890, MEDIA_BYTES("sound")));
    }
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct mp4_extent x;
        struct got g;

        blocks_init(&b, LIMIT, NULL);
        x = mp4_frag_cut_one(&m, kinds[k], 17000, &b);
        join(&out, &b);
        check_boxes(out.buf, out.len);
        g = read_traf(&out, 0);
        assert_int_equal(g.n, 3);
        assert_int_equal(x.begin, k ? 1600 : 0); /* nothing begins before 0 */
        assert_int_equal(x.begin, g.begin);
        assert_int_equal(x.duration, k ? 3 * 1024 : 8000);
        assert_memory_equal(g.data, k ? "soundsound" : "\0\0\0\1\x65\0\0\0\1\x65", 10);
        wr_free(&out);
        (void)mp4_frag_cut_one(&m, kinds[k], 17000, &b);
        assert_int_equal(blocks_len(&b), 0);
    }
    mp4_frag_fini(&m);
}

/* The audio clock: rows of timestamps and their results. */
static void test_audio_clock(void **state)
{
    static const struct {
        const char *name;
        int64_t step;      /* 1/90000 s between stamps, after `from` */
        int from;          /* frame at which a jump of `jump` comes */
        int64_t jump;
        int64_t expect;    /* ticks of frame 100 */
        int64_t slack;
    } clocks[] = {
        { "exact", 1920, 0, 0, 102400, 0 },
        { "rounded to 21 ms, sometimes 22", 1920, 0, 40, 102400, 0 },
        { "a jump ahead", 1920, 50, 90000, 102400 + 48000, 0 },
        { "a jump back", 1920, 50, -90000, 102400 - 48000, 0 },
        { "late by 10 ms stays", 1920, 50, 900, 102400, 0 },
        { "late by 20 ms is worked off", 1920, 50, 1800, 102400 + 960, 560 },
        { "late by 40 ms is taken", 1920, 50, 3600, 102400 + 1920, 0 },
        { "a clock that is fast", 1930, 0, 0, 102933, 1000 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(clocks); i++) {
        struct audio_clock c = { .rate = 48000 };
        int64_t at = 0, before = -1;

        print_message("  %s\n", clocks[i].name);
        for (int k = 0; k <= 100; k++) {
            int64_t dts = k * clocks[i].step;

            if (clocks[i].from && k >= clocks[i].from)
                dts += clocks[i].jump;
            else if (!clocks[i].from && k % 2)
                dts += clocks[i].jump;
            at = audio_clock_next(&c, dts < 0 ? 0 : dts, 1024);
            assert_true(clocks[i].jump < 0 || at > before);
            before = at;
        }
        assert_true(at >= clocks[i].expect - clocks[i].slack &&
                    at <= clocks[i].expect + clocks[i].slack);
    }
}

static void test_samples_of_audio(void **state)
{
    static const struct {
        const char *name;
        enum av_codec codec;
        const uint8_t *data;
        size_t size;
        uint32_t samples, rate; /* 0: the frame has none */
    } frames[] = {
        { "AAC", AV_AAC, B("x"), 1024, 0 },
        { "MP3", AV_MP3, B(MP3_FRAME), 1152, 48000 },
        { "no MP3", AV_MP3, B("xxxx"), 0, 0 },
        { "Opus, CELT 20 ms", AV_OPUS, B("\xfc"), 960, 48000 },
        { "Opus, two of 20 ms", AV_OPUS, B("\xfd"), 1920, 48000 },
        { "Opus, three of 20 ms", AV_OPUS, B("\xff\x03"), 2880, 48000 },
        { "Opus, cut short", AV_OPUS, B("\xff"), 0, 48000 },
        { "Opus, over 120 ms", AV_OPUS, B("\xff\x3f"), 0, 48000 },
        { "Opus, SILK 60 ms", AV_OPUS, B("\x18"), 2880, 48000 },
        { "Opus, hybrid 10 ms", AV_OPUS, B("\x60"), 480, 48000 },
        { "FLAC", AV_FLAC, B("x"), 0, 0 },
    };
    uint32_t rate;

    (void)state;
    for (size_t i = 0; i < COUNT(frames); i++) {
        print_message("  %s\n", frames[i].name);
        rate = 0;
        assert_int_equal(av_codec_samples(frames[i].codec, frames[i].data, frames[i].size, &rate),
                         frames[i].samples);
        assert_int_equal(rate, frames[i].rate);
    }
}

static void test_changes(void **state)
{
    struct frame other = media_config(AV_AAC, MEDIA_BYTES("\x12\x10"));
    struct frame vp9 = media_frame(AV_VP9, true, 0, MEDIA_BYTES(VP9_KEY));
    struct mp4_frag m;
    struct frame f;
    bool changed;

    (void)state;
    mp4_frag_init(&m, LIMIT, NULL);
    f = config_of(AV_AAC);
    assert_true(mp4_frag_changes(&m, &f));
    assert_ok(mp4_frag_add(&m, &f, &changed));
    assert_true(changed);
    assert_false(mp4_frag_changes(&m, &f));
    assert_ok(mp4_frag_add(&m, &f, &changed));
    assert_false(changed);
    assert_true(mp4_frag_changes(&m, &other));
    f = media_config(AV_AAC, MEDIA_BYTES("\x01"));
    assert_err(mp4_frag_add(&m, &f, &changed), ERR_CODEC); /* the old one stays */
    assert_int_equal(m.audio.track.timescale, 48000);
    add(&m, config_of(AV_VP9));
    add(&m, vp9);
    assert_int_equal(m.video.track.info.width, 320);
    assert_int_equal(m.video.track.info.height, 180);
    assert_false(mp4_frag_changes(&m, &vp9));
    vp9 = media_frame(AV_VP9, true, 0, MEDIA_BYTES("\x82\x49\x83\x42\x20\x13\xf0\x0b\x40"));
    assert_true(mp4_frag_changes(&m, &vp9));
    mp4_frag_fini(&m);
}

static void test_refused(void **state)
{
    struct mp4_frag m;
    struct frame f = media_frame(AV_H264, true, 0, MEDIA_BYTES("\0\0\0\2\x65\1"));
    uint8_t *large = calloc(1, 2000);
    bool changed;

    (void)state;
    mp4_frag_init(&m, 1000, NULL);
    assert_err(mp4_frag_add(&m, &f, &changed), ERR_CODEC); /* before its configuration */
    f.codec = AV_VP8;
    assert_err(mp4_frag_add(&m, &f, &changed), ERR_UNSUPPORTED);
    add(&m, config_of(AV_H264));
    f = media_frame(AV_H264, true, 0, large, 2000);
    assert_err(mp4_frag_add(&m, &f, &changed), ERR_TOO_LARGE);
    assert_true(mp4_frag_is_empty(&m));
    f = media_frame(AV_H264, true, 0, MEDIA_BYTES("\0\0\0\2\x65\1"));
    add(&m, f);
    assert_int_equal(mp4_frag_bytes(&m), 6);
    free(large);
    mp4_frag_fini(&m);
}

/* Every configuration cut at every byte is accepted or rejected, and accepted ones can be written. */
static void test_cut_configs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++) {
        struct frame whole = config_of(codecs[i].codec);

        if (codecs[i].codec == AV_MP3)
            continue;
        for (size_t n = 1; n < whole.size; n++) {
            uint8_t *exact = malloc(n);
            struct frame f = whole;
            struct mp4_frag m;
            struct wr out;
            char name[32];
            bool changed;
            err_t err;

            memcpy(exact, whole.data, n);
            f.data = exact;
            f.size = n;
            mp4_frag_init(&m, LIMIT, NULL);
            wr_init(&out, LIMIT);
            err = mp4_frag_add(&m, &f, &changed);
            if (!err) {
                mp4_frag_header(&m, &out);
                check_boxes(out.buf, out.len);
                (void)mp4_track_name(f.kind == AV_VIDEO ? &m.video.track : &m.audio.track, name,
                                     sizeof(name));
            }
            err_free(&err);
            wr_free(&out);
            mp4_frag_fini(&m);
            free(exact);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_headers), TEST(test_samples), TEST(test_one_track), TEST(test_audio_clock),
        TEST(test_samples_of_audio), TEST(test_changes), TEST(test_refused),
        TEST(test_cut_configs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
