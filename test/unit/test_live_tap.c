/* SPDX-License-Identifier: MIT */
/* test_live_tap.c - a source and its replica: over memory in one thread, and over two threads. */
#include "base/iov.h"
#include "co/notify.h"
#include "live/consumer.h"
#include "live/impl.h"
#include "live/reap.h"
#include "live/reader.h"
#include "live/sender.h"
#include "live/tap.h"
#include "peer.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FRAME = 100, STREAM_MAX = 4 << 20 };

static const struct live_takeover on = { LIVE_TAKEOVER_ON, 0, 0 };
static const uint32_t no_param[LIVE_PARAMS] = { 0 };
static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_FULL, .queue_length = CO_SECONDS(30),
    .max_bytes = 64 << 20,
};
static struct live_publisher me = { .ip = "127.0.0.1" };

/* ---- formats: all that a packet says, and one that remembers */

static void say(struct wr *w, const struct av_packet *pkt, int64_t dts)
{
    wr_u8(w, pkt->kind);
    wr_u8(w, (uint8_t)(pkt->key | pkt->config << 1 | pkt->start << 2 | pkt->extra << 3));
    wr_u32(w, (uint32_t)dts);
    wr_u32(w, (uint32_t)pkt->cts);
    wr_u32(w, pkt->size);
    wr_bytes(w, pkt->data, pkt->size);
}

static size_t all_size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts)
{
    (void)param;
    (void)dts;
    return pkt->size + 14;
}

static void all_render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt, int64_t dts,
                       uint8_t *out)
{
    struct wr w;

    (void)param;
    wr_init(&w, STREAM_MAX);
    say(&w, pkt, dts);
    memcpy(out, w.buf, w.len);
    wr_free(&w);
}

static const struct live_format all = { .name = "all", .size = all_size, .render = all_render };

struct memory { /* configuration in force, of both kinds */
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
    say(out, pkt, pkt->dts);
}

static const struct live_format remembers = { .name = "remembers", .open = memory_open,
                                              .close = free, .make = memory_make };
static const struct live_format *const formats[] = { &all, &remembers };

/* A byte for each packet. */
static size_t count_size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt,
                         int64_t dts)
{
    (void)param;
    (void)pkt;
    (void)dts;
    return 1;
}

static void count_render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt,
                         int64_t dts, uint8_t *out)
{
    (void)param;
    (void)dts;
    *out = pkt->kind;
}

static const struct live_format counts = { .name = "counts", .size = count_size,
                                           .render = count_render };

enum { PACKETS = 1000000, BURST = 8 };

/* ---- players */

struct player {
    struct live_consumer c;
    struct wr got;
};

static struct player *player(struct live_source *src, const struct live_format *fmt)
{
    struct player *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    wr_init(&p->got, STREAM_MAX);
    live_consumer_open(&p->c, src, fmt, no_param);
    return p;
}

static void leave(struct player *p)
{
    live_consumer_close(&p->c);
    wr_free(&p->got);
    free(p);
}

static void play(struct player *p)
{
    const struct av_packet *configs[LIVE_CONFIGS];
    struct iovec iov[4];
    size_t sent, n_configs;
    int64_t dts;
    int n;

    live_source_refresh(p->c.src);
    while ((n = live_consumer_ranges(&p->c, iov, 4, false)) > 0) {
        n_configs = live_consumer_config(&p->c, configs, LIVE_CONFIGS, &dts);
        for (size_t i = 0; i < n_configs && !p->c.wire->state; i++)
            say(&p->got, configs[i], dts);
        sent = 0;
        for (int i = 0; i < n; i++) {
            wr_bytes(&p->got, iov[i].iov_base, iov[i].iov_len);
            sent += iov[i].iov_len;
        }
        live_consumer_advance(&p->c, sent);
    }
    assert_false(p->got.bad);
}

static void assert_same(const struct player *a, const struct player *b)
{
    assert_int_equal(a->got.len, b->got.len);
    if (a->got.len > 0)
        assert_memory_equal(a->got.buf, b->got.buf, a->got.len);
}

/* ---- a source with a replica */

struct pair {
    struct live_source *home, *replica;
    struct live_tap *tap;
    unsigned raises;
    bool raised;
    uint32_t number, ms;
};

static void on_raise(void *arg)
{
    struct pair *p = arg;

    assert_false(p->raised); /* not again before it was looked at */
    p->raised = true;
    p->raises++;
}

static void follow(struct pair *p)
{
    p->tap = live_tap_open(p->home, on_raise, p);
    live_tap_follow(p->tap, p->replica);
}

static void unfollow(struct pair *p)
{
    live_tap_leave(p->replica);
    p->tap = live_tap_close(p->tap);
    p->raised = false;
}

static void begin(struct pair *p)
{
    assert_ok(live_source_begin(p->home, &me, &on));
}

static struct pair pair_of(const struct live_settings *set)
{
    struct pair p = { .home = live_source_new("v/a/s", set),
                      .replica = live_source_new("v/a/s", set) };

    return p;
}

static void done(struct pair *p)
{
    if (p->tap)
        unfollow(p);
    live_source_end(p->home, &me);
    (void)live_source_unref(p->replica);
    (void)live_source_unref(p->home);
    live_reap_now();
    assert_int_equal(live_source_live(), 0);
}

/* What was posted runs, and what was raised is looked at. */
static void settle(struct pair *p)
{
    for (int i = 0; i < 3; i++) {
        assert_ok(co_sleep(CO_MS(1)));
        if (p->raised) {
            p->raised = false;
            live_tap_raised(p->replica);
        }
    }
}

/* A packet that begins with a number; `what`: a key frame, an inter frame, sound, configuration. */
static void push_sized(struct pair *p, char what, uint32_t size)
{
    struct av_packet *pkt = av_packet_try_in(live_source_packets(p->home), size);

    assert_non_null(pkt);
    pkt->kind = what == 'a' || what == 'A' ? AV_AUDIO : what == 'D' ? AV_DATA : AV_VIDEO;
    pkt->codec = pkt->kind == AV_AUDIO ? AV_AAC : AV_H264;
    pkt->config = what == 'A' || what == 'V' || what == 'D';
    pkt->key = what == 'k';
    pkt->cts = (int32_t)(p->number % 5);
    for (uint32_t i = 0; i < size; i++)
        pkt->data[i] = (uint8_t)(p->number + i * 7);
    p->number++;
    p->ms += 10;
    live_source_push(p->home, pkt, AV_MS(p->ms));
    (void)av_packet_unref(pkt);
}

static void push(struct pair *p, const char *what)
{
    for (; *what; what++)
        push_sized(p, *what, FRAME);
}

/* ---- in one thread */

static void test_joins_where_players_at_home_do(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        const struct live_format *fmt = formats[i % 2];
        struct live_settings set = settings;
        struct player *a, *b, *early = NULL;
        struct pair p;

        set.gop_cache = i & 2;
        p = pair_of(&set);
        begin(&p);
        push(&p, "DVAkvavavVavvaDv");
        if (i & 4) /* it waits for the replica */
            early = player(p.replica, fmt);
        follow(&p);
        assert_true(live_source_publishing(p.replica));
        a = player(p.home, fmt);
        b = player(p.replica, fmt);
        push(&p, "avAvkvVkv");
        play(a);
        play(b);
        assert_true(a->got.len > 0);
        assert_same(a, b);
        if (early) {
            play(early);
            assert_same(a, early);
            leave(early);
        }
        leave(a);
        leave(b);
        done(&p);
    }
}

/* Configuration that the publisher sends again and again is sent on as it is at home. */
static void test_configuration_again(void **state)
{
    (void)state;
    for (int reduce = 0; reduce < 2; reduce++) {
        struct live_settings set = settings;
        struct player *a, *b;
        struct pair p;

        set.reduce_sequence_header = reduce;
        p = pair_of(&set);
        begin(&p);
        follow(&p);
        a = player(p.home, &all);
        b = player(p.replica, &all);
        for (int i = 0; i < 3; i++) {
            p.number = 7;
            push(&p, "VAkav");
        }
        play(a);
        play(b);
        assert_int_equal(a->got.len, (reduce ? 2 + 9 : 2 + 13) * (FRAME + 14));
        assert_same(a, b);
        leave(a);
        leave(b);
        done(&p);
    }
}

static void test_publishers_come_and_go(void **state)
{
    struct live_publisher other = { .ip = "127.0.0.2", .co = co_self() };
    struct live_source_stat stat;
    struct player *a, *b;
    struct pair p = pair_of(&settings);
    struct live_reader r = { 0 };

    (void)state;
    follow(&p);
    assert_false(live_source_publishing(p.replica));
    a = player(p.home, &all);
    b = player(p.replica, &all);
    begin(&p);
    push(&p, "VAkvav");
    live_reader_open(&r, p.replica);
    assert_true(live_source_publishing(p.replica));
    live_source_end(p.home, &me);
    live_source_stat(p.replica, &stat);
    assert_true(stat.publishing && stat.replica && stat.log_packets == 4 && stat.consumers == 1);
    settle(&p); /* that it ended is no packet, and is told all the same */
    assert_int_equal(p.raises, 1);
    assert_false(live_source_publishing(p.replica));
    assert_true(live_reader_ended(&r));
    play(a);
    play(b);
    assert_ok(live_source_begin(p.home, &other, &on));
    push(&p, "VVkvav");
    live_source_end(p.home, &other);
    begin(&p);
    push(&p, "kv");
    play(a);
    play(b);
    assert_true(live_source_publishing(p.replica));
    assert_same(a, b);
    live_reader_close(&r);
    leave(a);
    leave(b);
    done(&p);
}

/* Nobody may publish into a replica; a replica that is left is a source as any other. */
static void test_a_replica_has_no_publisher(void **state)
{
    struct pair p = pair_of(&settings);
    struct live_publisher other = { .ip = "127.0.0.2" };

    (void)state;
    begin(&p);
    push(&p, "Vk");
    follow(&p);
    assert_err(live_source_begin(p.replica, &other, &on), ERR_STREAM_BUSY);
    assert_int_equal(live_source_idle_since(p.home), 0); /* somebody may play there */
    unfollow(&p);
    assert_true(live_source_idle_since(p.home) > 0);
    assert_false(live_source_publishing(p.replica));
    assert_ok(live_source_begin(p.replica, &other, &on));
    live_source_end(p.replica, &other);
    follow(&p);
    assert_true(live_source_publishing(p.replica));
    done(&p);
}

static void woken(struct live_consumer *c)
{
    assert_null(c->prev);
}

static void test_raised_when_somebody_is_due(void **state)
{
    struct pair p = pair_of(&settings);
    struct player *a, *b;

    (void)state;
    begin(&p);
    push(&p, "Vkv");
    follow(&p);
    a = player(p.replica, &all);
    b = player(p.replica, &all);
    play(a);
    play(b);
    settle(&p);
    push(&p, "vvv");
    settle(&p);
    assert_int_equal(p.raises, 0); /* nobody waits */
    play(a);
    play(b);
    live_consumer_park(&a->c, 3, woken);
    live_consumer_park(&b->c, 5, woken);
    push(&p, "vv");
    settle(&p);
    assert_int_equal(p.raises, 0);
    push(&p, "v");
    settle(&p);
    assert_int_equal(p.raises, 1);
    assert_true(!a->c.prev && b->c.prev); /* who is due, and for the other it is set again */
    push(&p, "vvvv");
    settle(&p);
    assert_int_equal(p.raises, 2);
    assert_null(b->c.prev);
    push(&p, "v");
    settle(&p);
    assert_int_equal(p.raises, 2);
    play(a);
    push(&p, "v");
    live_consumer_park(&a->c, 1, woken); /* it is there already */
    settle(&p);
    assert_null(a->c.prev);
    assert_int_equal(p.raises, 2);
    play(a);
    live_consumer_park(&a->c, 1, woken);
    live_consumer_unpark(&a->c);
    push(&p, "v");
    settle(&p);
    assert_int_equal(p.raises, 2);
    leave(a);
    leave(b);
    done(&p);
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

/* Its turns look into the tap; one that waits for a packet is raised for it. */
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
        struct pair p = pair_of(&settings);
        struct co_group g;

        co_group_init(&g);
        live_consumer_open(&s.consumer, p.replica, &counts, no_param);
        assert_ok(co_go(&g, "send", send_main, &s));
        follow(&p);
        begin(&p);
        for (unsigned n = 1; n <= rows[i].packets; n++) {
            push_sized(&p, 'k', 100);
            for (int k = 0; io.bytes_out < n && k < 1000; k++)
                settle(&p);
            assert_int_equal(io.bytes_out, n);
        }
        assert_true(p.raises <= rows[i].packets + 2);
        assert_true(rows[i].set.mw_latency == 0 || p.raises < 10); /* its own timer is soon enough */
        live_source_end(p.home, &me);
        assert_err(co_group_stop(&g), ERR_STOPPED);
        live_consumer_close(&s.consumer);
        done(&p);
    }
}

/* Parked before the replica was opened, and while its tap is another one. */
static void test_parked_across_taps(void **state)
{
    struct pair p = pair_of(&settings);
    struct player *a = player(p.replica, &all);

    (void)state;
    live_consumer_park(&a->c, 1, woken);
    follow(&p);
    settle(&p);
    assert_non_null(a->c.prev);
    begin(&p);
    push(&p, "V");
    settle(&p);
    assert_null(a->c.prev);
    play(a);
    live_consumer_park(&a->c, 1, woken);
    unfollow(&p);
    follow(&p);
    settle(&p);
    assert_null(a->c.prev);
    leave(a);
    done(&p);
}

/* ---- slow readers */

enum { GROUP = 50 };

static void push_groups(struct pair *p, unsigned packets, uint32_t size)
{
    for (unsigned i = 0; i < packets; i++)
        push_sized(p, i % GROUP == 0 ? 'k' : 'v', size);
}

/* All until the tap was full, then from a key frame on; with what was configured meanwhile. */
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
    live_reader_open(r, src); /* the log keeps what it has not read */
}

static void test_slow_reader_by_slots(void **state)
{
    struct live_settings set = settings;
    struct live_source_stat stat;
    struct live_reader r = { 0 };
    struct player *b;
    struct pair p;
    uint64_t at;

    (void)state;
    p = pair_of(&set);
    follow(&p);
    begin(&p);
    push(&p, "VA");
    keep_all(&r, p.replica);
    b = player(p.replica, &all);
    push_groups(&p, 6000, 20);
    push(&p, "V");
    push_groups(&p, 100, 20);
    settle(&p);
    assert_int_equal(p.raises, 1);
    play(b);
    assert_true(p.replica->head > 4000 && p.replica->head < 4096);
    push(&p, "a");                     /* no place to start at */
    push_groups(&p, 1, 20);
    push(&p, "v");
    live_source_refresh(p.replica);
    check_gap(p.replica, &at);
    assert_true(at > 4000);
    assert_int_equal(p.replica->ring[at % p.replica->cap]->config, 1); /* the V, not the A */
    assert_int_equal(p.replica->head - at, 3);
    live_source_stat(p.replica, &stat);
    assert_int_equal(stat.dropped, 6000 + 2 + 1 + 100 + 1 - at);
    live_reader_close(&r);
    leave(b);
    done(&p);
}

static void test_slow_reader_by_bytes(void **state)
{
    struct live_settings set = settings;
    struct live_reader r = { 0 };
    struct pair p;
    uint64_t at;

    (void)state;
    set.max_bytes = 1 << 20;
    p = pair_of(&set);
    p.replica->set.max_bytes = 64 << 20;
    begin(&p);
    follow(&p);
    keep_all(&r, p.replica);
    push_groups(&p, 1000, 10000);
    settle(&p);
    assert_true(p.replica->head > 90 && p.replica->head < 105);
    push_groups(&p, 10, 10000);
    live_source_refresh(p.replica);
    check_gap(p.replica, &at);
    assert_int_equal(p.replica->head - at, 10);
    live_reader_close(&r);
    done(&p);
}

static void test_slow_reader_by_age(void **state)
{
    struct live_settings set = settings;
    struct pair p;

    (void)state;
    set.queue_length = CO_MS(100); /* no less than twice the time after which somebody looks */
    p = pair_of(&set);
    begin(&p);
    follow(&p);
    for (int i = 0; i < 30; i++) {
        push_groups(&p, 10, 20);
        assert_ok(co_sleep(CO_MS(100)));
    }
    live_source_refresh(p.replica);
    assert_in_range(p.replica->head, 190, 280);
    push_groups(&p, 10, 20);
    live_source_refresh(p.replica);
    assert_true(p.replica->have_key);
    assert_int_equal(p.replica->head - p.replica->key, 10);
    done(&p);
}

/* That the publisher left is never lost, and another one's begin waits until there is room. */
static void test_slow_reader_and_publishers(void **state)
{
    struct pair p = pair_of(&settings);
    struct player *b;
    size_t before;

    (void)state;
    follow(&p);
    begin(&p);
    push(&p, "V");
    b = player(p.replica, &all);
    push_groups(&p, 5000, 20);
    for (int i = 0; i < 100; i++) {
        live_source_end(p.home, &me);
        begin(&p);
        push(&p, "Vkv");
    }
    play(b);
    assert_false(live_source_publishing(p.replica));
    before = b->got.len;
    push(&p, "vvkv");
    play(b);
    assert_true(live_source_publishing(p.replica));
    /* the configuration that is new, and two frames */
    assert_int_equal(b->got.len - before, 3 * (FRAME + 14));
    leave(b);
    done(&p);
}

/* ---- what is remembered */

static void test_memory(void **state)
{
    struct live_registry *r = live_registry_new(), *other = live_registry_new();
    const struct live_memory *m = live_registry_memory(r);
    struct pair p = { .home = live_registry_get(r, "v/a/s", &settings),
                      .replica = live_registry_get(other, "v/a/s", &settings) };
    size_t empty;

    (void)state;
    follow(&p);
    empty = m->used;
    assert_in_range(empty, 32 << 10, 40 << 10); /* the slots */
    begin(&p);
    for (int i = 0; i < 10; i++)
        push_sized(&p, 'k', 100000); /* the log keeps the last one */
    push_sized(&p, 'k', 100);
    assert_in_range(m->used - empty, 1000000, 1400000);
    live_source_end(p.home, &me);
    assert_in_range(m->used - empty, 1000000, 1400000);
    assert_false(live_tap_look(p.replica)); /* it has just taken some */
    assert_true(live_tap_look(p.replica));
    live_tap_tidy(p.tap);
    assert_true(m->used - empty < 300000); /* what is idle of its blocks */
    assert_false(live_tap_look(p.replica));
    begin(&p);
    push_sized(&p, 'k', 100000);
    unfollow(&p);
    assert_in_range(m->used, 100000, 500000);
    done(&p);
    assert_int_equal(m->used, 0);
    assert_int_equal(live_registry_memory(other)->used, 0);
    live_registry_free(r);
    live_registry_free(other);
}

/* A group that no usual tap has room for, and one that none has. */
static void test_large_groups(void **state)
{
    static const struct {
        unsigned packets;
        uint64_t want;
    } rows[] = { { 10000, 10001 }, { 32767, 32768 }, { 40000, 1 } };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct pair p = pair_of(&settings);

        begin(&p);
        push(&p, "Vk");
        for (unsigned k = 1; k < rows[i].packets; k++)
            push_sized(&p, 'v', 8);
        follow(&p);
        assert_int_equal(p.replica->head, rows[i].want);
        done(&p);
    }
}

/* More than one turn should take. */
static void test_much_goes_on_by_itself(void **state)
{
    struct pair p = pair_of(&settings);

    (void)state;
    begin(&p);
    push(&p, "Vk");
    push_groups(&p, GROUP, 500000);
    follow(&p);
    assert_true(p.replica->head < 20);
    settle(&p);
    settle(&p);
    assert_int_equal(p.replica->head, p.home->head - 1); /* all but the k before this one */
    done(&p);
}

static int64_t cpu_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* A second of 900 kbit/s: 25 frames and 43 of sound, pulled by 16 groups of players each 350 ms. */
static int64_t cost_of(bool tapped)
{
    enum { SECONDS = 1000 };
    struct pair p = pair_of(&settings);
    int64_t began;

    begin(&p);
    if (tapped)
        follow(&p);
    began = cpu_ns();
    for (int s = 0; s < SECONDS; s++) {
        for (int i = 0; i < 68; i++) {
            bool video = i % 68 * 25 / 68 != (i + 1) * 25 / 68;

            push_sized(&p, !video ? 'a' : i == 67 ? 'k' : 'v', video ? 3900 : 370);
            if (tapped)
                live_source_refresh(p.replica);
        }
    }
    began = cpu_ns() - began;
    done(&p);
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

/* ---- over two threads */

/* A packet says its number, how many of its burst follow, and which configuration is in force. */
struct said {
    uint64_t number;
    uint32_t left, config;
};

struct far { /* the reader */
    struct live_tap *tap;
    struct co_notify wake, turn; /* of the reader, and of the home: it begins, it has ended */
    atomic_bool mail, quit;
    atomic_ullong seen; /* number of the next packet */
    atomic_uint ends;   /* publishers that came and went */
    bool slow;          /* it pauses, and nobody waits for it */
    char failed[200];
    uint64_t lost, gaps, parks, looks, raises;
};

#define CHECK(what) do {                                                                      \
        if (!(what) && !f->failed[0])                                                         \
            (void)snprintf(f->failed, sizeof(f->failed), "%d: %s", __LINE__, #what);          \
    } while (0)

static void far_raise(void *arg)
{
    struct far *f = arg;

    assert_false(atomic_exchange(&f->mail, true)); /* one at a time */
    co_notify_raise(&f->wake);
}

struct reading {
    struct far *far;
    struct live_source *src;
    struct live_reader r;
    struct live_consumer c;
    uint64_t number;
    uint32_t left, config;
    bool fresh; /* the reader was opened, and has read nothing yet */
    unsigned seed;
};

static void far_woken(struct live_consumer *c)
{
    struct reading *g = (struct reading *)(void *)((char *)c - offsetof(struct reading, c));

    co_notify_raise(&g->far->wake);
}

static uint32_t config_of(const struct live_reader *r)
{
    const struct av_packet *pkt;
    struct said said = { 0 };

    if (live_reader_configs(r, &pkt, 1) > 0)
        memcpy(&said, pkt->data, sizeof(said));
    return said.config;
}

/* The order is that of home; what is missing is whole groups, and configuration is in its place. */
static void far_check(struct far *f, struct reading *g, const struct av_packet *pkt)
{
    struct said said;

    memcpy(&said, pkt->data, sizeof(said));
    for (uint32_t i = sizeof(said); i < pkt->size; i++)
        CHECK(pkt->data[i] == (uint8_t)(said.number + i));
    if (g->fresh) /* one that has several groups to read is given that of the last one */
        g->config = f->slow ? said.config : config_of(&g->r);
    if (pkt->config) {
        g->config = said.config;
        if (f->slow) /* it may have been set long ago */
            return;
    }
    CHECK(said.config == g->config);
    CHECK(said.number >= g->number);
    if (said.number != g->number && !g->fresh) {
        CHECK(f->slow);
        if (said.number > g->number + 1) { /* or it is a configuration that was passed over */
            CHECK(pkt->start);
            f->gaps++;
        }
        f->lost += said.number - g->number;
    }
    g->fresh = false;
    g->number = said.number + 1;
    g->left = said.left;
}

static void far_reader_open(struct reading *g)
{
    live_reader_open(&g->r, g->src);
    g->fresh = true;
    g->left = 0;
}

static void far_read(struct far *f, struct reading *g)
{
    const struct av_packet *pkt;
    struct iovec iov[16];
    int n;

    live_source_refresh(g->src);
    while ((pkt = live_reader_next(&g->r)))
        far_check(f, g, pkt);
    while ((n = live_consumer_ranges(&g->c, iov, 16, false)) > 0) {
        size_t sent = 0;

        for (int i = 0; i < n; i++)
            sent += iov[i].iov_len;
        live_consumer_advance(&g->c, sent);
    }
    atomic_store(&f->seen, g->number);
    if (!live_reader_done(&g->r))
        return;
    live_reader_close(&g->r);
    far_reader_open(g);
    (void)atomic_fetch_add(&f->ends, 1);
}

/* Until what it parked for is there, or the publisher has left. */
static void far_wait(struct far *f, struct reading *g, unsigned packets)
{
    live_consumer_park(&g->c, live_consumer_pending(&g->c) + packets, far_woken);
    while (g->c.prev && !atomic_load(&f->quit) && !live_reader_ended(&g->r)) {
        CHECK(co_notify_wait(&f->wake, CO_SECONDS(20)) == CO_WOKEN);
        if (atomic_exchange(&f->mail, false)) {
            live_tap_raised(g->src);
            f->raises++;
        }
    }
    live_consumer_unpark(&g->c);
    f->parks++;
}

static void far_run(struct far *f)
{
    struct reading g = { .far = f, .src = live_source_new("v/a/s", &settings), .seed = 1 };

    live_tap_follow(f->tap, g.src);
    far_reader_open(&g);
    live_consumer_open(&g.c, g.src, &counts, no_param);
    while (!atomic_load(&f->quit)) {
        unsigned dice = (unsigned)rand_r(&g.seed) % 16;

        far_read(f, &g);
        if (f->slow && dice == 0)
            (void)usleep(3000);
        else if (dice < 4)
            f->looks++;
        else
            far_wait(f, &g, 1 + dice % (g.left ? g.left : BURST));
    }
    live_consumer_close(&g.c);
    live_reader_close(&g.r);
    live_tap_leave(g.src);
    (void)live_source_unref(g.src);
    live_reap_now();
    CHECK(live_source_live() == 0 && av_packet_live() == 0);
}

/* It stays, as a worker would: what is its own is found by who looks for leaks. */
static void *far_main(void *arg)
{
    struct far *f = arg;
    err_t err = co_init();

    if (!err)
        err = co_notify_open(&f->wake);
    CHECK(!err);
    co_notify_raise(&f->turn);
    far_run(f);
    co_notify_raise(&f->turn);
    for (;;)
        (void)pause();
    return NULL;
}

static void push_said(struct live_source *src, char what, const struct said *said)
{
    uint32_t size = sizeof(*said) + (what == 'k' ? 300 : (uint32_t)said->number % 100);
    struct av_packet *pkt = av_packet_try_in(live_source_packets(src), size);

    assert_non_null(pkt);
    memcpy(pkt->data, said, sizeof(*said));
    for (uint32_t i = sizeof(*said); i < size; i++)
        pkt->data[i] = (uint8_t)(said->number + i);
    pkt->kind = AV_VIDEO;
    pkt->config = what == 'V';
    pkt->key = what == 'k';
    live_source_push(src, pkt, AV_MS(said->number));
    (void)av_packet_unref(pkt);
}

/* The reader must have seen all in some seconds: nothing but a wake makes it look. */
static void wait_seen(struct far *f, uint64_t number, unsigned ends)
{
    co_usec began = co_clock();

    while (atomic_load(&f->seen) < number || atomic_load(&f->ends) < ends) {
        assert_true(co_clock() - began < CO_SECONDS(20));
        co_yield();
    }
}

/* `n`: packets of this publisher so far. */
static char what_is(uint64_t n)
{
    return n % 1000 == 0 ? 'V' : n % 200 == 1 ? 'k' : 'v';
}

static void feed(struct live_source *src, struct far *f)
{
    struct said said = { 0 };
    unsigned seed = 2, ends = 0;
    uint64_t n = 0;

    while (said.number < PACKETS && !f->failed[0]) {
        unsigned most = rand_r(&seed) % 4 ? 500 : BURST;

        for (said.left = BURST + (unsigned)rand_r(&seed) % most; said.left-- > 0; said.number++) {
            char what = what_is(n++);

            said.config += what == 'V';
            push_said(src, what, &said);
            if (rand_r(&seed) % 8 == 0)
                co_yield(); /* what it posted runs */
        }
        if (!f->slow)
            wait_seen(f, said.number, ends);
        else if (rand_r(&seed) % 64 == 0)
            assert_ok(co_sleep(CO_MS(1)));
        if (rand_r(&seed) % 64 == 0) {
            live_source_end(src, &me);
            if (!f->slow)
                wait_seen(f, said.number, ++ends);
            assert_ok(live_source_begin(src, &me, &on));
            n = 0;
        }
    }
}

static void over_two_threads(bool slow)
{
    struct live_source *src = live_source_new("v/a/s", &settings);
    struct far *f = calloc(1, sizeof(*f));
    pthread_t id;

    assert_non_null(f);
    f->slow = slow;
    assert_ok(co_notify_open(&f->turn));
    assert_ok(live_source_begin(src, &me, &on));
    f->tap = live_tap_open(src, far_raise, f);
    assert_int_equal(pthread_create(&id, NULL, far_main, f), 0);
    assert_int_equal(co_notify_wait(&f->turn, CO_SECONDS(20)), CO_WOKEN);
    feed(src, f);
    atomic_store(&f->quit, true);
    co_notify_raise(&f->wake);
    assert_int_equal(co_notify_wait(&f->turn, CO_SECONDS(20)), CO_WOKEN);
    print_message("%s: %llu parked, %llu raised, %llu looked, %llu gaps, %llu packets lost\n",
                  slow ? "slow" : "in time", (unsigned long long)f->parks,
                  (unsigned long long)f->raises, (unsigned long long)f->looks,
                  (unsigned long long)f->gaps, (unsigned long long)f->lost);
    assert_string_equal(f->failed, "");
    f->tap = live_tap_close(f->tap);
    live_source_end(src, &me);
    (void)live_source_unref(src);
    live_reap_now();
    assert_int_equal(live_source_live(), 0);
}

static void test_two_threads(void **state)
{
    (void)state;
    over_two_threads(false);
}

static void test_two_threads_slow(void **state)
{
    (void)state;
    over_two_threads(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_joins_where_players_at_home_do), TEST(test_configuration_again),
        TEST(test_publishers_come_and_go), TEST(test_a_replica_has_no_publisher),
        TEST(test_raised_when_somebody_is_due), TEST(test_sender_at_a_replica),
        TEST(test_parked_across_taps),
        TEST(test_slow_reader_by_slots), TEST(test_slow_reader_by_bytes),
        TEST(test_slow_reader_by_age), TEST(test_slow_reader_and_publishers),
        TEST(test_memory), TEST(test_large_groups), TEST(test_much_goes_on_by_itself),
        TEST(test_cost), TEST(test_two_threads), TEST(test_two_threads_slow),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
