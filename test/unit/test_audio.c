/* SPDX-License-Identifier: MIT */
/* test_audio.c - audio conversion: the output sounds like the input, at the right time. */
#include "audio/convert.h"

#include "audio/lib.h"
#include "audio/timeline.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(90) /* ticks of 1/90000 s */
#define TURN 6.28318530717958647692

enum { SECOND = AUDIO_RATE, ROOM = 8 * SECOND };

/* Built without libraries: nothing to test here. */
#define NEEDS_LIBRARIES()                                                                    \
    do {                                                                                     \
        if (!audio_lib_load())                                                               \
            skip();                                                                          \
    } while (0)

/* ---- the timeline */

static void a_line_counts_samples(void **state)
{
    static const struct {
        const char *name;
        int64_t late;     /* ms by which frame 5 and all later ones come late */
        unsigned silence; /* ms */
        unsigned skipped;
        bool moved;
    } rows[] = {
        { "as counted", 0, 0, 0, false },       { "jitter", 60, 0, 0, false },
        { "jitter back", -60, 0, 0, false },    { "a hole", 100, 100, 0, false },
        { "a long hole", 1000, 1000, 0, false }, { "another time", 1001, 0, 0, true },
        { "a bit too early", -61, 0, 61, false }, { "early", -500, 0, 500, false },
        { "another time, back", -1001, 0, 0, true },
        { "far ahead", INT64_C(1) << 40, 0, 0, true }, { "far back", -(INT64_C(1) << 40), 0, 0, true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct audio_timeline l = { 0 };
        unsigned silence = 0, skipped = 0;
        bool moved = false;

        for (int64_t k = 0; k < 60; k++) {
            int64_t time = 1000 * MS + k * 20 * MS + (k >= 5 ? rows[i].late * MS : 0);
            struct audio_timeline_step s = audio_timeline_put(&l, time, 960);

            silence += s.silence;
            skipped += s.skip;
            moved |= s.moved;
            assert_true(llabs(audio_timeline_time(&l, l.count) - (time + 20 * MS)) <= 60 * MS ||
                        l.skip > 0);
        }
        if (silence != rows[i].silence * 48 || skipped != rows[i].skipped * 48 || moved != rows[i].moved)
            fail_msg("%s: %u of silence, %u skipped", rows[i].name, silence, skipped);
    }
}

/* A clock that is slower or faster by one in a thousand. */
static void a_line_follows_a_clock_that_drifts(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct audio_timeline l = { 0 };

        for (int64_t k = 0; k < 50 * 600; k++) {
            int64_t time = k * 20 * MS + sign * k * 20 * MS / 1000;

            (void)audio_timeline_put(&l, time, 960);
            assert_true(llabs(audio_timeline_time(&l, l.count) - time - 20 * MS) <= 62 * MS);
        }
    }
}

/* ---- tones */

static float tone(int64_t sample, double hz)
{
    return (float)(0.5 * sin(TURN * hz * (double)(sample % (SECOND * 100)) / AUDIO_RATE));
}

/* Amplitude of a frequency, with Goertzel's algorithm. */
static double power(const float *v, int n, int channel, double hz)
{
    double w = 2 * cos(TURN * hz / AUDIO_RATE), a = 0, b = 0;

    for (int i = 0; i < n; i++) {
        double c = v[i * AUDIO_CHANNELS + channel] + w * a - b;

        b = a;
        a = c;
    }
    return (a * a + b * b - w * a * b) / n / n;
}

struct tape { /* the decoded audio */
    struct audio_convert *c;
    struct audio_decoder *ears;
    float *v;
    int64_t n, begin;  /* samples; the time of the first, 1/90000 s */
    unsigned frames;
    int64_t last;      /* time of the last frame */
    unsigned jumps;    /* frames that do not follow the one before */
    unsigned frame;    /* samples */
};

static void tape_open(struct tape *t, enum av_codec to, int bitrate)
{
    *t = (struct tape){ .c = audio_convert_new(to, bitrate), .frame = to == AV_OPUS ? 960 : 1024 };
    t->ears = to == AV_OPUS ? audio_decoder_new(to, NULL, 0)
                            : audio_decoder_new(to, audio_aac_config, AUDIO_AAC_CONFIG);
    t->v = calloc(ROOM * AUDIO_CHANNELS, sizeof(*t->v));
    assert_non_null(t->ears);
}

static void tape_close(struct tape *t)
{
    audio_convert_free(t->c);
    audio_decoder_free(t->ears);
    free(t->v);
}

static void hear(struct tape *t, const struct audio_out *out)
{
    const float *v;
    int n = audio_decode(t->ears, out->data, out->size, &v);

    assert_true(n >= 0);
    if (t->frames == 0)
        t->begin = out->time;
    else if (out->time != t->last + (int64_t)t->frame * 90000 / AUDIO_RATE)
        t->jumps++;
    t->last = out->time;
    t->frames++;
    assert_true(t->n + n <= ROOM);
    memcpy(t->v + t->n * AUDIO_CHANNELS, v, (size_t)n * AUDIO_CHANNELS * sizeof(*v));
    t->n += n;
}

static void put(struct tape *t, const struct audio_in *in)
{
    struct audio_out out;

    audio_convert_put(t->c, in);
    while (audio_convert_step(t->c, &out)) {
        if (out.size > 0)
            hear(t, &out);
    }
}

/* Left 440 Hz and right 1,000 Hz, from sample `from` on, coded as `codec`. */
static void send(struct tape *t, enum av_codec codec, int64_t from, int64_t to, int64_t offset)
{
    struct audio_encoder *e = audio_encoder_new(codec, 128000);
    static float v[AUDIO_FRAME_MAX * AUDIO_CHANNELS];
    static uint8_t made[AUDIO_MADE_MAX];
    unsigned frame = audio_encoder_frame(e);
    const struct audio_in config = { .codec = codec, .config = true, .data = audio_aac_config,
                                     .size = AUDIO_AAC_CONFIG };

    if (codec == AV_AAC)
        put(t, &config);
    for (int64_t at = 0; at < to; at += frame) {
        int64_t begin;
        size_t size;

        for (unsigned i = 0; i < frame; i++) {
            v[2 * i] = at + i < from ? 0 : tone(at + i, 440);
            v[2 * i + 1] = at + i < from ? 0 : tone(at + i, 1000);
        }
        size = audio_encode(e, v, at, made, &begin);
        if (size > 0)
            put(t, &(struct audio_in){ .codec = codec, .data = made, .size = size,
                                       .time = offset + begin * 90000 / AUDIO_RATE });
    }
    audio_encoder_free(e);
}

static void assert_tones(const struct tape *t, int64_t from, int n)
{
    const float *v = t->v + from * AUDIO_CHANNELS;

    assert_true(power(v, n, 0, 440) > 0.03 && power(v, n, 1, 1000) > 0.03);
    assert_true(power(v, n, 0, 1000) < 0.003 && power(v, n, 1, 440) < 0.003);
    assert_true(power(v, n, 0, 480) < 0.003);
}

/* When the tone begins. */
static int64_t onset(const struct tape *t)
{
    int64_t i = 0;

    while (i < t->n && fabsf(t->v[i * AUDIO_CHANNELS]) < 0.1f)
        i++;
    return t->begin + i * 90000 / AUDIO_RATE;
}

static void tones_come_out_as_they_went_in(void **state)
{
    static const struct {
        enum av_codec from, to;
        int bitrate;
    } rows[] = { { AV_AAC, AV_OPUS, 48000 }, { AV_AAC, AV_OPUS, 8000 }, { AV_AAC, AV_OPUS, 320000 },
                 { AV_OPUS, AV_AAC, 48000 }, { AV_OPUS, AV_AAC, 128000 }, { AV_OPUS, AV_AAC, 320000 } };
    const int64_t offset = INT64_C(1234567890123), from = SECOND;

    (void)state;
    NEEDS_LIBRARIES();
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tape t;
        int64_t heard;

        tape_open(&t, rows[i].to, rows[i].bitrate);
        send(&t, rows[i].from, from, 4 * SECOND, offset);
        heard = onset(&t) - offset;
        assert_int_equal(t.jumps, 0);
        assert_true(t.frames > 3.8 * SECOND / t.frame);
        if (rows[i].bitrate >= 48000)
            assert_tones(&t, 2 * SECOND, SECOND);
        if (llabs(heard - from * 90000 / AUDIO_RATE) > 12 * MS)
            fail_msg("row %zu: the tone begins %lld ms after it did", i,
                     (long long)((heard - from * 90000 / AUDIO_RATE) / MS));
        tape_close(&t);
    }
}

/* Missing audio becomes silence, so that later audio keeps its time. */
static void a_hole_is_filled(void **state)
{
    struct tape t;
    const struct audio_counts *c;

    (void)state;
    NEEDS_LIBRARIES();
    tape_open(&t, AV_OPUS, 96000);
    c = audio_convert_counts(t.c);
    send(&t, AV_AAC, 0, SECOND, 0);
    send(&t, AV_AAC, 0, SECOND, 1500 * MS);
    assert_int_equal(t.jumps, 0);
    assert_in_range(c->silence, SECOND * 450 / 1000, SECOND * 560 / 1000);
    assert_in_range(t.last, 2400 * MS, 2520 * MS);
    assert_int_equal(c->moves, 0);
    send(&t, AV_AAC, 0, SECOND, 100000 * MS); /* another time, once */
    assert_int_equal(c->moves, 1);
    assert_in_range(t.jumps, 1, 3);
    assert_in_range(t.last, 100900 * MS, 101000 * MS);
    tape_close(&t);
}

/* ---- input of untrusted clients */

static uint32_t next_random(uint32_t *x)
{
    *x = *x * 1664525u + 1013904223u;
    return *x >> 8;
}

static void garbage_is_counted_and_no_more(void **state)
{
    static const enum av_codec from[] = { AV_AAC, AV_MP3, AV_OPUS };
    uint32_t x = 1;
    uint8_t data[1200];

    (void)state;
    NEEDS_LIBRARIES();
    for (size_t k = 0; k < COUNT(from); k++) {
        struct tape t;
        const struct audio_counts *c;

        tape_open(&t, from[k] == AV_OPUS ? AV_AAC : AV_OPUS, 48000);
        c = audio_convert_counts(t.c);
        for (int i = 0; i < 400; i++) {
            struct audio_in in = { .codec = from[k], .config = i % 40 == 0, .data = data,
                                   .size = 1 + next_random(&x) % (i % 40 == 0 ? 5 : sizeof(data)),
                                   .time = i * 20 * MS };

            for (size_t n = 0; n < in.size; n++)
                data[n] = (uint8_t)next_random(&x);
            if (i % 80 == 0) /* a configuration that it can decode with */
                memcpy(data, audio_aac_config, AUDIO_AAC_CONFIG);
            put(&t, &in);
            t.n = 0;
        }
        assert_true(c->bad + c->early > 0);
        assert_int_equal(c->in, 390);
        tape_close(&t);
    }
}

/* One codec after another, and other rates and channels. */
static void codecs_and_configurations_change(void **state)
{
    static const uint8_t mono_8000[] = { 0x15, 0x88 }, eight[] = { 0x11, 0xb8 }, none[] = { 0 };
    struct tape t;

    (void)state;
    NEEDS_LIBRARIES();
    tape_open(&t, AV_OPUS, 48000);
    send(&t, AV_AAC, 0, SECOND / 2, 0);
    send(&t, AV_OPUS, 0, SECOND / 2, 500 * MS);
    put(&t, &(struct audio_in){ .codec = AV_AAC, .config = true, .data = mono_8000, .size = 2 });
    put(&t, &(struct audio_in){ .codec = AV_AAC, .data = none, .size = 1, .time = 1000 * MS });
    put(&t, &(struct audio_in){ .codec = AV_AAC, .config = true, .data = eight, .size = 2 });
    put(&t, &(struct audio_in){ .codec = AV_AAC, .data = eight, .size = 2, .time = 1020 * MS });
    send(&t, AV_AAC, 0, 2 * SECOND, 1000 * MS);
    assert_true(t.frames > 130);
    assert_tones(&t, t.n - SECOND, SECOND);
    tape_close(&t);
}

static void what_comes_before_its_configuration_waits(void **state)
{
    struct tape t;
    const uint8_t frame[] = { 0x21, 0x10, 0x04, 0x60, 0x8c, 0x1c };

    (void)state;
    NEEDS_LIBRARIES();
    tape_open(&t, AV_OPUS, 48000);
    for (int i = 0; i < 5; i++)
        put(&t, &(struct audio_in){ .codec = AV_AAC, .data = frame, .size = sizeof(frame),
                                    .time = i * 20 * MS });
    assert_int_equal(audio_convert_counts(t.c)->early, 5);
    assert_int_equal(t.frames, 0);
    send(&t, AV_AAC, 0, SECOND, 100 * MS);
    assert_true(t.frames > 40);
    tape_close(&t);
}

static void what_there_is_no_decoder_for(void **state)
{
    (void)state;
    assert_null(audio_decoder_new(AV_H264, NULL, 0));
    assert_null(audio_encoder_new(AV_MP3, 48000));
    assert_false(audio_lib_load() && audio_lib_lacks());
    assert_null(audio_decoder_new(AV_FLAC, NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_line_counts_samples), TEST(a_line_follows_a_clock_that_drifts),
        TEST(tones_come_out_as_they_went_in), TEST(a_hole_is_filled),
        TEST(garbage_is_counted_and_no_more), TEST(codecs_and_configurations_change),
        TEST(what_comes_before_its_configuration_waits), TEST(what_there_is_no_decoder_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
