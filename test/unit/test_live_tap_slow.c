/* SPDX-License-Identifier: MIT */
/* test_live_tap_slow.c - slow readers of a tap: by slots, bytes and age. */
#include "live_replica.h"

/* ---- slow readers */

/* Everything until the tap was full, then from a key frame on; with configurations of the meantime. */
static void check_gap(const struct live_source *src, uint64_t *missing)
{
    uint8_t before = src->ring[src->first % src->cap]->data[0];
    bool gap = false;

    *missing = 0;
    for (uint64_t at = src->first + 1; at < src->head; at++) {
        const struct av_packet *pkt = src->ring[at % src->cap];

        assert_true(pkt->dts >= src->ring[(at - 1) % src->cap]->dts);
        if (pkt->data[0] != (uint8_t)(before + 1)) {
            assert_false(gap);
            gap = true;
            *missing = at;
            while (src->ring[at % src->cap]->config)
                at++;
            pkt = src->ring[at % src->cap];
            assert_true(pkt->start);
        }
        before = pkt->data[0];
    }
}

static void keep_all(struct live_reader *r, struct live_source *src)
{
    live_reader_open(r, src); /* the log keeps unread packets */
}

static void test_slow_reader_by_slots(void **state)
{
    struct live_settings set = tap_settings;
    struct live_source_stat stat;
    struct live_reader r = { 0 };
    struct player *b;
    struct pair p;
    uint64_t at;

    (void)state;
    p = pair_of(&set);
    pair_follow(&p);
    pair_begin(&p);
    pair_push(&p, "VA");
    keep_all(&r, p.replica);
    b = tap_player(p.replica, &format_all);
    pair_push_groups(&p, 6000, 20);
    pair_push(&p, "V");
    pair_push_groups(&p, 100, 20);
    pair_settle(&p);
    assert_int_equal(p.raises, 1);
    tap_play(b);
    assert_true(p.replica->head > 4000 && p.replica->head < 4096);
    pair_push(&p, "a");                     /* no place to start at */
    pair_push_groups(&p, 1, 20);
    pair_push(&p, "v");
    live_source_refresh(p.replica);
    check_gap(p.replica, &at);
    assert_true(at > 4000);
    assert_int_equal(p.replica->ring[at % p.replica->cap]->config, 1); /* the V, not the A */
    assert_int_equal(p.replica->head - at, 3);
    live_source_stat(p.replica, &stat);
    assert_int_equal(stat.dropped, 6000 + 2 + 1 + 100 + 1 - at);
    live_reader_close(&r);
    tap_player_leave(b);
    pair_end(&p);
}

static void test_slow_reader_by_bytes(void **state)
{
    struct live_settings set = tap_settings;
    struct live_reader r = { 0 };
    struct pair p;
    uint64_t at;

    (void)state;
    set.max_bytes = 1 << 20;
    p = pair_of(&set);
    p.replica->set.max_bytes = 64 << 20;
    pair_begin(&p);
    pair_follow(&p);
    keep_all(&r, p.replica);
    pair_push_groups(&p, 1000, 10000);
    pair_settle(&p);
    assert_true(p.replica->head > 90 && p.replica->head < 105);
    pair_push_groups(&p, 10, 10000);
    live_source_refresh(p.replica);
    check_gap(p.replica, &at);
    assert_int_equal(p.replica->head - at, 10);
    live_reader_close(&r);
    pair_end(&p);
}

static void test_slow_reader_by_age(void **state)
{
    struct live_settings set = tap_settings;
    struct pair p;

    (void)state;
    set.queue_length = CO_MS(100); /* at least twice the interval of checks */
    p = pair_of(&set);
    pair_begin(&p);
    pair_follow(&p);
    for (int i = 0; i < 30; i++) {
        pair_push_groups(&p, 10, 20);
        assert_ok(co_sleep(CO_MS(100)));
    }
    live_source_refresh(p.replica);
    assert_in_range(p.replica->head, 190, 280);
    pair_push_groups(&p, 10, 20);
    live_source_refresh(p.replica);
    assert_true(p.replica->have_key);
    assert_int_equal(p.replica->head - p.replica->key, 10);
    pair_end(&p);
}

/* The publisher's end is never lost, and the next one's start waits until there is room. */
static void test_slow_reader_and_publishers(void **state)
{
    struct pair p = pair_of(&tap_settings);
    struct player *b;
    size_t before;

    (void)state;
    pair_follow(&p);
    pair_begin(&p);
    pair_push(&p, "V");
    b = tap_player(p.replica, &format_all);
    pair_push_groups(&p, 5000, 20);
    for (int i = 0; i < 100; i++) {
        live_source_end(p.owner, &tap_publisher);
        pair_begin(&p);
        pair_push(&p, "Vkv");
    }
    tap_play(b);
    assert_false(live_source_publishing(p.replica));
    before = b->got.len;
    pair_push(&p, "vvkv");
    tap_play(b);
    assert_true(live_source_publishing(p.replica));
    /* the new configuration, and two frames */
    assert_int_equal(b->got.len - before, 3 * (FRAME + 14));
    tap_player_leave(b);
    pair_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_slow_reader_by_slots), TEST(test_slow_reader_by_bytes),
        TEST(test_slow_reader_by_age), TEST(test_slow_reader_and_publishers),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
