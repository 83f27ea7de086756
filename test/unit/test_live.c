/* SPDX-License-Identifier: MIT */
/* test_live.c - sources, wires and consumers, with a test format. */
#include "live_players.h"

static void test_join_at_the_newest_key_frame(void **state)
{
    static const uint32_t want[] = { 1, 2, 4, 5, 6 };
    struct live_source *src = source_begin(&live_defaults);
    struct player *p;

    (void)state;
    push_numbered(src, AV_DATA, false, true, 1, 40, 0);
    push_numbered(src, AV_VIDEO, false, true, 2, 50, 0);
    push_numbered(src, AV_VIDEO, true, false, 3, 5000, 0);
    push_numbered(src, AV_VIDEO, true, false, 4, 5000, 40);
    push_numbered(src, AV_VIDEO, false, false, 5, 500, 80);
    p = player_join(src);
    push_numbered(src, AV_AUDIO, false, false, 6, 60, 90);
    player_take_all(p);
    assert_got(p, 5, want);
    assert_int_equal(live_consumer_pending(&p->c), 0);
    player_leave(p);
    source_end(src);
}

static void test_without_cache_the_next_key_frame(void **state)
{
    static const uint32_t want[] = { 1, 4, 5 };
    struct live_settings set = live_defaults;
    struct live_source *src;
    struct player *p;

    (void)state;
    set.gop_cache = false;
    src = source_begin(&set);
    push_numbered(src, AV_VIDEO, false, true, 1, 50, 0);
    push_numbered(src, AV_VIDEO, true, false, 2, 5000, 0);
    p = player_join(src);
    push_numbered(src, AV_VIDEO, false, false, 3, 500, 40);
    player_take_all(p);
    assert_int_equal(p->n, 0);
    push_numbered(src, AV_VIDEO, true, false, 4, 5000, 80);
    for (uint32_t i = 0; i < 100; i++) /* the block of the key frame must wait for the player */
        push_numbered(src, AV_AUDIO, false, false, 5 + i, 4000, 90 + i);
    player_take_all(p);
    assert_int_equal(p->n, 102);
    assert_memory_equal(p->got, want, sizeof(want));
    player_leave(p);
    source_end(src);
}

/* A burst of several GOPs before the player's turn comes: it waited, so it gets all of it. */
static void test_who_waits_gets_all_from_the_first_key_frame(void **state)
{
    struct live_settings set = live_defaults;

    (void)state;
    for (int cache = 0; cache < 2; cache++) {
        struct live_source *src;
        struct player *p;

        set.gop_cache = cache;
        src = source_begin(&set);
        p = player_join(src);
        push_numbered(src, AV_VIDEO, false, true, 0, 50, 0);
        for (uint32_t i = 1; i <= 300; i++)
            push_numbered(src, AV_VIDEO, i % 30 == 3, false, i, 2000, i * 40);
        player_take_all(p);
        assert_int_equal(p->n, 1 + 298);
        assert_int_equal(p->got[1], 3);
        assert_int_equal(p->c.dropped, 0);
        player_leave(p);
        source_end(src);
    }
}

/* Two configurations in one burst: a player from the first one gets the first, then the second. */
static void test_configuration_of_its_own_start(void **state)
{
    static const uint32_t want[] = { 1, 2, 3, 4 };
    struct live_source *src = source_begin(&live_defaults);
    struct player *p = player_join(src);

    (void)state;
    push_numbered(src, AV_VIDEO, false, true, 1, 50, 0);
    push_numbered(src, AV_VIDEO, true, false, 2, 500, 0);
    push_numbered(src, AV_VIDEO, false, true, 3, 50, 40);
    push_numbered(src, AV_VIDEO, true, false, 4, 500, 40);
    player_take_all(p);
    assert_got(p, 4, want);
    player_leave(p);
    source_end(src);
}

static void test_configuration_of_the_key_frame_not_of_now(void **state)
{
    static const uint32_t want[] = { 1, 2, 3, 4 };
    struct live_source *src = source_begin(&live_defaults);
    struct player *p;

    (void)state;
    push_numbered(src, AV_VIDEO, false, true, 1, 50, 0);
    push_numbered(src, AV_VIDEO, true, false, 2, 500, 0);
    push_numbered(src, AV_VIDEO, false, true, 3, 50, 40); /* new configuration inside the group */
    push_numbered(src, AV_VIDEO, false, false, 4, 500, 40);
    p = player_join(src);
    player_take_all(p);
    assert_got(p, 4, want);
    player_leave(p);
    source_end(src);
}

/* ---- counters of a sender */

static void test_audio_alone_starts_within_half_a_second(void **state)
{
    struct live_source *src = source_begin(&live_defaults);
    struct live_source_stat stat;
    struct player *p;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        push_numbered(src, AV_AUDIO, false, false, i, 100, i * 23);
    live_source_stat(src, &stat);
    assert_true(stat.log_packets <= 22 && stat.log_packets > 0);
    p = player_join(src);
    player_take_all(p);
    assert_true(p->n > 0 && p->got[0] >= 978);
    assert_int_equal(p->got[p->n - 1], 999);
    player_leave(p);
    source_end(src);
}

static void test_cache_is_bounded(void **state)
{
    struct live_settings set = live_defaults;
    struct live_source_stat stat;
    struct live_source *src;

    (void)state;
    set.gop_cache_max_frames = 100;
    set.max_bytes = 50000;
    src = source_begin(&set);
    push_numbered(src, AV_VIDEO, true, false, 0, 1000, 0);
    for (uint32_t i = 1; i < 200; i++) {
        push_numbered(src, AV_VIDEO, false, false, i, 100, i * 40);
        live_source_stat(src, &stat);
        assert_true(stat.log_packets <= 101 && stat.log_bytes <= 50000);
    }
    assert_int_equal(stat.log_packets, 0);
    push_numbered(src, AV_VIDEO, true, false, 200, 1000, 8000);
    push_numbered(src, AV_VIDEO, false, false, 201, 60000, 8040);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 0);
    source_end(src);
}

/* ---- all streams together */

/* A slow player is dropped from the log, and continues at a key frame, at a packet boundary. */
static void test_slow_player_skips_to_a_key_frame(void **state)
{
    struct live_settings set = live_defaults;
    struct live_source_stat stat;
    struct live_source *src;
    struct player *slow, *fast;
    uint32_t number = 0;

    (void)state;
    set.max_bytes = 300 * 1000;
    src = source_begin(&set);
    slow = player_join(src);
    fast = player_join(src);
    for (unsigned gop = 0; gop < 60; gop++) {
        for (unsigned i = 0; i < 30; i++, number++) {
            push_numbered(src, AV_VIDEO, i == 0, false, number, i == 0 ? 9000 : 1500, number * 40);
            player_take_all(fast);
            (void)player_take(slow, 400, false);
            live_source_stat(src, &stat);
            assert_true(stat.wire_bytes <= set.max_bytes + 256 * 1024 + 4096);
        }
    }
    player_take_all(slow);
    assert_int_equal(fast->n, number);
    assert_int_equal(fast->c.dropped, 0);
    assert_true(slow->n < number / 2 && slow->n > 100);
    assert_int_equal(slow->n + slow->c.dropped, number);
    for (unsigned i = 1; i < slow->n; i++) {
        if (slow->got[i] != slow->got[i - 1] + 1) {
            assert_true(slow->got[i] > slow->got[i - 1]);
            assert_int_equal(slow->got[i] % 30, 0);
        }
    }
    player_leave(slow);
    player_leave(fast);
    source_end(src);
}

static uint32_t rnd_state = 12345;

static uint32_t rnd(uint32_t n)
{
    rnd_state = rnd_state * 1664525u + 1013904223u;
    return (rnd_state >> 8) % n;
}

/* Players that come and go and read odd amounts: each sees whole packets, in order, with gaps
 * only before key frames. */
static void test_random_players(void **state)
{
    struct live_settings set = live_defaults;
    struct player *players[8] = { NULL };
    struct live_source *src;
    bool keys[6000];

    (void)state;
    set.max_bytes = 200 * 1000;
    src = source_begin(&set);
    for (uint32_t number = 0; number < 6000; number++) {
        struct player **at = &players[rnd(8)];

        keys[number] = rnd(40) == 0;
        push_numbered(src, AV_VIDEO, keys[number], false, number, 8 + rnd(keys[number] ? 90000 : 3000),
             number * 33);
        if (!*at) {
            *at = player_join(src);
        } else if (rnd(200) == 0) {
            player_leave(*at);
            *at = NULL;
        }
        for (unsigned i = 0; i < 8; i++) {
            struct player *p = players[i];

            if (!p)
                continue;
            (void)player_take(p, rnd(i < 4 ? 2000 : 200000), rnd(2) == 0);
            for (unsigned k = 1; k < p->n; k++)
                assert_true(p->got[k] == p->got[k - 1] + 1 ||
                            (p->got[k] > p->got[k - 1] && keys[p->got[k]]));
            if (p->n > 2000) {
                p->got[0] = p->got[p->n - 1];
                p->n = 1;
            }
        }
    }
    for (unsigned i = 0; i < 8; i++) {
        if (players[i])
            player_leave(players[i]);
    }
    source_end(src);
}

/* The cost of a packet must not depend on the number of players: the same renders, blocks and wakeups. */
static void test_cost_of_a_packet(void **state)
{
    struct live_work one, many;
    static struct player *players[1000];

    (void)state;
    for (unsigned n = 1; n <= 1000; n += 999) {
        struct live_source *src = source_begin(&live_defaults);

        push_numbered(src, AV_VIDEO, true, false, 0, 1000, 0);
        for (unsigned i = 0; i < n; i++)
            players[i] = player_join(src);
        src->work = (struct live_work){ 0 };
        for (uint32_t i = 1; i < 1000; i++)
            push_numbered(src, AV_VIDEO, i % 50 == 0, false, i, 1000, i * 40);
        *(n == 1 ? &one : &many) = src->work;
        for (unsigned i = 0; i < n; i++)
            player_leave(players[i]);
        source_end(src);
    }
    assert_int_equal(one.packets, 999);
    assert_int_equal(one.rendered, 999);
    assert_memory_equal(&one, &many, sizeof(one));
}

/* ---- the first player of a large backlog */

static void woken(struct live_consumer *c)
{
    assert_null(c->prev); /* it left the list before it was called */
}

static void test_parked_are_woken_once_and_in_order(void **state)
{
    struct live_source *src = source_begin(&live_defaults);
    static struct player *players[10];

    (void)state;
    push_numbered(src, AV_VIDEO, true, false, 0, 100, 0);
    for (unsigned i = 0; i < 10; i++) {
        players[i] = player_join(src);
        player_take_all(players[i]);
        live_consumer_park(&players[i]->c, 1 + (i * 7) % 10, woken);
    }
    live_consumer_unpark(&players[3]->c);
    src->work = (struct live_work){ 0 };
    for (uint32_t k = 1; k <= 10; k++) {
        push_numbered(src, AV_VIDEO, false, false, k, 100, k * 40);
        assert_ok(co_sleep(CO_MS(1))); /* not from within the push: soon after */
        for (unsigned i = 0; i < 10; i++)
            assert_int_equal(players[i]->c.prev == NULL, i == 3 || 1 + (i * 7) % 10 <= k);
    }
    assert_int_equal(src->work.wakes, 9);
    for (unsigned i = 0; i < 10; i++)
        player_leave(players[i]);
    source_end(src);
}

static void test_reduce_sequence_header(void **state)
{
    static const uint32_t all[] = { 1, 2, 1, 3 }, reduced[] = { 1, 2, 3 };

    (void)state;
    for (int reduce = 0; reduce < 2; reduce++) {
        struct live_settings set = live_defaults;
        struct live_source *src;
        struct player *p;

        set.reduce_sequence_header = reduce;
        src = source_begin(&set);
        p = player_join(src);
        push_numbered(src, AV_VIDEO, false, true, 1, 50, 0);
        push_numbered(src, AV_VIDEO, true, false, 2, 50, 0);
        push_numbered(src, AV_VIDEO, false, true, 1, 50, 40);
        push_numbered(src, AV_VIDEO, false, false, 3, 50, 40);
        player_take_all(p);
        assert_got(p, reduce ? 3 : 4, reduce ? reduced : all);
        player_leave(p);
        source_end(src);
    }
}

static void test_mix_correct(void **state)
{
    struct live_settings set = live_defaults;
    struct live_source *src;
    struct player *p;
    uint32_t last = 0;

    (void)state;
    set.mix_correct = true;
    set.jitter = LIVE_JITTER_OFF;
    src = source_begin(&set);
    p = player_join(src);
    for (uint32_t i = 0; i < 50; i++) { /* a second of video, then a second of audio */
        for (uint32_t k = 0; k < 5; k++)
            push_numbered(src, AV_VIDEO, i == 0 && k == 0, false, i * 200 + k * 40, 50, i * 200 + k * 40);
        for (uint32_t k = 0; k < 8; k++)
            push_numbered(src, AV_AUDIO, false, false, i * 200 + k * 25, 50, i * 200 + k * 25);
        player_take_all(p);
    }
    live_source_end(src, &the_publisher);
    player_take_all(p);
    assert_int_equal(p->n, 50 * 13);
    for (unsigned i = 0; i < p->n; i++) {
        assert_true(p->got[i] >= last);
        last = p->got[i];
    }
    player_leave(p);
    source_end(src);
}

static void test_players_stay_across_publishers(void **state)
{
    struct live_source *src = source_begin(&live_defaults);
    struct live_publisher next = { .ip = "127.0.0.1" };
    struct player *p = player_join(src);

    (void)state;
    push_numbered(src, AV_VIDEO, true, false, 1, 50, 1000);
    player_take_all(p);
    live_source_end(src, &the_publisher);
    assert_ok(live_source_begin(src, &next, &takeover_off));
    assert_err(live_source_begin(src, &the_publisher, &takeover_off), ERR_STREAM_BUSY);
    push_numbered(src, AV_VIDEO, false, true, 2, 50, 0);
    push_numbered(src, AV_VIDEO, true, false, 3, 50, 0);
    player_take_all(p);
    assert_int_equal(p->n, 3);
    player_leave(p);
    live_source_end(src, &next);
    source_end(src);
}

static const struct {
    const char *name;
    enum live_jitter mode;
    size_t n;
    struct { enum av_kind kind; bool config; int64_t ms; int at_ms; int64_t want_ms; } v[8];
} clock_rows[] = {
    { "starts at 0", LIVE_JITTER_FULL, 3,
      { { AV_VIDEO, false, 5000, 0, 0 }, { AV_AUDIO, false, 5010, 10, 10 },
        { AV_VIDEO, false, 5040, 40, 40 } } },
    { "off: as it comes", LIVE_JITTER_OFF, 2,
      { { AV_VIDEO, false, 5000, 0, 5000 }, { AV_VIDEO, false, 100, 10, 100 } } },
    { "zero: only the start", LIVE_JITTER_ZERO, 3,
      { { AV_VIDEO, false, 5000, 0, 0 }, { AV_VIDEO, false, 90000, 10, 85000 },
        { AV_VIDEO, false, 5010, 20, 10 } } },
    { "a jump back goes on", LIVE_JITTER_FULL, 4,
      { { AV_VIDEO, false, 9000, 0, 0 }, { AV_VIDEO, false, 9040, 40, 40 },
        { AV_VIDEO, false, 0, 80, 80 }, { AV_VIDEO, false, 40, 120, 120 } } },
    { "a jump ahead goes on", LIVE_JITTER_FULL, 3,
      { { AV_VIDEO, false, 0, 0, 0 }, { AV_VIDEO, false, 60000, 40, 40 },
        { AV_VIDEO, false, 60040, 80, 80 } } },
    { "one frame in 10 s is no jump", LIVE_JITTER_FULL, 2,
      { { AV_VIDEO, false, 0, 0, 0 }, { AV_VIDEO, false, 10000, 10000, 10000 } } },
    { "a file at full speed is no jump", LIVE_JITTER_FULL, 3,
      { { AV_VIDEO, false, 0, 0, 0 }, { AV_VIDEO, false, 2000, 0, 2000 },
        { AV_VIDEO, false, 4000, 0, 4000 } } },
    { "small steps back are held", LIVE_JITTER_FULL, 3,
      { { AV_VIDEO, false, 0, 0, 0 }, { AV_VIDEO, false, 40, 40, 40 },
        { AV_VIDEO, false, 30, 50, 40 } } },
    { "audio keeps its distance over a jump", LIVE_JITTER_FULL, 4,
      { { AV_VIDEO, false, 9000, 0, 0 }, { AV_AUDIO, false, 9005, 5, 5 },
        { AV_VIDEO, false, 100, 40, 40 }, { AV_AUDIO, false, 105, 45, 45 } } },
    { "a header stamped 0 is not the clock", LIVE_JITTER_FULL, 3,
      { { AV_VIDEO, false, 9000, 0, 0 }, { AV_VIDEO, true, 0, 10, 0 },
        { AV_VIDEO, false, 9040, 40, 40 } } },
    { "a header stamped 0 before a late start", LIVE_JITTER_FULL, 3,
      { { AV_VIDEO, true, 0, 0, 0 }, { AV_VIDEO, false, 500000, 40, 0 },
        { AV_AUDIO, false, 500010, 50, 10 } } },
    { "metadata before a late start", LIVE_JITTER_ZERO, 3,
      { { AV_DATA, true, 0, 0, 0 }, { AV_VIDEO, false, 90000, 40, 0 },
        { AV_VIDEO, false, 90040, 80, 40 } } },
    { "past 32 bits of milliseconds", LIVE_JITTER_FULL, 2,
      { { AV_VIDEO, false, 0xfffffff0, 0, 0 }, { AV_VIDEO, false, 0x100000018, 40, 40 } } },
    { "past 32 bits, as it comes", LIVE_JITTER_OFF, 2,
      { { AV_VIDEO, false, 0xfffffff0, 0, 0xfffffff0 },
        { AV_VIDEO, false, 0x100000018, 40, 0x100000018 } } },
    { "from below 0", LIVE_JITTER_FULL, 2,
      { { AV_VIDEO, false, -100, 0, 0 }, { AV_VIDEO, false, -60, 40, 40 } } },
};

static void test_clock(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(clock_rows); i++) {
        struct live_clock c;

        print_message("  %s\n", clock_rows[i].name);
        live_clock_init(&c, clock_rows[i].mode);
        for (size_t k = 0; k < clock_rows[i].n; k++) {
            struct av_packet pkt = { .kind = (uint8_t)clock_rows[i].v[k].kind,
                                     .config = clock_rows[i].v[k].config };
            co_usec now = CO_SECONDS(100) + CO_MS(clock_rows[i].v[k].at_ms);

            assert_int_equal(live_clock_correct(&c, &pkt, AV_MS(clock_rows[i].v[k].ms), now),
                             AV_MS(clock_rows[i].v[k].want_ms));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_join_at_the_newest_key_frame),
        TEST(test_without_cache_the_next_key_frame),
        TEST(test_who_waits_gets_all_from_the_first_key_frame),
        TEST(test_configuration_of_its_own_start),
        TEST(test_configuration_of_the_key_frame_not_of_now),
        TEST(test_audio_alone_starts_within_half_a_second), TEST(test_cache_is_bounded),
        TEST(test_slow_player_skips_to_a_key_frame), TEST(test_random_players),
        TEST(test_cost_of_a_packet), TEST(test_parked_are_woken_once_and_in_order),
        TEST(test_reduce_sequence_header), TEST(test_mix_correct),
        TEST(test_players_stay_across_publishers), TEST(test_clock),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
