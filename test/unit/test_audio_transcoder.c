/* SPDX-License-Identifier: MIT */
/* test_audio_transcoder.c - audio conversion while other work runs: in order, in place or on helper
 * threads; its user may close it at any time. */
#include "audio/transcoder/transcoder.h"

#include "co/thread.h"
#include "audio/lib.h"
#include "unit.h"

#include <string.h>

enum { FRAMES = 100, LANES = 14 };

#define NEEDS_LIBRARIES()                                                                    \
    do {                                                                                     \
        if (!transcoder_prepare())                                                           \
            skip();                                                                          \
    } while (0)

static uint8_t coded[FRAMES][AUDIO_MADE_MAX];
static size_t sizes[FRAMES];

/* Silence in AAC. */
static void code(void)
{
    static float v[AUDIO_FRAME_MAX * AUDIO_CHANNELS];
    struct audio_encoder *e = audio_encoder_new(AV_AAC, 48000);
    int n = 0;
    int64_t begin;

    for (int64_t at = 0; n < FRAMES; at += AUDIO_FRAME_MAX) {
        sizes[n] = audio_encode(e, v, at, coded[n], &begin);
        n += sizes[n] > 0;
    }
    audio_encoder_free(e);
}

struct ear {
    struct transcoder *lane;
    unsigned frames, rests, close_at;
    int64_t last;
    bool wrong;
};

static void on_frame(void *arg, const struct audio_out *out)
{
    struct ear *e = arg;

    e->wrong |= !e->lane || out->size == 0 || (e->frames > 0 && out->time != e->last + 1800);
    e->last = out->time;
    if (++e->frames == e->close_at) {
        transcoder_close(e->lane);
        e->lane = NULL;
    }
}

static void on_rest(void *arg)
{
    struct ear *e = arg;

    e->wrong |= !e->lane;
    e->rests++;
}

static struct co_group group;

static void open_ear(struct ear *e)
{
    const struct transcoder_opts opts = { .group = &group, .name = "v/a/s", .to = AV_OPUS,
                                          .bitrate = 48000, .on_frame = on_frame,
                                          .on_rest = on_rest, .arg = e };

    *e = (struct ear){ .lane = transcoder_open(&opts) };
    assert_non_null(e->lane);
}

static void put_config(struct ear *e)
{
    const struct audio_in in = { .codec = AV_AAC, .config = true, .data = audio_aac_config,
                                 .size = AUDIO_AAC_CONFIG };

    transcoder_put(e->lane, &in);
}

static void put_frames(struct ear *e, int from, int to)
{
    for (int i = from; i < to && e->lane; i++) {
        const struct audio_in in = { .codec = AV_AAC, .time = i * 1920, .data = coded[i],
                                     .size = sizes[i] };

        transcoder_put(e->lane, &in);
    }
}

static void wait_for(const unsigned *n, unsigned least)
{
    for (int i = 0; i < 5000 && *n < least; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_true(*n >= least);
}

static uint64_t running(void)
{
    struct transcoder_stat s;

    transcoder_stat(&s);
    return s.running[0] + s.running[1];
}

static void all_end(void)
{
    for (int i = 0; i < 5000 && running() > 0; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(running(), 0);
    assert_ok(co_group_wait(&group));
}

static int setup(void **state)
{
    err_t err = co_init();

    (void)state;
    co_group_init(&group);
    return err != NULL;
}

static void frames_come_out_in_order(void **state)
{
    struct ear e;
    struct transcoder_stat before, after;

    (void)state;
    NEEDS_LIBRARIES();
    code();
    transcoder_stat(&before);
    open_ear(&e);
    put_config(&e);
    put_frames(&e, 0, FRAMES / 2);
    wait_for(&e.frames, 50);
    put_frames(&e, FRAMES / 2, FRAMES);
    wait_for(&e.frames, 104);
    wait_for(&e.rests, 1);
    assert_false(e.wrong);
    transcoder_close(e.lane);
    all_end();
    transcoder_stat(&after);
    assert_true(after.frames[0] - before.frames[0] >= 104 && after.micros[0] > before.micros[0]);
    assert_int_equal(after.bad + after.dropped, before.bad + before.dropped);
}

/* More than are converted in place. */
static void many_lanes_run_at_a_time(void **state)
{
    static struct ear e[LANES];

    (void)state;
    NEEDS_LIBRARIES();
    code();
    for (int i = 0; i < LANES; i++)
        open_ear(&e[i]);
    for (int k = 0; k < FRAMES; k += 10) {
        for (int i = 0; i < LANES; i++) {
            if (k == 0)
                put_config(&e[i]);
            put_frames(&e[i], k, k + 10);
        }
        assert_ok(co_sleep(CO_MS(2)));
    }
    for (int i = 0; i < LANES; i++) {
        wait_for(&e[i].frames, 104);
        assert_false(e[i].wrong);
        transcoder_close(e[i].lane);
    }
    all_end();
}

/* From its own callback, before it ran, and while a helper thread runs it. */
static void a_lane_is_closed_at_any_time(void **state)
{
    struct ear e;

    (void)state;
    NEEDS_LIBRARIES();
    code();
    for (unsigned at = 1; at < 60; at += 7) {
        open_ear(&e);
        e.close_at = at;
        put_config(&e);
        put_frames(&e, 0, FRAMES);
        wait_for(&e.frames, at);
        assert_ok(co_sleep(CO_MS(2)));
        assert_true(e.frames == at && !e.wrong && !e.lane);
    }
    for (int i = 0; i < 20; i++) {
        open_ear(&e);
        put_config(&e);
        put_frames(&e, 0, i);
        if (i % 2)
            co_yield();
        transcoder_close(e.lane);
        e.lane = NULL;
    }
    all_end();
    transcoder_close(NULL);
}

/* The server ends, and the transcoder's user notices later. */
static void a_group_stops_with_its_lanes(void **state)
{
    static struct ear e[LANES];

    (void)state;
    NEEDS_LIBRARIES();
    code();
    for (int i = 0; i < LANES; i++) {
        open_ear(&e[i]);
        put_config(&e[i]);
        put_frames(&e[i], 0, 5);
    }
    co_yield();
    assert_err(co_group_stop(&group), ERR_OK);
    for (int i = 0; i < LANES; i++) {
        put_frames(&e[i], 5, 10);
        transcoder_close(e[i].lane);
    }
    assert_int_equal(running(), 0);
    co_threads_end(CO_SECONDS(5)); /* unfinished work is discarded */
}

/* Input that arrives too fast, and constant changes of configuration. */
static void what_is_too_much_is_left_out(void **state)
{
    struct transcoder_stat before, after;
    struct ear e;

    (void)state;
    NEEDS_LIBRARIES();
    code();
    transcoder_stat(&before);
    open_ear(&e);
    put_config(&e);
    for (int i = 0; i < 10; i++)
        put_frames(&e, 0, FRAMES);
    transcoder_stat(&after);
    assert_true(after.dropped - before.dropped > 700);
    wait_for(&e.frames, 50);
    for (int i = 0; i < 300; i++) {
        const uint8_t other[] = { 0x11, i % 2 ? 0x90 : 0x88 };
        const struct audio_in in = { .codec = AV_AAC, .config = true, .data = other,
                                     .size = sizeof(other) };

        transcoder_put(e.lane, &in);
        put_frames(&e, i % FRAMES, i % FRAMES + 1);
    }
    wait_for(&e.rests, 1);
    transcoder_put(e.lane, &(struct audio_in){ .codec = AV_AAC, .data = coded[0], .size = 0 });
    transcoder_put(e.lane, &(struct audio_in){ .codec = AV_AAC, .data = coded[0],
                                               .size = AUDIO_CODED_MAX + 1 });
    transcoder_close(e.lane);
    all_end();
}

#define CO_TEST(f) cmocka_unit_test_setup_teardown(f, setup, nothing_left)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CO_TEST(frames_come_out_in_order), CO_TEST(many_lanes_run_at_a_time),
        CO_TEST(a_lane_is_closed_at_any_time), CO_TEST(a_group_stops_with_its_lanes),
        CO_TEST(what_is_too_much_is_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
