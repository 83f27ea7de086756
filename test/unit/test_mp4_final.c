/* SPDX-License-Identifier: MIT */
/* test_mp4_final.c - a fragmented file becomes one with tables, every sample at its place. */
#include "base/rd.h"
#include "format/mp4/final.h"
#include "format/mp4/frag.h"
#include "media_configs.h"
#include "mp4_cut.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 22, FRAGMENTS = 5, FRAMES = 4 };

static uint32_t u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A complete fragmented file: H.264 with reordered frames and AAC that begins 100 ms later. */
static void make_file(struct wr *out, int64_t gap)
{
    struct mp4_frag m;
    bool changed;

    mp4_frag_init(&m, LIMIT, NULL);
    wr_init(out, LIMIT);
    for (int i = 0; i < FRAGMENTS * FRAMES; i++) {
        int64_t dts = i * 3600 + (i >= 2 * FRAMES ? gap : 0);
        uint8_t unit[] = { 0, 0, 0, 3, 0x65, (uint8_t)i, 7 };
        uint8_t sound[] = { 0xaa, (uint8_t)i };
        struct frame v = media_frame(AV_H264, i % FRAMES == 0, dts, unit, sizeof(unit));
        struct frame a = media_frame(AV_AAC, false, dts + 9000, sound, sizeof(sound));
        struct frame config[] = { media_config(AV_H264, MEDIA_BYTES(CONFIG_H264)),
                                  media_config(AV_AAC, MEDIA_BYTES(CONFIG_AAC)) };

        v.pts += i % 2 ? 7200 : 3600;
        if (i == 0) {
            assert_ok(mp4_frag_add(&m, &config[0], &changed));
            assert_ok(mp4_frag_add(&m, &config[1], &changed));
            mp4_frag_header(&m, out);
        } else if (i % FRAMES == 0) {
            cut(&m, dts, out);
        }
        assert_ok(mp4_frag_add(&m, &v, &changed));
        assert_ok(mp4_frag_add(&m, &a, &changed));
    }
    cut(&m, FRAGMENTS * FRAMES * 3600 + gap, out);
    mp4_frag_fini(&m);
}

/* Runs the finisher on a file, here in memory. False: a part of it is damaged. */
static bool finish(struct mp4_final *f, const uint8_t *p, size_t size)
{
    size_t at = 0;

    mp4_final_init(f);
    while (at + 8 <= size) {
        uint32_t n = u32(p + at), mdat;

        if (n < 8 || n > size - at)
            return false;
        if (memcmp(p + at + 4, "moov", 4) == 0 && !mp4_final_head(f, p + at + 8, n - 8))
            return false;
        if (memcmp(p + at + 4, "moof", 4) == 0) {
            if (at + n + 8 > size)
                return false;
            mdat = u32(p + at + n);
            if (mdat < 8 || mdat > size - at - n ||
                !mp4_final_fragment(f, p + at, n, at + n + 8, mdat - 8))
                return false;
            n += mdat;
        }
        at += n;
    }
    return f->n_spans > 0;
}

static struct rd find(struct rd in, const char *path)
{
    while (rd_left(&in) >= 8) {
        uint32_t size = rd_u32(&in);
        const uint8_t *type = rd_take(&in, 4);
        struct rd body = rd_sub(&in, size - 8);

        if (memcmp(type, path, 4) != 0)
            continue;
        return path[4] == '/' ? find(body, path + 5) : body;
    }
    return rd_init(NULL, 0);
}

/* The second trak of moov, or the first. */
static struct rd trak(struct rd moov, int which)
{
    struct rd r = { 0 };

    while (rd_left(&moov) >= 8) {
        uint32_t size = rd_u32(&moov);
        const uint8_t *type = rd_take(&moov, 4);
        struct rd body = rd_sub(&moov, size - 8);

        if (memcmp(type, "trak", 4) == 0 && which-- == 0)
            r = body;
    }
    return r;
}

static struct rd table(struct rd t, const char *name)
{
    char path[64] = "mdia/minf/stbl/";
    struct rd r;

    (void)strncat(path, name, 8);
    r = find(t, path);
    (void)rd_u32(&r);
    return r;
}

static void build(const struct wr *file, struct wr *out)
{
    struct mp4_final f;

    assert_true(finish(&f, file->buf, file->len));
    wr_init(out, LIMIT);
    assert_true(mp4_final_build(&f, out));
    for (size_t i = 0; i < f.n_spans; i++)
        wr_bytes(out, file->buf + f.spans[i].from, f.spans[i].size);
    mp4_final_fini(&f);
    assert_false(out->bad);
}

/* Follows stsc, stco and stsz to each sample's bytes. */
static void test_samples(void **state)
{
    struct wr file, out;
    struct rd moov, stco, stsz, stsc, stss;
    uint32_t n = 0;

    (void)state;
    make_file(&file, 0);
    build(&file, &out);
    moov = find(rd_init(out.buf, out.len), "moov");
    for (int k = 0; k < 2; k++) {
        struct rd t = trak(moov, k);
        uint32_t i = 0;

        stco = table(t, "stco");
        stsz = table(t, "stsz");
        stsc = table(t, "stsc");
        assert_int_equal(rd_u32(&stco), FRAGMENTS);
        assert_int_equal(rd_u32(&stsz), 0);
        assert_int_equal(rd_u32(&stsz), FRAGMENTS * FRAMES);
        assert_int_equal(rd_u32(&stsc), 1);
        assert_int_equal(rd_u32(&stsc), 1);
        assert_int_equal(rd_u32(&stsc), FRAMES);
        for (int c = 0; c < FRAGMENTS; c++) {
            uint32_t at = rd_u32(&stco);

            for (int s = 0; s < FRAMES; s++, i++) {
                n = rd_u32(&stsz);
                assert_int_equal(n, k ? 2 : 7);
                assert_int_equal(out.buf[at + (k ? 1 : 5)], i);
                at += n;
            }
        }
    }
    stss = table(trak(moov, 0), "stss");
    assert_int_equal(rd_u32(&stss), FRAGMENTS);
    for (uint32_t c = 0; c < FRAGMENTS; c++)
        assert_int_equal(rd_u32(&stss), c * FRAMES + 1);
    stss = find(trak(moov, 1), "mdia/minf/stbl/stss");
    assert_int_equal(rd_left(&stss), 0); /* playback can start at each audio frame */
    wr_free(&file);
    wr_free(&out);
}

/* Audio begins 100 ms after the first frame's decoding time, which is 40 ms before its display:
 * so it waits 60 ms, and 40 ms of video are left out. */
static void test_edits(void **state)
{
    struct wr file, out;
    struct rd moov, r;

    (void)state;
    make_file(&file, 0);
    build(&file, &out);
    moov = find(rd_init(out.buf, out.len), "moov");
    r = find(trak(moov, 0), "edts/elst");
    (void)rd_u32(&r);
    assert_int_equal(rd_u32(&r), 1);
    assert_int_equal(rd_u64(&r), 800); /* 20 frames of 40 ms */
    assert_int_equal(rd_u64(&r), 3600);
    r = find(trak(moov, 1), "edts/elst");
    (void)rd_u32(&r);
    assert_int_equal(rd_u32(&r), 2);
    assert_int_equal(rd_u64(&r), 60);
    assert_int_equal(rd_u64(&r), UINT64_MAX);
    wr_free(&file);
    wr_free(&out);
}

/* Time missing between two fragments makes the last sample before it longer. */
static void test_gap(void **state)
{
    struct wr file, out;
    struct rd r;
    uint64_t total = 0;
    uint32_t runs;

    (void)state;
    make_file(&file, 900000);
    build(&file, &out);
    r = table(trak(find(rd_init(out.buf, out.len), "moov"), 0), "stts");
    runs = rd_u32(&r);
    assert_int_equal(runs, 3);
    for (uint32_t i = 0; i < runs; i++) {
        uint32_t n = rd_u32(&r);

        total += (uint64_t)n * rd_u32(&r);
    }
    assert_int_equal(total, FRAGMENTS * FRAMES * 3600 + 900000);
    wr_free(&file);
    wr_free(&out);
}

/* Cut at every byte: complete parts are used, the rest rejected, and no byte after it is read. */
static void test_cut_at_every_byte(void **state)
{
    struct wr file;

    (void)state;
    make_file(&file, 0);
    for (size_t n = 0; n < file.len; n++) {
        uint8_t *exact = malloc(n ? n : 1);
        struct mp4_final f;
        struct wr out;

        memcpy(exact, file.buf, n);
        (void)finish(&f, exact, n);
        wr_init(&out, LIMIT);
        if (f.n_spans > 0)
            assert_true(mp4_final_build(&f, &out));
        wr_free(&out);
        mp4_final_fini(&f);
        free(exact);
    }
    wr_free(&file);
}

/* Tables over the 4 GB mark have offsets of 64 bits. */
static void test_large(void **state)
{
    struct mp4_final f;
    struct wr file, out;
    struct rd r;

    (void)state;
    make_file(&file, 0);
    assert_true(finish(&f, file.buf, file.len));
    f.media += (uint64_t)5 << 30;
    f.tracks[0].chunks[FRAGMENTS - 1].at += (uint64_t)5 << 30;
    wr_init(&out, LIMIT);
    assert_true(mp4_final_build(&f, &out));
    r = table(trak(find(rd_init(out.buf, out.len - 16), "moov"), 0), "co64");
    assert_int_equal(rd_u32(&r), FRAGMENTS);
    for (int i = 0; i < FRAGMENTS - 1; i++)
        assert_true(rd_u64(&r) < (1 << 20));
    assert_true(rd_u64(&r) > (uint64_t)5 << 30);
    assert_memory_equal(out.buf + out.len - 16, "\0\0\0\1mdat", 8);
    wr_free(&out);
    wr_init(&out, 100);
    assert_false(mp4_final_build(&f, &out));
    wr_free(&out);
    wr_free(&file);
    mp4_final_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_samples), TEST(test_edits), TEST(test_gap), TEST(test_cut_at_every_byte),
        TEST(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
