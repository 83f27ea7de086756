/* SPDX-License-Identifier: MIT */
/* test_rtc_quality.c - capacity of a player's link: simulated with a queue, random loss and a report a
 * second. */
#include "serve/rtc/quality.h"
#include "unit.h"

enum { PACKETS_ALL = 1000 }; /* a second */

static uint64_t seed;

static unsigned chance(unsigned most)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % most;
}

struct link {
    unsigned room;      /* packets a second */
    unsigned loss;      /* per 1,000, regardless of the rate */
    co_usec trip;
    unsigned queue;     /* packets that wait; 300 at most */
    co_usec now;
    struct rtc_quality line;
    unsigned least, most; /* bounds of the rate */
};

/* One second: sent packets, arrivals, and the report about them. */
static void second(struct link *k)
{
    static const unsigned of[] = { PACKETS_ALL, PACKETS_ALL * 6 / 10, PACKETS_ALL / 10 };
    unsigned sent = of[k->line.takes], lost = 0, went = 0, waits;

    for (unsigned i = 0; i < sent; i++) {
        went += k->room;
        for (; went >= sent; went -= sent)
            k->queue -= k->queue > 0;
        if (chance(1000) < k->loss || k->queue >= 300)
            lost++;
        else
            k->queue++;
    }
    waits = k->queue * 1000 / k->room;
    k->now += CO_SECONDS(1);
    (void)rtc_quality_report(&k->line, lost * 256 / sent, k->trip + CO_MS(waits), k->now);
    k->least = k->line.takes < k->least ? k->line.takes : k->least;
    k->most = k->line.takes > k->most ? k->line.takes : k->most;
}

static void run(struct link *k, unsigned seconds)
{
    k->least = RTC_QUALITY_KEYS;
    k->most = 0;
    while (seconds-- > 0)
        second(k);
}

/* Random losses are retransmitted, and a long round trip is not a slow link. */
static void test_a_wide_line_has_all(void **state)
{
    static const struct { unsigned loss; int64_t ms; } of[] = {
        { 0, 1 }, { 0, 300 }, { 50, 20 }, { 80, 40 }, { 20, 900 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(of); i++) {
        struct link k = { .room = 5000, .loss = of[i].loss, .trip = CO_MS(of[i].ms), .now = 1 };

        seed = i;
        run(&k, 120);
        assert_int_equal(k.most, RTC_QUALITY_ALL);
    }
}

static void test_a_thin_line_has_less(void **state)
{
    static const struct { unsigned room; enum rtc_quality_takes takes; } of[] = {
        { 800, RTC_QUALITY_NEEDED }, { 650, RTC_QUALITY_NEEDED }, { 400, RTC_QUALITY_KEYS },
        { 150, RTC_QUALITY_KEYS },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(of); i++) {
        struct link k = { .room = 5000, .loss = 10, .trip = CO_MS(30), .now = 1 };

        seed = i;
        run(&k, 20);
        assert_int_equal(k.most, RTC_QUALITY_ALL);
        k.room = of[i].room;
        run(&k, 2);
        assert_int_equal(k.most, RTC_QUALITY_ALL); /* it may be over soon */
        run(&k, 6);
        assert_int_equal(k.line.takes, of[i].takes);
        run(&k, 300); /* with a probe now and then for more capacity */
        assert_int_equal(k.most, of[i].takes);
        assert_true(k.least < of[i].takes);
        k.room = 5000;
        run(&k, 130);
        assert_int_equal(k.line.takes, RTC_QUALITY_ALL);
        run(&k, 60);
        assert_int_equal(k.most, RTC_QUALITY_ALL);
    }
}

/* The more probes fail, the rarer they become. */
static void test_trials_become_rare(void **state)
{
    struct link k = { .room = 700, .trip = CO_MS(30), .now = 1 };
    unsigned tried = 0;

    (void)state;
    run(&k, 10);
    for (unsigned i = 0; i < 300; i++) {
        enum rtc_quality_takes was = k.line.takes;

        second(&k);
        tried += k.line.takes < was;
    }
    assert_in_range(tried, 3, 9);
}

static void test_a_long_way_becomes_usual(void **state)
{
    struct rtc_quality l = { 0 };
    co_usec now = 1;

    (void)state;
    for (unsigned i = 0; i < 10; i++, now += CO_SECONDS(1))
        assert_int_equal(rtc_quality_report(&l, 0, CO_MS(20), now), RTC_QUALITY_ALL);
    for (unsigned i = 0; i < 200; i++, now += CO_SECONDS(1)) /* by another network */
        (void)rtc_quality_report(&l, 0, CO_MS(500), now);
    assert_int_equal(l.takes, RTC_QUALITY_ALL);
    assert_string_equal(rtc_quality_name(RTC_QUALITY_ALL), "all");
    assert_string_equal(rtc_quality_name(RTC_QUALITY_NEEDED), "needed");
    assert_string_equal(rtc_quality_name(RTC_QUALITY_KEYS), "keys");
}

/* Reports that come with each request say nothing about their moment. */
static void test_many_reports_are_looked_at_together(void **state)
{
    struct rtc_quality l = { 0 };
    uint32_t highest = UINT32_MAX - 200, lost = 0;
    co_usec now = 1;

    (void)state;
    for (unsigned i = 0; i < 60; i++, now += CO_MS(100)) {
        highest += 10;
        lost += i % 10 ? 0 : 50; /* half of them, all at once */
        (void)rtc_quality_input(&l, highest, lost, CO_MS(20), now);
        assert_true(i > 25 || l.takes == RTC_QUALITY_ALL); /* for 2 s */
    }
    assert_int_equal(l.takes, RTC_QUALITY_NEEDED);
    for (unsigned i = 0; i < 60; i++, now += CO_MS(100)) {
        highest += 10;
        (void)rtc_quality_input(&l, highest, lost, 0, now);
    }
    assert_int_equal(l.takes, RTC_QUALITY_ALL);
    (void)rtc_quality_input(&l, 5, 0, 0, now + CO_SECONDS(1)); /* it restarts */
    (void)rtc_quality_input(&l, 25, 400, 0, now + CO_SECONDS(2)); /* more than there were */
    assert_true(l.bad > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_wide_line_has_all), TEST(test_a_thin_line_has_less),
        TEST(test_trials_become_rare), TEST(test_a_long_way_becomes_usual),
        TEST(test_many_reports_are_looked_at_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
