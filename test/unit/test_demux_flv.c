/* SPDX-License-Identifier: MIT */
/* test_demux_flv.c - reading FLV files from any position. */
#include "flv_walk.h"

/* ---- content of a file */

static void a_film(void **state)
{
    double at[10];
    struct demux_index *x;
    const struct demux_info *info;
    struct walk_all all;
    struct file f;
    struct wr w;

    (void)state;
    film_file(&w, 10, 20, at);
    file_init(&f, w.buf, w.len);
    x = file_open(&f);
    info = demux_info(x);
    assert_string_equal(info->format, "flv");
    assert_int_equal(info->tracks[DEMUX_VIDEO].codec, AV_H264);
    assert_int_equal(info->tracks[DEMUX_AUDIO].codec, AV_AAC);
    assert_int_equal(info->tracks[DEMUX_AUDIO].config_size, 2);
    assert_memory_equal(info->tracks[DEMUX_AUDIO].config, CONFIG_AAC, 2);
    assert_memory_equal(info->tracks[DEMUX_VIDEO].config, CONFIG_H264, sizeof(CONFIG_H264) - 1);
    assert_int_equal(info->zero, AV_MS(40));
    assert_int_equal(info->duration, AV_MS(10010));
    walk_all(&all, x, &f);
    assert_int_equal(all.ended, DEMUX_OK);
    assert_int_equal(all.groups, 10);
    assert_int_equal(all.of[DEMUX_VIDEO], 100);
    assert_int_equal(all.of[DEMUX_AUDIO], 100);
    assert_int_equal(all.configs, 0);
    assert_true(all.v[0].key && all.v[0].origin == FLV_VIDEO);
    assert_int_equal(all.last[DEMUX_AUDIO], AV_MS(9950));
    demux_close(x);
    wr_free(&w);
}

static void a_body_is_a_packet(void **state)
{
    double at[2];
    struct demux_index *x;
    struct demux_group *g = NULL;
    struct file f;
    struct wr w;
    const char *why;

    (void)state;
    film_file(&w, 2, 20, at);
    file_init(&f, w.buf, w.len);
    x = file_open(&f);
    assert_int_equal(demux_group(&g, x, &f.in, demux_seek(x, AV_MS(1500)), &why), DEMUX_OK);
    for (unsigned i = 0; i < 2; i++) {
        const struct demux_sample *s = &g->v[i];
        struct av_packet *pkt = av_packet_new(s->size);

        memcpy(pkt->data, w.buf + s->at, s->size);
        assert_true(demux_packet(x, s, pkt));
        assert_int_equal(pkt->origin, i == 0 ? FLV_VIDEO : FLV_AUDIO);
        assert_int_equal(pkt->codec, i == 0 ? AV_H264 : AV_AAC);
        assert_int_equal(pkt->key, i == 0);
        assert_int_equal(pkt->cts, i == 0 ? AV_MS(40) : 0);
        assert_int_equal(pkt->dts, i == 0 ? AV_MS(1000) : AV_MS(1050));
        assert_int_equal(pkt->payload, i == 0 ? 5 : 2);
        av_packet_unref(pkt);
    }
    free(g);
    demux_close(x);
    wr_free(&w);
}

static void places(void **state)
{
    static const struct { int ms; int group; } rows[] = {
        { -5, 0 }, { 0, 0 }, { 1039, 0 }, { 1040, 1 }, { 1041, 1 }, { 5500, 5 }, { 1 << 30, 9 },
    };
    struct wr w;

    (void)state;
    for (unsigned with = 0; with < 2; with++) {
        struct demux_index *x;
        struct file f;
        double at[10];

        if (with) {
            film_with_metadata(&w, 10, 20, 0);
        } else {
            film_file(&w, 10, 20, at);
        }
        file_init(&f, w.buf, w.len);
        x = file_open(&f);
        for (unsigned i = 0; i < COUNT(rows); i++) {
            demux_position place = demux_seek(x, AV_MS(rows[i].ms));
            struct demux_group *g = NULL;
            const char *why;
            int64_t pts;

            assert_int_equal(demux_position_time(x, place, &pts), AV_MS(1000 * rows[i].group));
            assert_int_equal(pts, AV_MS(1000 * rows[i].group + 40));
            assert_int_equal(demux_group(&g, x, &f.in, place, &why), DEMUX_OK);
            assert_true(g->starts && g->v[0].key);
            assert_int_equal(g->v[0].dts, AV_MS(1000 * rows[i].group));
            assert_int_equal(g->last, rows[i].group == 9);
            free(g);
        }
        demux_close(x);
        wr_free(&w);
    }
}

/* ---- the metadata */

/* The description of the samples is the same, but few of the bytes are read. */
static void keyframes_save_reading(void **state)
{
    struct demux_index *x;
    struct walk_all all;
    struct file f;
    struct wr w;

    (void)state;
    film_with_metadata(&w, 600, 400, 0);
    file_init(&f, w.buf, w.len);
    x = file_open(&f);
    assert_true(f.bytes < w.len / 20);
    assert_true(f.reads < 100);
    assert_int_equal(demux_info(x)->duration, AV_MS(600010));
    walk_all(&all, x, &f);
    assert_int_equal(all.ended, DEMUX_OK);
    assert_int_equal(all.groups, 600);
    assert_int_equal(all.of[DEMUX_AUDIO], 6000);
    assert_int_equal(all.last[DEMUX_VIDEO], AV_MS(599900));
    assert_int_equal(all.last[DEMUX_AUDIO], AV_MS(599950));
    demux_close(x);
    wr_free(&w);
}

static void wrong_keyframes_are_not_taken(void **state)
{
    static const double moved[] = { 1, -20, 1e6, -1e6, 5e18, -1e300 };
    struct walk_all all;
    struct file f;
    struct wr w;

    (void)state;
    for (unsigned i = 0; i < COUNT(moved); i++) {
        struct demux_index *x;

        film_with_metadata(&w, 20, 40, moved[i]);
        file_init(&f, w.buf, w.len);
        x = file_open(&f);
        walk_all(&all, x, &f);
        assert_int_equal(all.ended, DEMUX_OK);
        assert_int_equal(all.samples, 400);
        assert_int_equal(all.last[DEMUX_AUDIO], AV_MS(19950));
        demux_close(x);
        wr_free(&w);
    }
}

/* A recording that continues after the end in its metadata, like one that was joined to another. */
static void more_than_the_metadata_know(void **state)
{
    struct demux_index *x;
    struct walk_all all;
    struct file f;
    struct wr w;

    (void)state;
    film_with_metadata(&w, 20, 40, 0);
    for (unsigned i = 0; i < 20; i++) {
        flv_key(&w, 20000 + i * 500, 40);
        flv_audio(&w, 20050 + i * 500);
    }
    file_init(&f, w.buf, w.len);
    x = file_open(&f);
    walk_all(&all, x, &f);
    assert_int_equal(all.groups, 30);
    assert_int_equal(all.samples, 440);
    assert_int_equal(all.last[DEMUX_AUDIO], AV_MS(29550));
    demux_close(x);
    wr_free(&w);
}

/* ---- times */

static const struct {
    const char *name;
    unsigned n;
    struct { char track; uint32_t raw; int32_t ms; } v[8];
} times[] = {
    { "as they are", 4, { { 'v', 0, 0 }, { 'a', 0, 0 }, { 'v', 40, 40 }, { 'a', 23, 23 } } },
    { "from wherever", 3, { { 'v', 5000000, 0 }, { 'a', 5000010, 10 }, { 'v', 5000040, 40 } } },
    { "of more than 24 bits", 3, { { 'v', 0xfffff0, 0 }, { 'a', 0x1000010, 32 },
                                   { 'v', 0x1000020, 48 } } },
    { "over 32 bits", 3, { { 'v', 0xfffffff0, 0 }, { 'a', 0x10, 32 }, { 'v', 0x20, 48 } } },
    { "a little back", 4, { { 'v', 0, 0 }, { 'v', 80, 80 }, { 'v', 40, 80 }, { 'v', 120, 120 } } },
    { "restarts", 6, { { 'v', 9000, 0 }, { 'a', 9010, 10 }, { 'v', 0, 30 }, { 'a', 10, 40 },
                          { 'v', 40, 70 }, { 'a', 33, 63 } } },
    { "audio jumps first", 5, { { 'v', 9000, 0 }, { 'a', 9010, 10 }, { 'a', 0, 30 }, { 'v', 20, 50 },
                                { 'a', 40, 70 } } },
    { "hours ahead", 4, { { 'v', 0, 0 }, { 'a', 0, 0 }, { 'v', 7200000, 20 },
                          { 'a', 7200010, 30 } } },
    { "a gap", 3, { { 'v', 0, 0 }, { 'v', 9999, 9999 }, { 'v', 10040, 10040 } } },
    { "one wild tag", 5, { { 'v', 0, 0 }, { 'a', 0, 0 }, { 'v', 90000000, 20 }, { 'v', 80, 80 },
                           { 'a', 90, 90 } } },
    { "each its own clock", 5, { { 'v', 0, 0 }, { 'a', 500000, 20 }, { 'v', 40, 40 },
                                 { 'a', 500023, 43 }, { 'v', 80, 80 } } },
};

static void times_never_fall(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(times); i++) {
        unsigned at[DEMUX_TRACKS] = { 0 };
        struct demux_index *x;
        struct walk_all all;
        struct file f;
        struct wr w;

        film_begin(&w);
        flv_configs(&w);
        for (unsigned k = 0; k < times[i].n; k++) {
            if (times[i].v[k].track == 'v')
                flv_key(&w, times[i].v[k].raw, 0);
            else
                flv_audio(&w, times[i].v[k].raw);
        }
        file_init(&f, w.buf, w.len);
        x = file_open(&f);
        walk_all(&all, x, &f);
        assert_int_equal(all.samples, times[i].n);
        for (unsigned k = 0; k < times[i].n; k++) {
            unsigned t = times[i].v[k].track == 'v' ? DEMUX_VIDEO : DEMUX_AUDIO;

            while (all.v[at[t]].track != t)
                at[t]++;
            if (all.v[at[t]++].dts != AV_MS(times[i].v[k].ms))
                fail_msg("%s: number %u is at %lld ms", times[i].name, k,
                         av_to_ms(all.v[at[t] - 1].dts));
        }
        demux_close(x);
        wr_free(&w);
    }
}

/* Audio that is late in the file, and audio with wild times, in a file whose metadata do not mention it:
 * the start of a group is never before the end of the previous one. */
static void audio_of_known_groups(void **state)
{
    double at[30];
    struct demux_index *x;
    struct walk_all all;
    struct file f;
    struct wr w, plain;

    (void)state;
    film_begin(&plain);
    flv_configs(&plain);
    for (unsigned s = 0; s < 30; s++) {
        at[s] = (double)plain.len;
        flv_key(&plain, s * 1000, 40);
        if (s > 0)
            flv_audio(&plain, s * 1000 - 40);
        flv_audio(&plain, s % 7 == 6 ? s * 1000 + 5000 : s * 1000 + 10);
        flv_audio(&plain, s * 1000 + 900);
    }
    film_begin(&w);
    film_metadata(&w, at, 30, 0);
    wr_bytes(&w, plain.buf + 13, plain.len - 13);
    file_init(&f, w.buf, w.len);
    x = file_open(&f);
    walk_all(&all, x, &f);
    assert_int_equal(all.groups, 30);
    assert_int_equal(all.last[DEMUX_AUDIO], AV_MS(29900));
    demux_close(x);
    wr_free(&plain);
    wr_free(&w);
}

/* ---- other contents */

static void audio_alone(void **state)
{
    struct demux_index *x;
    struct walk_all all;
    struct file f;
    struct wr w;

    (void)state;
    film_begin(&w);
    for (unsigned i = 0; i < 100; i++)
        FLV_TAG(&w, FLV_AUDIO, i * 100, "\x2f" MP3_FRAME);
    file_init(&f, w.buf, w.len);
    x = file_open(&f);
    assert_int_equal(demux_info(x)->tracks[DEMUX_VIDEO].codec, AV_CODEC_NONE);
    assert_int_equal(demux_info(x)->tracks[DEMUX_AUDIO].codec, AV_MP3);
    assert_int_equal(demux_info(x)->duration, AV_MS(10000));
    assert_int_equal(demux_info(x)->zero, 0);
    walk_all(&all, x, &f);
    assert_int_equal(all.groups, 10);
    assert_int_equal(all.samples, 100);
    demux_close(x);
    wr_free(&w);
}

static const struct {
    const char *config, *frame;
    size_t config_size, frame_size;
    uint8_t type;
    enum av_codec codec;
} codecs[] = {
#define ROW(type, codec, config, frame) \
    { config, frame, sizeof(config) - 1, sizeof(frame) - 1, type, codec }
    ROW(FLV_VIDEO, AV_H265, "\x90hvc1" CONFIG_H265, "\x91hvc1\0\0\0\0\0\0\x01\x26"),
    ROW(FLV_VIDEO, AV_H265, "\x1c\0\0\0\0" CONFIG_H265, "\x1c\x01\0\0\0\0\0\0\x01\x26"),
    ROW(FLV_VIDEO, AV_AV1, "\x90" "av01" CONFIG_AV1, "\x91" "av01\x12\0"),
    ROW(FLV_VIDEO, AV_VP9, "\x90vp09" CONFIG_VP9, "\x91vp09" VP9_KEY),
    ROW(FLV_AUDIO, AV_OPUS, "\x90Opus" CONFIG_OPUS, "\x91Opus\xfc"),
    ROW(FLV_AUDIO, AV_AAC, "\x90mp4a" CONFIG_AAC, "\x91mp4a\x21"),
    ROW(FLV_AUDIO, AV_FLAC, "\x90" "fLaC" CONFIG_FLAC, "\x91" "fLaC\xff\xf8"),
#undef ROW
};

static void codecs_of_enhanced_files(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(codecs); i++) {
        unsigned t = codecs[i].type == FLV_VIDEO ? DEMUX_VIDEO : DEMUX_AUDIO;
        const struct demux_track *track;
        struct demux_index *x;
        struct walk_all all;
        struct file f;
        struct wr w;

        film_begin(&w);
        FLV_TAG(&w, FLV_DATA, 0, "\x02\0\x0aonMetaData\x05");
        flv_tag(&w, codecs[i].type, 0, codecs[i].config, codecs[i].config_size);
        FLV_TAG(&w, FLV_DATA_AMF3, 0, "\0\x02\0\x04text\x05");
        for (unsigned k = 0; k < 5; k++)
            flv_tag(&w, codecs[i].type, k * 40, codecs[i].frame, codecs[i].frame_size);
        file_init(&f, w.buf, w.len);
        x = file_open(&f);
        track = &demux_info(x)->tracks[t];
        assert_int_equal(track->codec, codecs[i].codec);
        assert_memory_equal(track->config,
                            codecs[i].config + codecs[i].config_size - track->config_size,
                            track->config_size);
        assert_int_equal(track->config_head + track->config_size, codecs[i].config_size);
        assert_memory_equal(track->config - track->config_head, codecs[i].config,
                            codecs[i].config_size);
        walk_all(&all, x, &f);
        assert_int_equal(all.samples, 5);
        demux_close(x);
        wr_free(&w);
    }
}

/* A player that starts after it needs it as well; a repeated configuration is no new one. */
static void configurations_amid_a_file(void **state)
{
    struct demux_index *x;
    struct demux_group *g = NULL;
    struct file f;
    struct wr w;
    const char *why;

    (void)state;
    film_begin(&w);
    flv_configs(&w);
    for (unsigned i = 0; i < 6; i++) {
        if (i == 2)
            FLV_TAG(&w, FLV_AUDIO, i * 1000, FLV_AUDIO_CONFIG);
        if (i == 3)
            FLV_TAG(&w, FLV_AUDIO, i * 1000, "\xaf\x00\x12\x10");
        flv_key(&w, i * 1000, 0);
        flv_audio(&w, i * 1000);
    }
    file_init(&f, w.buf, w.len);
    x = file_open(&f);
    for (unsigned i = 0; i < 6; i++) {
        unsigned said = 0;

        assert_int_equal(demux_group(&g, x, &f.in, demux_seek(x, AV_MS(i * 1000)), &why), DEMUX_OK);
        for (unsigned k = 0; k < g->n; k++)
            said += g->v[k].config && memcmp(w.buf + g->v[k].at, "\xaf\x00\x12\x10", 4) == 0;
        assert_int_equal(said, i == 2 ? 1 : i > 2); /* it is before the key frame */
        assert_int_equal(g->n, 2 + said + (i == 1));
        free(g);
    }
    demux_close(x);
    wr_free(&w);
}

static void a_long_group_has_parts(void **state)
{
    struct demux_index *x;
    struct walk_all all;
    struct file f;
    struct wr w;

    (void)state;
    film_begin(&w);
    flv_configs(&w);
    flv_key(&w, 0, 0);
    for (unsigned i = 1; i < 10000; i++)
        flv_inter(&w, i, 20);
    file_init(&f, w.buf, w.len);
    x = file_open(&f);
    walk_all(&all, x, &f);
    assert_int_equal(all.samples, 10000);
    assert_true(all.groups >= 5);
    assert_int_equal(demux_seek(x, AV_MS(9999)), demux_seek(x, 0));
    demux_close(x);
    wr_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_film), TEST(a_body_is_a_packet), TEST(places), TEST(keyframes_save_reading),
        TEST(wrong_keyframes_are_not_taken), TEST(more_than_the_metadata_know),
        TEST(times_never_fall), TEST(audio_of_known_groups), TEST(audio_alone),
        TEST(codecs_of_enhanced_files), TEST(configurations_amid_a_file),
        TEST(a_long_group_has_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
