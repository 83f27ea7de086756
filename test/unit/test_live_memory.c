/* SPDX-License-Identifier: MIT */
/* test_live_memory.c - a limit for all streams together: which of them lose packets first. */
#include "live_players.h"

/* ---- all streams together */

enum { BOUND = 1 << 20 };

static void test_the_largest_loses_its_oldest(void **state)
{
    struct live_registry *r = live_registry_new();
    const struct live_memory *memory = live_registry_memory(r);
    struct live_source *small = source_registered(r, "small"), *large[3];
    struct live_source_stat stat;
    struct player *p = player_join(small), *q;

    (void)state;
    live_registry_limit(r, BOUND);
    push_numbered(small, AV_VIDEO, true, false, 0, 10000, 0);
    for (int i = 0; i < 3; i++) {
        large[i] = source_registered(r, i == 0 ? "a" : i == 1 ? "b" : "c");
        push_numbered(large[i], AV_VIDEO, true, false, 0, 1000, 0);
    }
    q = player_join(large[0]);
    for (uint32_t n = 1; n < 9000; n++) { /* long GOPs */
        push_numbered(large[n % 3], AV_VIDEO, n % 1500 < 3, false, n, 1000 + n % 1000, n * 10);
        assert_true(memory->used <= BOUND + 3000);
        player_take_all(p);
    }
    assert_true(memory->squeezed > 0 && memory->squeezed_bytes > BOUND);
    assert_true(memory->squeezed < 100); /* not with each packet */
    live_source_stat(small, &stat);
    assert_int_equal(stat.log_packets, 1);
    assert_int_equal(p->n, 1);
    push_numbered(small, AV_VIDEO, false, false, 1, 1000, 40);
    player_take_all(p);
    assert_int_equal(p->c.dropped, 0);
    push_numbered(large[0], AV_VIDEO, true, false, 9000, 1000, 90000);
    player_take_all(q); /* a slow one continues at the next key frame */
    assert_int_equal(q->got[q->n - 1], 9000);
    player_leave(p);
    player_leave(q);
    for (int i = 0; i < 3; i++) {
        live_source_end(large[i], &the_publisher);
        (void)live_source_unref(large[i]);
    }
    live_source_end(small, &the_publisher);
    (void)live_source_unref(small);
    assert_int_equal(memory->used, 0);
    live_registry_free(r);
    assert_int_equal(live_source_live(), 0);
}

/* An owner of segments, part of which can be dropped. */
struct hoard {
    struct live_evictable keeper; /* first */
    size_t *used, bytes, lost;
};

static size_t hoarded(const struct live_evictable *k)
{
    return ((const struct hoard *)(const void *)k)->bytes;
}

static void lose_hoard(struct live_evictable *k)
{
    struct hoard *h = (struct hoard *)(void *)k;

    *h->used -= h->bytes;
    h->lost += h->bytes;
    h->bytes = 0;
}

/* Memory besides the logs counts, and its largest user loses it before smaller logs lose anything. */
static void test_keepers_lose(void **state)
{
    static const struct live_evictable_ops how = { hoarded, lose_hoard };
    enum { LIMIT = 1 << 20 };
    struct live_registry *r = live_registry_new();
    struct live_source *src = source_registered(r, "a");
    struct live_source_stat stat;
    struct hoard h[3] = { { .bytes = 100 << 10 }, { .bytes = 500 << 10 }, { .bytes = 300 << 10 } };

    (void)state;
    live_registry_limit(r, LIMIT);
    assert_int_equal(live_evictable_share(live_registry_memory(r)), LIMIT / 8);
    for (size_t i = 0; i < COUNT(h); i++) {
        h[i].used = live_registry_counter(r);
        *h[i].used += h[i].bytes;
        live_evictable_open(&h[i].keeper, r, "HLS of a", &how);
    }
    push_numbered(src, AV_VIDEO, true, false, 0, 100 << 10, 0);
    assert_int_equal(h[1].lost, 0); /* all of it fits */
    push_numbered(src, AV_VIDEO, false, false, 1, 100 << 10, 40);
    assert_int_equal(h[1].lost, 500 << 10); /* the largest was enough */
    assert_int_equal(h[0].lost + h[2].lost, 0);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 2);
    live_evictable_close(&h[2].keeper);
    live_evictable_close(&h[2].keeper);
    *h[0].used += LIMIT;
    push_numbered(src, AV_VIDEO, false, false, 2, 100, 80);
    assert_int_equal(h[2].lost, 0); /* it left */
    for (size_t i = 0; i < 2; i++)
        live_evictable_close(&h[i].keeper);
    live_source_end(src, &the_publisher);
    (void)live_source_unref(src);
    live_registry_free(r);
}

/* Many small users do not bypass the limit, and cost a played stream nothing. */
static void test_many_small_keepers_lose(void **state)
{
    static const struct live_evictable_ops how = { hoarded, lose_hoard };
    enum { LIMIT = 1 << 20, MANY = 100, EACH = 20 << 10 };
    struct live_registry *r = live_registry_new();
    const struct live_memory *memory = live_registry_memory(r);
    struct live_source *src = source_registered(r, "played");
    struct hoard h[MANY] = { 0 };
    struct live_source_stat stat;
    struct player *p = player_join(src);

    (void)state;
    live_registry_limit(r, LIMIT);
    for (uint32_t i = 0; i < MANY; i++) {
        h[i].used = live_registry_counter(r);
        h[i].bytes = EACH;
        *h[i].used += EACH;
        live_evictable_open(&h[i].keeper, r, "HLS of one that has ended", &how);
        push_numbered(src, AV_VIDEO, i == 0, false, i, 400, i * 40);
        assert_true(memory->used <= LIMIT + LIMIT / 16);
    }
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, MANY);
    for (size_t i = 0; i < MANY; i++) {
        *h[i].used -= h[i].bytes;
        live_evictable_close(&h[i].keeper);
    }
    player_leave(p);
    live_source_end(src, &the_publisher);
    (void)live_source_unref(src);
    live_registry_free(r);
}

/* The overhead of a packet counts, too: a million of one byte are not a small stream. */
static void test_small_packets_count(void **state)
{
    struct live_settings set = live_defaults;
    struct live_source *src;
    struct live_source_stat stat;

    (void)state;
    set.max_bytes = BOUND;
    set.jitter = LIVE_JITTER_OFF;
    set.gop_cache_max_frames = 0;
    src = source_begin(&set);
    push_numbered(src, AV_VIDEO, true, false, 0, 8, 0);
    for (uint32_t i = 1; i < 100000; i++) {
        push_numbered(src, AV_VIDEO, false, false, i, 8, 0);
        live_source_stat(src, &stat);
        assert_true(stat.log_packets * (sizeof(struct av_packet) + 8) <= BOUND);
    }
    source_end(src);
}

/* ---- the first player of a large backlog */

/* Streams without players lose everything possible first, regardless of their number and size. */
static void test_played_streams_lose_last(void **state)
{
    enum { LIMIT = 1 << 20, OTHERS = 100, EACH = 8 << 10 };
    struct live_registry *r = live_registry_new();
    struct live_source *played = source_registered(r, "played"), *others[OTHERS];
    struct player *p = player_join(played);
    struct live_source_stat stat;

    (void)state;
    for (uint32_t i = 0; i < 8; i++)
        push_numbered(played, AV_VIDEO, i == 0, false, i, LIMIT / 16, i * 40);
    for (size_t i = 0; i < OTHERS; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "other-%zu", i);
        others[i] = source_registered(r, name);
        push_numbered(others[i], AV_VIDEO, true, false, 0, EACH / 2, 0);
    }
    live_registry_limit(r, LIMIT);
    for (uint32_t n = 1; n < 10; n++) {
        for (size_t i = 0; i < OTHERS; i++)
            push_numbered(others[i], AV_VIDEO, false, false, n, EACH / 2, n * 40);
    }
    assert_true(live_registry_memory(r)->squeezed > OTHERS);
    live_source_stat(played, &stat);
    assert_int_equal(stat.log_packets, 8);
    for (uint32_t n = 8; n < 40; n++) /* until it has more than all others */
        push_numbered(played, AV_VIDEO, n % 8 == 0, false, n, LIMIT / 16, n * 40);
    assert_true(live_registry_memory(r)->used <= LIMIT + LIMIT / 8);
    player_leave(p);
    for (size_t i = 0; i < OTHERS; i++) {
        live_source_end(others[i], &the_publisher);
        (void)live_source_unref(others[i]);
    }
    live_source_end(played, &the_publisher);
    (void)live_source_unref(played);
    live_registry_free(r);
}

/* Players do not protect a large stream: smaller ones keep their packets. */
static void test_a_large_played_stream_loses_first(void **state)
{
    enum { LIMIT = 16 << 20, FRAME = 512 << 10, SMALL_FRAME = 8 << 10 };
    struct live_registry *r = live_registry_new();
    struct live_source *large = source_registered(r, "large"), *small = source_registered(r, "small");
    struct player *p = player_join(large);
    struct live_source_stat stat;

    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        push_numbered(small, AV_VIDEO, i == 0, false, i, SMALL_FRAME, i * 40);
    live_registry_limit(r, LIMIT);
    for (uint32_t i = 0; i < 40; i++)
        push_numbered(large, AV_VIDEO, i % 4 == 0, false, i, FRAME, i * 40);
    assert_true(live_registry_memory(r)->squeezed > 0);
    assert_true(live_registry_memory(r)->used <= LIMIT + LIMIT / 8);
    live_source_stat(small, &stat);
    assert_int_equal(stat.log_packets, 20);
    player_leave(p);
    live_source_end(large, &the_publisher);
    live_source_end(small, &the_publisher);
    (void)live_source_unref(large);
    (void)live_source_unref(small);
    live_registry_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_largest_loses_its_oldest), TEST(test_keepers_lose),
        TEST(test_many_small_keepers_lose), TEST(test_small_packets_count),
        TEST(test_played_streams_lose_last), TEST(test_a_large_played_stream_loses_first),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
