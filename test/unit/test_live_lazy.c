/* SPDX-License-Identifier: MIT */
/* test_live_lazy.c - a wire that renders only when a player is there, and catches up in slices. */
#include "live_players.h"

/* ---- the first player of a large backlog */

/* A GOP of `n` packets of `size` bytes, the first one's number is `from`. */
static void push_group(struct live_source *src, uint32_t from, uint32_t n, uint32_t size)
{
    for (uint32_t i = from; i < from + n; i++)
        push_numbered(src, AV_VIDEO, i == from, false, i, size, i * 40);
}

/* In a GOP of any size, neither a new player nor one turn renders much of it. */
static void test_a_join_renders_little(void **state)
{
    enum { N = 2400, SIZE = 5000, MOST = 512 * 1024 };
    struct live_source *src = source_begin(&live_defaults);
    struct live_source_stat stat;
    struct player *p;

    (void)state;
    push_group(src, 0, N, SIZE);
    p = player_join(src);
    for (;;) {
        uint64_t before = src->work.rendered;

        assert_true(before - p->n <= MOST / SIZE); /* nothing is rendered ahead of players */
        (void)player_take(p, SIZE_MAX, false);
        assert_true(src->work.rendered - before <= MOST / SIZE);
        if (live_consumer_pending(&p->c) == 0)
            break;
    }
    player_take_all(p);
    assert_int_equal(p->n, N);
    push_numbered(src, AV_VIDEO, false, false, N, SIZE, N * 40);
    assert_int_equal(src->work.rendered, N + 1); /* with all others from now on */
    live_source_stat(src, &stat);
    assert_true(stat.wire_bytes <= (size_t)N * SIZE * 11 / 10);
    player_leave(p);
    source_end(src);
}

/* Two wires of one stream: `eager` existed when the packets came, `lazy` comes after `cut` of
 * them, and the rest arrives while it renders a bit now and then. */
static void play_beside_eager(uint32_t cut, uint32_t n, uint32_t gop, uint32_t bite, bool end)
{
    static const uint32_t other[LIVE_PARAMS] = { 0, 1 };
    struct live_source *src = source_begin(&live_defaults);
    struct player *eager = player_join(src), *lazy = calloc(1, sizeof(*lazy));
    uint32_t start = cut ? (cut - 1) / gop * gop : 0;

    assert_non_null(lazy);
    for (uint32_t i = 0; i < n; i++) {
        if (i == cut)
            live_consumer_open(&lazy->c, src, &plain_format, other);
        push_numbered(src, AV_VIDEO, i % gop == 0, false, i, 30000 + i * 100, i * 40);
        if (i >= cut)
            (void)player_take(lazy, bite, i % 2);
    }
    if (end)
        live_source_end(src, &the_publisher);
    player_take_all(eager);
    player_take_all(lazy);
    assert_got(eager, n, eager->got);
    assert_got(lazy, n - start, eager->got + start);
    assert_int_equal(lazy->c.dropped, 0);
    assert_int_equal(live_consumer_pending(&lazy->c), 0);
    player_leave(eager);
    player_leave(lazy);
    source_end(src);
}

static void test_lazy_and_eager_are_the_same_at_every_cut(void **state)
{
    static const uint32_t bites[] = { 0, 50000, 3000000 };

    (void)state;
    for (uint32_t cut = 0; cut < 24; cut++) {
        for (size_t i = 0; i < COUNT(bites); i++)
            play_beside_eager(cut, 24, cut % 2 ? 24 : 11, bites[i], cut % 3 == 0);
    }
}

/* The state of a format is handled likewise, with the configuration at its start. */
static void test_lazy_format_that_remembers(void **state)
{
    enum { N = 40 };
    struct live_source *src = source_begin(&live_defaults);
    struct live_consumer c = { 0 };
    struct iovec iov[4];
    uint8_t at = 0;
    int n;

    (void)state;
    push_numbered(src, AV_VIDEO, false, true, 1, 44, 0);
    push_group(src, 0, N, 40000);
    push_numbered(src, AV_VIDEO, false, true, 2, 55, N * 40);
    live_consumer_open(&c, src, &counting_format, no_param);
    push_numbered(src, AV_VIDEO, true, false, N, 40000, N * 40);
    assert_true(live_wire_lags(c.wire));
    while ((n = live_consumer_ranges(&c, iov, 4, true)) > 0) {
        const uint8_t *frame = iov[0].iov_base;

        assert_int_equal(iov[0].iov_len, 2);
        assert_int_equal(frame[0], at);
        assert_int_equal(frame[1], at == 0 ? 44 : at == N ? 55 : 0);
        live_consumer_advance(&c, 2);
        at++;
    }
    assert_int_equal(at, N + 1);
    live_consumer_close(&c);
    source_end(src);
}

/* A player that joins a wire that has not reached the newest key frame starts there, once it has: with that
 * configuration, without waiting for the slow player. */
static void test_join_a_wire_that_lags(void **state)
{
    static const uint32_t want[] = { 3, 100, 101 };
    struct live_source *src = source_begin(&live_defaults);
    struct player *slow, *p;

    (void)state;
    push_numbered(src, AV_VIDEO, false, true, 2, 50, 0);
    push_group(src, 10, 60, 40000);
    slow = player_join(src);
    push_numbered(src, AV_VIDEO, false, true, 3, 60, 3000);
    push_group(src, 100, 2, 40000);
    assert_true(live_wire_lags(slow->c.wire));
    p = player_join(src);
    while (live_consumer_pending(&p->c) > 0)
        (void)player_take(p, SIZE_MAX, false);
    assert_got(p, COUNT(want), want);
    assert_int_equal(p->c.dropped, 0);
    player_take_all(slow);
    assert_int_equal(slow->n, 1 + 60 + 1 + 2);
    player_leave(p);
    player_leave(slow);
    source_end(src);
}

/* An unused wire keeps no more of the log than it would have kept itself. */
static void test_a_wire_that_lags_too_much(void **state)
{
    struct live_settings set = live_defaults;
    struct live_source_stat stat;
    struct live_source *src;
    struct player *p;

    (void)state;
    set.max_bytes = 4 << 20;
    src = source_begin(&set);
    push_group(src, 0, 50, 40000);
    p = player_join(src);
    for (uint32_t gop = 1; gop < 10; gop++) {
        push_group(src, gop * 50, 50, 40000);
        live_source_stat(src, &stat);
        assert_true(stat.log_bytes + stat.wire_bytes <= set.max_bytes + (1 << 20));
    }
    player_take_all(p);
    assert_int_equal(p->n + p->c.dropped, 500);
    assert_true(p->n >= 50 + 256 / 40 && p->c.dropped > 300);
    assert_int_equal(p->got[p->n - 50], 450);
    assert_int_equal(p->got[p->n - 1], 499);
    player_leave(p);
    source_end(src);
}

/* The log of a stream that ended stays until it is rendered, and no longer. */
static void test_the_end_of_a_log_that_lags(void **state)
{
    struct live_source_stat stat;

    (void)state;
    for (int stays = 0; stays < 2; stays++) {
        struct live_source *src = source_begin(&live_defaults);
        struct player *p;

        push_group(src, 0, 100, 40000);
        p = player_join(src);
        live_source_end(src, &the_publisher);
        live_source_stat(src, &stat);
        assert_true(stat.log_bytes > 0);
        if (stays) {
            player_take_all(p);
            assert_int_equal(p->n, 100);
        }
        (void)live_source_ref(src);
        player_leave(p);
        live_source_stat(src, &stat);
        assert_int_equal(stat.log_bytes, 0);
        (void)live_source_unref(src);
        source_end(src);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_join_renders_little),
        TEST(test_lazy_and_eager_are_the_same_at_every_cut),
        TEST(test_lazy_format_that_remembers), TEST(test_join_a_wire_that_lags),
        TEST(test_a_wire_that_lags_too_much), TEST(test_the_end_of_a_log_that_lags),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
