/* SPDX-License-Identifier: MIT */
/* test_audio_clock.c - audio timestamps: their values, their distance from the source's clock, and that
 * they never decrease. */
#include "av/packet.h"
#include "format/audio_clock.h"
#include "unit.h"

#include <stdlib.h>

enum { RATE = 44100, FRAME = 1024, COUNT_OF_FRAMES = 2000 };

/* In ms relative to frame n of a regular source; a source has whole milliseconds. */
typedef int64_t (*stamp)(int n);

static int64_t regular(int n)
{
    return (int64_t)n * FRAME * 1000 / RATE;
}

/* Its audio is longer than its video: where it loops, two frames are too close. */
static int64_t looped(int n)
{
    return regular(n) - 13 * (n / 100);
}

static int64_t looped_with_gaps(int n)
{
    return regular(n) + 15 * (n / 100);
}

static int64_t in_pairs(int n)
{
    return regular(n - n % 2);
}

static int64_t in_fours(int n)
{
    return regular(n - n % 4);
}

static int64_t jittery(int n)
{
    return regular(n) + (n * 7919) % 19;
}

static int64_t equal(int n)
{
    return n < 100 ? regular(n) : regular(100);
}

static int64_t a_bit_back(int n)
{
    return n % 50 == 49 ? regular(n) - 40 : regular(n);
}

static int64_t with_pauses(int n)
{
    return regular(n) + 5000 * (n / 300);
}

static int64_t fast(int n)
{
    return regular(n) * 1003 / 1000;
}

static int64_t slow(int n)
{
    return regular(n) * 997 / 1000;
}

static const struct {
    const char *name;
    stamp stamp;
    double most;     /* frames that it may be off, once it knows the source */
    double smooth;   /* maximum number of 100 steps that are not a frame long */
} rows[] = {
    { "regular", regular, 0.1, 0 },
    { "a file that loops, 13 ms too early each time", looped, 1.05, 20 },
    { "a file that loops, 15 ms too late each time", looped_with_gaps, 1.05, 10 },
    { "two at a time", in_pairs, 1, 1 },
    { "four at a time", in_fours, 1.7, 1 },
    { "jitter of 19 ms", jittery, 1, 1 },
    { "pauses of 5 s", with_pauses, 0.1, 1 },
    { "a clock that is 0.3 % fast", fast, 0.6, 10 },
    { "a clock that is 0.3 % slow", slow, 0.6, 10 },
    { "40 ms back, now and then", a_bit_back, 1.3, 15 },
    { "a clock that stands", equal, 5, 100 },
};

static double frames_of(int64_t ticks)
{
    return (double)llabs(ticks) / FRAME;
}

static void test_follows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct audio_clock c = { .rate = RATE };
        int64_t before = -1, expect = 0;
        unsigned odd = 0;
        double worst = 0;

        for (int n = 0; n < COUNT_OF_FRAMES; n++) {
            int64_t dts = AV_MS(rows[i].stamp(n)), at = audio_clock_next(&c, dts, FRAME);
            double off = frames_of(at - dts * RATE / AV_CLOCK);

            assert_true(at > before);
            odd += n > 0 && at != expect;
            if (n > 50 && off > worst)
                worst = off;
            before = at;
            expect = at + FRAME;
        }
        print_message("  %s: %.2f frames off, %.1f %% no frame long\n", rows[i].name, worst,
                      odd * 100.0 / COUNT_OF_FRAMES);
        assert_true(worst <= rows[i].most);
        assert_true(odd * 100.0 / COUNT_OF_FRAMES <= rows[i].smooth);
    }
}

/* Any timestamps: output only decreases at a jump, and then has the new time. */
static void test_never_falls(void **state)
{
    uint32_t random = 1;

    (void)state;
    for (int round = 0; round < 50; round++) {
        struct audio_clock c = { .rate = 48000, .loose = round % 2 };
        int64_t dts = 0, before = -1;

        for (int n = 0; n < 500; n++) {
            int64_t at;

            random = random * 1664525 + 1013904223;
            dts += (int64_t)(random >> 16) % (round * 400 + 2) - round * 150;
            if (dts < 0)
                dts = 0;
            at = audio_clock_next(&c, dts, random % 7 ? 1024 : 0);
            assert_true(at > before || (at == dts * 48000 / AV_CLOCK && before - at > 24000));
            before = at;
        }
    }
}

/* A gap is applied at once, and so is a jump. */
static void test_resync(void **state)
{
    static const int64_t to[] = { 500, 20000, 3600000, 0, 1000 };
    struct audio_clock c = { .rate = 48000 };

    (void)state;
    for (size_t i = 0; i < COUNT(to); i++) {
        for (int n = 0; n < 300; n++)
            assert_int_equal(audio_clock_next(&c, AV_MS(to[i]) + n * 1920, 1024),
                             to[i] * 48 + n * 1024);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_follows), TEST(test_never_falls),
                                        TEST(test_resync) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
