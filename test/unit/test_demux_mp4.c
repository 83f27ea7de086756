/* SPDX-License-Identifier: MIT */
/* test_demux_mp4.c - recordings and MP4 files are read, truncated or changed. */
#include "mp4_files.h"

/* ------------------------------------------------------------ files of our recorder */

/* H.264 with reordered frames and AAC that begins 100 ms later. */
static void record(struct wr *out)
{
    struct mp4_frag m;
    bool changed;

    mp4_frag_init(&m, LIMIT, NULL);
    wr_init(out, LIMIT);
    for (int i = 0; i < FRAGMENTS * FRAMES; i++) {
        uint8_t unit[] = { 0, 0, 0, 3, 0x65, (uint8_t)i, 7 };
        uint8_t sound[] = { 0xaa, (uint8_t)i };
        struct frame v = media_frame(AV_H264, i % FRAMES == 0, i * HALF, unit, sizeof(unit));
        struct frame a = media_frame(AV_AAC, false, i * HALF + 9000, sound, sizeof(sound));
        struct frame config[] = { media_config(AV_H264, MEDIA_BYTES(CONFIG_H264)),
                                  media_config(AV_AAC, MEDIA_BYTES(CONFIG_AAC)) };

        v.pts += i % 2 ? 2 * HALF : HALF;
        if (i == 0) {
            assert_ok(mp4_frag_add(&m, &config[0], &changed));
            assert_ok(mp4_frag_add(&m, &config[1], &changed));
            mp4_frag_header(&m, out);
        } else if (i % FRAMES == 0) {
            cut(&m, v.dts, out);
        }
        assert_ok(mp4_frag_add(&m, &v, &changed));
        assert_ok(mp4_frag_add(&m, &a, &changed));
    }
    cut(&m, FRAGMENTS * FRAMES * HALF, out);
    mp4_frag_fini(&m);
}

/* The same with tables in front of its media. */
static void finish(const struct wr *file, struct wr *out)
{
    struct mp4_final f;
    struct rd r = rd_init(file->buf, file->len);

    mp4_final_init(&f);
    wr_init(out, LIMIT);
    while (rd_left(&r) > 0) {
        const uint8_t *box = r.p;
        uint32_t size = rd_u32(&r);
        const uint8_t *type = rd_take(&r, 4);
        size_t at = (size_t)(rd_take(&r, size - 8) - file->buf);

        if (memcmp(type, "moov", 4) == 0)
            assert_true(mp4_final_head(&f, box + 8, size - 8));
        if (memcmp(type, "moof", 4) == 0) {
            uint32_t mdat = rd_u32(&r);

            at = (size_t)(r.p + 4 - file->buf);
            assert_true(mp4_final_fragment(&f, box, size, at, mdat - 8));
            (void)rd_take(&r, mdat - 4);
        }
    }
    assert_true(mp4_final_build(&f, out));
    for (size_t i = 0; i < f.n_spans; i++)
        wr_bytes(out, file->buf + f.spans[i].from, f.spans[i].size);
    mp4_final_fini(&f);
}

/* Reading gives what was recorded, however it is stored. */
static void expect_recorded(const uint8_t *data, size_t size)
{
    struct demux_index *x;
    const struct demux_info *info;
    struct walk_all w;
    struct file f;
    unsigned seen[DEMUX_TRACKS] = { 0 };

    file_init(&f, data, size);
    x = file_open(&f);
    info = demux_info(x);
    assert_string_equal(info->format, "mp4");
    assert_int_equal(info->tracks[DEMUX_VIDEO].codec, AV_H264);
    assert_int_equal(info->tracks[DEMUX_AUDIO].codec, AV_AAC);
    assert_int_equal(info->tracks[DEMUX_AUDIO].config_size, 2);
    assert_memory_equal(info->tracks[DEMUX_AUDIO].config, CONFIG_AAC, 2);
    assert_memory_equal(info->tracks[DEMUX_VIDEO].config, CONFIG_H264, sizeof(CONFIG_H264) - 1);
    walk_all(&w, x, &f);
    assert_int_equal(w.ended, DEMUX_OK);
    assert_int_equal(w.samples, 2 * FRAGMENTS * FRAMES);
    for (unsigned i = 0; i < w.samples; i++) {
        const struct demux_sample *s = &w.v[i];
        unsigned n = seen[s->track]++;

        if (s->track == DEMUX_VIDEO) {
            assert_int_equal(data[s->at + 5], n);
            assert_int_equal(s->dts - w.v[0].dts, (int64_t)n * HALF);
            assert_int_equal(s->cts, n % 2 ? 2 * HALF : HALF);
            assert_int_equal(s->key, n % FRAMES == 0);
        } else {
            assert_int_equal(data[s->at + 1], n);
            assert_int_equal(s->dts - w.v[0].dts, (int64_t)n * HALF + 9000);
        }
    }
    demux_close(x);
}

static void test_recordings_are_read(void **state)
{
    struct wr file, whole;

    (void)state;
    record(&file);
    expect_recorded(file.buf, file.len);
    finish(&file, &whole);
    expect_recorded(whole.buf, whole.len);
    wr_free(&file);
    wr_free(&whole);
}

/* Each key frame is found by its time, and the previous one by an earlier time. */
static void test_places_are_found_by_time(void **state)
{
    struct wr file[2];

    (void)state;
    record(&file[0]);
    finish(&file[0], &file[1]);
    for (int i = 0; i < 2; i++) {
        struct file f;
        struct demux_index *x;

        file_init(&f, file[i].buf, file[i].len);
        x = file_open(&f);
        f.reads = 0;
        for (int n = 1; n < FRAGMENTS; n++) {
            int64_t shown = (n * FRAMES + 1) * HALF; /* the first one is decoded at 0 */
            demux_position at = demux_seek(x, shown);
            struct demux_group *g;
            const char *why;

            assert_true(demux_seek(x, shown - 1) < at);
            assert_true(demux_seek(x, shown + FRAMES * HALF - 1) == at);
            assert_int_equal(f.reads, 0);
            assert_int_equal(demux_group(&g, x, &f.in, at, &why), DEMUX_OK);
            assert_true(g->starts && g->v[0].key && g->v[0].track == DEMUX_VIDEO);
            assert_int_equal(g->v[0].dts + g->v[0].cts, shown);
            assert_int_equal(g->last, n == FRAGMENTS - 1);
            f.reads = 0;
            free(g);
        }
        demux_close(x);
        wr_free(&file[i]);
    }
}

/* ------------------------------------------------------------ truncated and changed */

static uint8_t *exact(const uint8_t *data, size_t size)
{
    uint8_t *p = must(malloc(size ? size : 1));

    memcpy(p, data, size);
    return p;
}

/* A recording that is being written or was truncated plays to its present end. */
static void test_files_are_cut_anywhere(void **state)
{
    struct wr file[2];

    (void)state;
    record(&file[0]);
    finish(&file[0], &file[1]);
    for (int i = 0; i < 2; i++) {
        unsigned most = 0;

        for (size_t n = 0; n <= file[i].len; n++) {
            uint8_t *p = exact(file[i].buf, n);
            unsigned samples = demux_any(p, n);

            assert_true(samples >= most);
            most = samples;
            free(p);
        }
        assert_int_equal(most, 2 * FRAGMENTS * FRAMES);
        wr_free(&file[i]);
    }
}

static void test_bytes_are_others(void **state)
{
    static const uint8_t others[] = { 0, 1, 0x7f, 0x80, 0xff };
    struct wr file[2];

    (void)state;
    record(&file[0]);
    finish(&file[0], &file[1]);
    for (int i = 0; i < 2; i++) {
        for (size_t n = 0; n < file[i].len; n++) {
            uint8_t old = file[i].buf[n];

            for (size_t k = 0; k < COUNT(others); k++) {
                file[i].buf[n] = others[k];
                (void)demux_any(file[i].buf, file[i].len);
            }
            file[i].buf[n] = old;
        }
        wr_free(&file[i]);
    }
}

/* A read that is impossible now, or fails, is reported; later it works again. */
static void test_reads_fail(void **state)
{
    static const enum demux_status fails[] = { DEMUX_AGAIN, DEMUX_IO };
    const struct demux_limits limits = { .index_max = 1 << 20 };
    struct demux_index *x;
    struct wr file;
    struct file f;
    const char *why;

    (void)state;
    record(&file);
    for (unsigned i = 0; i < COUNT(fails); i++) {
        enum demux_status st = DEMUX_OK, expected = fails[i];
        struct demux_group *g;
        unsigned n;

        file_init(&f, file.buf, file.len);
        f.fail = expected;
        for (n = 1; n < 100; n++) {
            f.reads = 0;
            f.fail_at = n;
            st = demux_open(&x, &f.in, &limits, &why);
            if (st == DEMUX_OK)
                break;
            assert_int_equal(st, expected);
        }
        assert_true(n > 1);
        assert_int_equal(st, DEMUX_OK);
        f.reads = 0;
        f.fail_at = 1;
        assert_int_equal(demux_group(&g, x, &f.in, demux_seek(x, 0), &why), expected);
        assert_int_equal(demux_group(&g, x, &f.in, demux_seek(x, 0), &why), DEMUX_OK);
        free(g);
        demux_close(x);
    }
    wr_free(&file);
}

static void test_index_is_bounded(void **state)
{
    struct wr file[2];

    (void)state;
    record(&file[0]);
    finish(&file[0], &file[1]);
    for (int i = 0; i < 2; i++) {
        enum demux_status st = DEMUX_TOO_LARGE;
        struct demux_index *x;
        struct file f;
        const char *why;
        size_t most;

        file_init(&f, file[i].buf, file[i].len);
        for (most = 0; st != DEMUX_OK && most < 1 << 16; most += 16) {
            const struct demux_limits limits = { .index_max = most };

            st = demux_open(&x, &f.in, &limits, &why);
            assert_true(st == DEMUX_OK || st == DEMUX_TOO_LARGE);
        }
        assert_int_equal(st, DEMUX_OK);
        assert_true(demux_info(x)->memory <= most);
        demux_close(x);
        wr_free(&file[i]);
    }
}

static void test_packets_are_made(void **state)
{
    struct av_packet *pkt = av_packet_new(10);
    struct demux_index *x;
    struct demux_sample s = { .size = 7, .key = true, .dts = 5, .cts = 3 };
    struct wr file;
    struct file f;

    (void)state;
    record(&file);
    file_init(&f, file.buf, file.len);
    x = file_open(&f);
    assert_true(demux_packet(x, &s, pkt));
    assert_true(pkt->kind == AV_VIDEO && pkt->codec == AV_H264 && pkt->key && !pkt->config);
    assert_true(pkt->payload == 3 && pkt->dts == 5 && pkt->cts == 3 && pkt->origin == 0);
    s.track = DEMUX_AUDIO;
    assert_true(demux_packet(x, &s, pkt));
    assert_true(pkt->kind == AV_AUDIO && pkt->codec == AV_AAC && !pkt->key);
    s.size = 11;
    assert_false(demux_packet(x, &s, pkt));
    demux_close(x);
    wr_free(&file);
    (void)av_packet_unref(pkt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_recordings_are_read), TEST(test_places_are_found_by_time),
        TEST(test_files_are_cut_anywhere), TEST(test_bytes_are_others),
        TEST(test_reads_fail), TEST(test_index_is_bounded), TEST(test_packets_are_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
