/* SPDX-License-Identifier: MIT */
/* test_live_tap.c - a stream on one worker and its replica on another, in one thread. */
#include "live_replica.h"

/* ---- formats: the first prints all of a packet, the second has state */

struct memory { /* current configuration, of both kinds */
    uint8_t config[AV_KINDS];
};

static void *memory_open(const uint32_t param[LIVE_PARAMS], const struct live_source *src)
{
    (void)param;
    (void)src;
    return calloc(1, sizeof(struct memory));
}

static void memory_make(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct memory *m = state;

    if (pkt->config) {
        m->config[pkt->kind] = pkt->data[0];
        return;
    }
    wr_bytes(out, m->config, sizeof(m->config));
    tap_say(out, pkt, pkt->dts);
}

static const struct live_format remembers = { .name = "remembers", .open = memory_open,
                                              .close = free, .make = memory_make };

static const struct live_format *const formats[] = { &format_all, &remembers };

/* ---- players */

static void assert_same(const struct player *a, const struct player *b)
{
    assert_int_equal(a->got.len, b->got.len);
    if (a->got.len > 0)
        assert_memory_equal(a->got.buf, b->got.buf, a->got.len);
}

/* ---- in one thread */

static void test_joins_where_players_at_home_do(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        const struct live_format *fmt = formats[i % 2];
        struct live_settings set = tap_settings;
        struct player *a, *b, *early = NULL;
        struct pair p;

        set.gop_cache = i & 2;
        p = pair_of(&set);
        pair_begin(&p);
        pair_push(&p, "DVAkvavavVavvaDv");
        if (i & 4) /* it waits for the replica */
            early = tap_player(p.replica, fmt);
        pair_follow(&p);
        assert_true(live_source_publishing(p.replica));
        a = tap_player(p.owner, fmt);
        b = tap_player(p.replica, fmt);
        pair_push(&p, "avAvkvVkv");
        tap_play(a);
        tap_play(b);
        assert_true(a->got.len > 0);
        assert_same(a, b);
        if (early) {
            tap_play(early);
            assert_same(a, early);
            tap_player_leave(early);
        }
        tap_player_leave(a);
        tap_player_leave(b);
        pair_end(&p);
    }
}

/* Configuration that the publisher repeats is passed on as on the owner. */
static void test_configuration_again(void **state)
{
    (void)state;
    for (int reduce = 0; reduce < 2; reduce++) {
        struct live_settings set = tap_settings;
        struct player *a, *b;
        struct pair p;

        set.reduce_sequence_header = reduce;
        p = pair_of(&set);
        pair_begin(&p);
        pair_follow(&p);
        a = tap_player(p.owner, &format_all);
        b = tap_player(p.replica, &format_all);
        for (int i = 0; i < 3; i++) {
            p.number = 7;
            pair_push(&p, "VAkav");
        }
        tap_play(a);
        tap_play(b);
        assert_int_equal(a->got.len, (reduce ? 2 + 9 : 2 + 13) * (FRAME + 14));
        assert_same(a, b);
        tap_player_leave(a);
        tap_player_leave(b);
        pair_end(&p);
    }
}

static void test_publishers_come_and_go(void **state)
{
    struct live_publisher other = { .ip = "127.0.0.2", .co = co_self() };
    struct live_source_stat stat;
    struct player *a, *b;
    struct pair p = pair_of(&tap_settings);
    struct live_reader r = { 0 };

    (void)state;
    pair_follow(&p);
    assert_false(live_source_publishing(p.replica));
    a = tap_player(p.owner, &format_all);
    b = tap_player(p.replica, &format_all);
    pair_begin(&p);
    pair_push(&p, "VAkvav");
    live_reader_open(&r, p.replica);
    assert_true(live_source_publishing(p.replica));
    live_source_end(p.owner, &tap_publisher);
    live_source_stat(p.replica, &stat);
    assert_true(stat.publishing && stat.replica && stat.log_packets == 4 && stat.consumers == 1);
    pair_settle(&p); /* its end is not a packet, and is passed on all the same */
    assert_int_equal(p.raises, 1);
    assert_false(live_source_publishing(p.replica));
    assert_true(live_reader_ended(&r));
    tap_play(a);
    tap_play(b);
    assert_ok(live_source_begin(p.owner, &other, &tap_takeover));
    pair_push(&p, "VVkvav");
    live_source_end(p.owner, &other);
    pair_begin(&p);
    pair_push(&p, "kv");
    tap_play(a);
    tap_play(b);
    assert_true(live_source_publishing(p.replica));
    assert_same(a, b);
    live_reader_close(&r);
    tap_player_leave(a);
    tap_player_leave(b);
    pair_end(&p);
}

/* A replica cannot be published to; a closed replica is an ordinary source. */
static void test_a_replica_has_no_publisher(void **state)
{
    struct pair p = pair_of(&tap_settings);
    struct live_publisher other = { .ip = "127.0.0.2" };

    (void)state;
    pair_begin(&p);
    pair_push(&p, "Vk");
    pair_follow(&p);
    assert_err(live_source_begin(p.replica, &other, &tap_takeover), ERR_STREAM_BUSY);
    assert_int_equal(live_source_idle_since(p.owner), 0); /* players may play there */
    pair_unfollow(&p);
    assert_true(live_source_idle_since(p.owner) > 0);
    assert_false(live_source_publishing(p.replica));
    assert_ok(live_source_begin(p.replica, &other, &tap_takeover));
    live_source_end(p.replica, &other);
    pair_follow(&p);
    assert_true(live_source_publishing(p.replica));
    pair_end(&p);
}

static void woken(struct live_consumer *c)
{
    assert_null(c->prev);
}

static void test_raised_when_a_player_is_due(void **state)
{
    struct pair p = pair_of(&tap_settings);
    struct player *a, *b;

    (void)state;
    pair_begin(&p);
    pair_push(&p, "Vkv");
    pair_follow(&p);
    a = tap_player(p.replica, &format_all);
    b = tap_player(p.replica, &format_all);
    tap_play(a);
    tap_play(b);
    pair_settle(&p);
    pair_push(&p, "vvv");
    pair_settle(&p);
    assert_int_equal(p.raises, 0); /* no player waits */
    tap_play(a);
    tap_play(b);
    live_consumer_park(&a->c, 3, woken);
    live_consumer_park(&b->c, 5, woken);
    pair_push(&p, "vv");
    pair_settle(&p);
    assert_int_equal(p.raises, 0);
    pair_push(&p, "v");
    pair_settle(&p);
    assert_int_equal(p.raises, 1);
    assert_true(!a->c.prev && b->c.prev); /* due ones are woken, and it is set again for the other */
    pair_push(&p, "vvvv");
    pair_settle(&p);
    assert_int_equal(p.raises, 2);
    assert_null(b->c.prev);
    pair_push(&p, "v");
    pair_settle(&p);
    assert_int_equal(p.raises, 2);
    tap_play(a);
    pair_push(&p, "v");
    live_consumer_park(&a->c, 1, woken); /* it is there already */
    pair_settle(&p);
    assert_null(a->c.prev);
    assert_int_equal(p.raises, 2);
    tap_play(a);
    live_consumer_park(&a->c, 1, woken);
    live_consumer_unpark(&a->c);
    pair_push(&p, "v");
    pair_settle(&p);
    assert_int_equal(p.raises, 2);
    tap_player_leave(a);
    tap_player_leave(b);
    pair_end(&p);
}

static err_t nothing(void *arg)
{
    (void)arg;
    return NULL;
}

static err_t send_main(void *arg)
{
    return live_sender_run(arg);
}

/* Its turns poll the tap; a reader that waits for a packet is woken for it. */
static void test_sender_at_a_replica(void **state)
{
    static const struct {
        struct live_sender_settings set;
        unsigned packets;
    } rows[] = {
        { { .mw_latency = 0 }, 40 },
        { { .mw_latency = CO_MS(40) }, 40 },
        { { .mw_latency = 0, .mw_msgs = 4 }, 10 }, /* each waits 350 ms for three more */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct io io = { .ops = &silent_ops };
        struct live_sender s = { .io = &io, .set = rows[i].set, .on_readable = nothing,
                                 .on_turn = nothing };
        struct pair p = pair_of(&tap_settings);
        struct co_group g;

        co_group_init(&g);
        live_consumer_open(&s.consumer, p.replica, &format_counts, tap_param);
        assert_ok(co_go(&g, "send", send_main, &s));
        pair_follow(&p);
        pair_begin(&p);
        for (unsigned n = 1; n <= rows[i].packets; n++) {
            pair_push_sized(&p, 'k', 100);
            for (int k = 0; io.bytes_out < n && k < 1000; k++)
                pair_settle(&p);
            assert_int_equal(io.bytes_out, n);
        }
        assert_true(p.raises <= rows[i].packets + 2);
        assert_true(rows[i].set.mw_latency == 0 || p.raises < 10); /* its own timer is soon enough */
        live_source_end(p.owner, &tap_publisher);
        assert_err(co_group_stop(&g), ERR_STOPPED);
        live_consumer_close(&s.consumer);
        pair_end(&p);
    }
}

/* Parked before the replica was opened, and while its tap is replaced. */
static void test_parked_across_taps(void **state)
{
    struct pair p = pair_of(&tap_settings);
    struct player *a = tap_player(p.replica, &format_all);

    (void)state;
    live_consumer_park(&a->c, 1, woken);
    pair_follow(&p);
    pair_settle(&p);
    assert_non_null(a->c.prev);
    pair_begin(&p);
    pair_push(&p, "V");
    pair_settle(&p);
    assert_null(a->c.prev);
    tap_play(a);
    live_consumer_park(&a->c, 1, woken);
    pair_unfollow(&p);
    pair_follow(&p);
    pair_settle(&p);
    assert_null(a->c.prev);
    tap_player_leave(a);
    pair_end(&p);
}

/* ---- memory */

static void test_memory(void **state)
{
    struct live_registry *r = live_registry_new(), *other = live_registry_new();
    const struct live_memory *m = live_registry_memory(r);
    struct pair p = { .owner = live_registry_get(r, "v/a/s", &tap_settings),
                      .replica = live_registry_get(other, "v/a/s", &tap_settings) };
    size_t empty;

    (void)state;
    pair_follow(&p);
    empty = m->used;
    assert_in_range(empty, 32 << 10, 40 << 10); /* the slots */
    pair_begin(&p);
    for (int i = 0; i < 10; i++)
        pair_push_sized(&p, 'k', 100000); /* the log keeps the last one */
    pair_push_sized(&p, 'k', 100);
    assert_in_range(m->used - empty, 1000000, 1400000);
    live_source_end(p.owner, &tap_publisher);
    assert_in_range(m->used - empty, 1000000, 1400000);
    assert_false(live_tap_poll(p.replica)); /* it has just used some */
    assert_true(live_tap_poll(p.replica));
    live_tap_tidy(p.tap);
    assert_true(m->used - empty < 300000); /* unused space of its blocks */
    assert_false(live_tap_poll(p.replica));
    pair_begin(&p);
    pair_push_sized(&p, 'k', 100000);
    pair_unfollow(&p);
    assert_in_range(m->used, 100000, 500000);
    pair_end(&p);
    assert_int_equal(m->used, 0);
    assert_int_equal(live_registry_memory(other)->used, 0);
    live_registry_free(r);
    live_registry_free(other);
}

/* A GOP too large for a usual tap, and one too large for any. */
static void test_large_groups(void **state)
{
    static const struct {
        unsigned packets;
        uint64_t want;
    } rows[] = { { 10000, 10001 }, { 32767, 32768 }, { 40000, 1 } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pair p = pair_of(&tap_settings);

        pair_begin(&p);
        pair_push(&p, "Vk");
        for (unsigned k = 1; k < rows[i].packets; k++)
            pair_push_sized(&p, 'v', 8);
        pair_follow(&p);
        assert_int_equal(p.replica->head, rows[i].want);
        pair_end(&p);
    }
}

/* More than one turn should take. */
static void test_much_goes_on_by_itself(void **state)
{
    struct pair p = pair_of(&tap_settings);

    (void)state;
    pair_begin(&p);
    pair_push(&p, "Vk");
    pair_push_groups(&p, GROUP, 500000);
    pair_follow(&p);
    assert_true(p.replica->head < 20);
    pair_settle(&p);
    pair_settle(&p);
    assert_int_equal(p.replica->head, p.owner->head - 1); /* all but the k before this one */
    pair_end(&p);
}

static int64_t cpu_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* A second of 900 kbit/s: 25 video and 43 audio frames, read by 16 groups of players each 350 ms. */
static int64_t cost_of(bool tapped)
{
    enum { SECONDS = 1000 };
    struct pair p = pair_of(&tap_settings);
    int64_t began;

    pair_begin(&p);
    if (tapped)
        pair_follow(&p);
    began = cpu_ns();
    for (int s = 0; s < SECONDS; s++) {
        for (int i = 0; i < 68; i++) {
            bool video = i % 68 * 25 / 68 != (i + 1) * 25 / 68;

            pair_push_sized(&p, !video ? 'a' : i == 67 ? 'k' : 'v', video ? 3900 : 370);
            if (tapped)
                live_source_refresh(p.replica);
        }
    }
    began = cpu_ns() - began;
    pair_end(&p);
    return began / SECONDS;
}

static void test_cost(void **state)
{
    int64_t alone = cost_of(false), both = cost_of(true);

    (void)state;
    print_message("a second of 900 kbit/s: %lld us, with a replica %lld us: %lld ns a packet\n",
                  (long long)alone / 1000, (long long)both / 1000, (long long)(both - alone) / 68);
    assert_true(both - alone < 300000 * 10); /* goal 300 us; sanitizers and busy machines */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_joins_where_players_at_home_do), TEST(test_configuration_again),
        TEST(test_publishers_come_and_go), TEST(test_a_replica_has_no_publisher),
        TEST(test_raised_when_a_player_is_due), TEST(test_sender_at_a_replica),
        TEST(test_parked_across_taps), TEST(test_memory), TEST(test_large_groups),
        TEST(test_much_goes_on_by_itself), TEST(test_cost),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
