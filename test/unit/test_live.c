/* SPDX-License-Identifier: MIT */
/* test_live.c - sources, wires and consumers, with a format of the test's own. */
#include "live/consumer.h"
#include "live/impl.h"
#include "live/keeper.h"
#include "live/reap.h"
#include "live/sender.h"
#include "live/source.h"
#include "peer.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The test's format: a packet as 8 bytes of its number and then its body. Configuration is left
 * out when param[0] says so: 1 all of it, 2 that of video; 3 the frames too. */
enum { ALL_OUT = 3 };

static const struct live_takeover off = { LIVE_TAKEOVER_OFF, 0, 0 }, on = { LIVE_TAKEOVER_ON, 0, 0 },
                                  stale = { LIVE_TAKEOVER_STALE, CO_SECONDS(2), CO_MS(500) };

static bool left_out(uint32_t what, const struct av_packet *pkt)
{
    return what == ALL_OUT ||
           (pkt->config && (what == 1 || (what == 2 && pkt->kind == AV_VIDEO)));
}

static size_t plain_size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt,
                         int64_t dts)
{
    (void)dts;
    return left_out(param[0], pkt) ? 0 : pkt->size;
}

static void plain_render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt,
                         int64_t dts, uint8_t *out)
{
    (void)dts;
    assert_false(left_out(param[0], pkt)); /* what has no size has no place to be written to */
    memcpy(out, pkt->data, pkt->size);
}

static const struct live_format plain = { .name = "plain", .size = plain_size,
                                          .render = plain_render };

/* One that remembers: each packet with how many were made before it in front, key frames with
 * the size of the configuration too. */
struct counting {
    uint8_t made, config_size;
};

static void *counting_open(const uint32_t param[LIVE_PARAMS], const struct live_source *src)
{
    (void)param;
    (void)src;
    return calloc(1, sizeof(struct counting));
}

static void counting_make(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct counting *c = state;

    if (pkt->config) {
        c->config_size = (uint8_t)pkt->size;
        return;
    }
    wr_u8(out, c->made++);
    wr_u8(out, pkt->key ? c->config_size : 0);
}

static const struct live_format counting = { .name = "counting", .open = counting_open,
                                             .close = free, .make = counting_make };
/* One that remembers and never says anything. */
static void silence_make(void *state, const struct av_packet *pkt, struct wr *out)
{
    (void)state;
    (void)pkt;
    (void)out;
}

static const struct live_format silence = { .name = "silence", .open = counting_open,
                                            .close = free, .make = silence_make };
static const uint32_t no_param[LIVE_PARAMS] = { 0 };

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_FULL, .gop_cache_max_frames = 2500,
    .queue_length = CO_SECONDS(30), .max_bytes = 64 << 20,
};

static struct live_publisher me = { .ip = "127.0.0.1" };

/* A packet of `size` bytes (at least 8) that begins with its number; the rest follows from it. */
static struct av_packet *numbered(enum av_kind kind, bool key, bool config, uint32_t number,
                                  uint32_t size)
{
    struct av_packet *pkt = av_packet_new(size);

    pkt->kind = (uint8_t)kind;
    pkt->origin = kind == AV_VIDEO ? 9 : kind == AV_AUDIO ? 8 : 18;
    pkt->key = key;
    pkt->config = config;
    for (uint32_t i = 0; i < size; i++)
        pkt->data[i] = (uint8_t)(number + i * 7);
    memcpy(pkt->data, &number, 4);
    memcpy(pkt->data + 4, &size, 4);
    return pkt;
}

static void push(struct live_source *src, enum av_kind kind, bool key, bool config,
                 uint32_t number, uint32_t size, uint32_t ms)
{
    struct av_packet *pkt = numbered(kind, key, config, number, size);

    live_source_push(src, pkt, AV_MS(ms));
    (void)av_packet_unref(pkt);
}

static struct live_source *source(const struct live_settings *set)
{
    struct live_source *src = live_source_new("v/a/s", set);

    assert_ok(live_source_begin(src, &me, &stale));
    return src;
}

static struct live_source *registered(struct live_registry *r, const char *name)
{
    struct live_source *src = live_registry_get(r, name, &settings);

    assert_ok(live_source_begin(src, &me, &stale));
    return src;
}

static void done(struct live_source *src)
{
    live_source_end(src, &me);
    (void)live_source_unref(src);
    live_reap_now();
    assert_int_equal(live_source_live(), 0);
}

/* What a player received, packet by packet. */
struct player {
    struct live_consumer c;
    uint8_t *buf;
    size_t size, cap;
    uint32_t got[8192];
    unsigned n;
};

static void take_packets(struct player *p)
{
    size_t at = 0;

    while (p->size - at >= 8) {
        uint32_t number, size;

        memcpy(&number, p->buf + at, 4);
        memcpy(&size, p->buf + at + 4, 4);
        if (p->size - at < size)
            break;
        for (uint32_t i = 8; i < size; i++)
            assert_int_equal(p->buf[at + i], (uint8_t)(number + i * 7));
        assert_true(p->n < 8192);
        p->got[p->n++] = number;
        at += size;
    }
    memmove(p->buf, p->buf + at, p->size - at);
    p->size -= at;
}

static void receive(struct player *p, const void *bytes, size_t size)
{
    if (p->size + size > p->cap) {
        p->cap = (p->size + size) * 2;
        p->buf = realloc(p->buf, p->cap);
        assert_non_null(p->buf);
    }
    memcpy(p->buf + p->size, bytes, size);
    p->size += size;
    take_packets(p);
}

/* One turn that sends at most `most` bytes; gives how many it sent. */
static size_t play(struct player *p, size_t most, bool one)
{
    const struct av_packet *configs[LIVE_CONFIGS];
    struct iovec iov[4];
    size_t sent = 0, n_configs;
    int64_t dts;
    int n = live_consumer_ranges(&p->c, iov, 4, one);

    n_configs = live_consumer_config(&p->c, configs, LIVE_CONFIGS, &dts);
    for (size_t i = 0; i < n_configs; i++)
        receive(p, configs[i]->data, configs[i]->size);
    for (int i = 0; i < n && sent < most; i++) {
        size_t take = iov[i].iov_len < most - sent ? iov[i].iov_len : most - sent;

        receive(p, iov[i].iov_base, take);
        sent += take;
    }
    if (sent > 0)
        live_consumer_advance(&p->c, sent);
    return sent;
}

static struct player *player(struct live_source *src)
{
    struct player *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    live_consumer_open(&p->c, src, &plain, no_param);
    return p;
}

static void leave(struct player *p)
{
    live_consumer_close(&p->c);
    free(p->buf);
    free(p);
}

static void play_all(struct player *p)
{
    while (play(p, SIZE_MAX, false) > 0)
        continue;
}

static void assert_got(const struct player *p, unsigned n, const uint32_t *want)
{
    assert_int_equal(p->n, n);
    assert_memory_equal(p->got, want, n * sizeof(want[0]));
}

static void test_join_at_the_newest_key_frame(void **state)
{
    static const uint32_t want[] = { 1, 2, 4, 5, 6 };
    struct live_source *src = source(&settings);
    struct player *p;

    (void)state;
    push(src, AV_DATA, false, true, 1, 40, 0);
    push(src, AV_VIDEO, false, true, 2, 50, 0);
    push(src, AV_VIDEO, true, false, 3, 5000, 0);
    push(src, AV_VIDEO, true, false, 4, 5000, 40);
    push(src, AV_VIDEO, false, false, 5, 500, 80);
    p = player(src);
    push(src, AV_AUDIO, false, false, 6, 60, 90);
    play_all(p);
    assert_got(p, 5, want);
    assert_int_equal(live_consumer_pending(&p->c), 0);
    leave(p);
    done(src);
}

static void test_without_cache_the_next_key_frame(void **state)
{
    static const uint32_t want[] = { 1, 4, 5 };
    struct live_settings set = settings;
    struct live_source *src;
    struct player *p;

    (void)state;
    set.gop_cache = false;
    src = source(&set);
    push(src, AV_VIDEO, false, true, 1, 50, 0);
    push(src, AV_VIDEO, true, false, 2, 5000, 0);
    p = player(src);
    push(src, AV_VIDEO, false, false, 3, 500, 40);
    play_all(p);
    assert_int_equal(p->n, 0);
    push(src, AV_VIDEO, true, false, 4, 5000, 80);
    for (uint32_t i = 0; i < 100; i++) /* the block of the key frame must wait for the player */
        push(src, AV_AUDIO, false, false, 5 + i, 4000, 90 + i);
    play_all(p);
    assert_int_equal(p->n, 102);
    assert_memory_equal(p->got, want, sizeof(want));
    leave(p);
    done(src);
}

/* A burst of several groups before the player's turn comes: all of it is for who waited. */
static void test_who_waits_gets_all_from_the_first_key_frame(void **state)
{
    struct live_settings set = settings;

    (void)state;
    for (int cache = 0; cache < 2; cache++) {
        struct live_source *src;
        struct player *p;

        set.gop_cache = cache;
        src = source(&set);
        p = player(src);
        push(src, AV_VIDEO, false, true, 0, 50, 0);
        for (uint32_t i = 1; i <= 300; i++)
            push(src, AV_VIDEO, i % 30 == 3, false, i, 2000, i * 40);
        play_all(p);
        assert_int_equal(p->n, 1 + 298);
        assert_int_equal(p->got[1], 3);
        assert_int_equal(p->c.dropped, 0);
        leave(p);
        done(src);
    }
}

/* Two configurations in one burst: who was seated at the first gets the first, then the second. */
static void test_configuration_of_its_own_start(void **state)
{
    static const uint32_t want[] = { 1, 2, 3, 4 };
    struct live_source *src = source(&settings);
    struct player *p = player(src);

    (void)state;
    push(src, AV_VIDEO, false, true, 1, 50, 0);
    push(src, AV_VIDEO, true, false, 2, 500, 0);
    push(src, AV_VIDEO, false, true, 3, 50, 40);
    push(src, AV_VIDEO, true, false, 4, 500, 40);
    play_all(p);
    assert_got(p, 4, want);
    leave(p);
    done(src);
}

static void test_configuration_of_the_key_frame_not_of_now(void **state)
{
    static const uint32_t want[] = { 1, 2, 3, 4 };
    struct live_source *src = source(&settings);
    struct player *p;

    (void)state;
    push(src, AV_VIDEO, false, true, 1, 50, 0);
    push(src, AV_VIDEO, true, false, 2, 500, 0);
    push(src, AV_VIDEO, false, true, 3, 50, 40); /* new configuration inside the group */
    push(src, AV_VIDEO, false, false, 4, 500, 40);
    p = player(src);
    play_all(p);
    assert_got(p, 4, want);
    leave(p);
    done(src);
}

/* The peer has nothing to say until it got something, and then it leaves. */
static err_t say_after_a_turn(void *arg)
{
    struct live_sender *s = arg;

    s->done = s->turns > 0;
    return NULL;
}

static err_t nothing(void *arg)
{
    (void)arg;
    return NULL;
}

/* ---- a player to whom nothing is left to send */

enum { PUSHED = 10, TURNS_MAX = 4 * PUSHED };

struct unwilling {
    struct io io;
    struct live_sender sender;
    unsigned turns;
};

static err_t count_turn(void *arg)
{
    struct unwilling *u = arg;

    u->sender.done = ++u->turns > TURNS_MAX; /* so that a loop without end fails here */
    return NULL;
}

static err_t send_to_unwilling(void *arg)
{
    struct unwilling *u = arg;

    return live_sender_run(&u->sender);
}

static void play_to_unwilling(const struct live_settings *set, const struct live_format *fmt,
                              const struct live_sender_settings *how)
{
    const uint32_t param[LIVE_PARAMS] = { ALL_OUT };
    struct live_source *src = source(set);
    struct unwilling u = { .io = { .ops = &silent_ops } };
    struct co_group g;
    uint32_t i;

    u.sender = (struct live_sender){ .io = &u.io, .arg = &u, .on_readable = nothing,
                                     .on_turn = count_turn, .set = *how };
    co_group_init(&g);
    for (i = 0; i < PUSHED / 2; i++)
        push(src, AV_VIDEO, i % 3 == 0, false, i, 50, i * 40);
    live_consumer_open(&u.sender.consumer, src, fmt, param);
    assert_ok(co_go(&g, "unwilling", send_to_unwilling, &u));
    for (; i < PUSHED; i++) {
        push(src, AV_VIDEO, i % 3 == 0, false, i, 50, i * 40);
        assert_ok(co_sleep(CO_MS(1)));
    }
    assert_false(u.sender.done);
    assert_err(co_group_stop(&g), ERR_STOPPED);
    assert_true(u.turns <= TURNS_MAX);
    assert_int_equal(u.io.bytes_out, 0);
    live_consumer_close(&u.sender.consumer);
    done(src);
}

/* A wire without bytes, as of a player that wants neither sound nor pictures: it sleeps. */
static void test_sender_with_nothing_to_send(void **state)
{
    static const struct live_sender_settings hows[] = {
        { .mw_latency = 0 },
        { .mw_latency = 0, .mw_msgs = 1 },
        { .mw_latency = 0, .mw_msgs = 8 },
        { .mw_latency = LIVE_MW_AUTO },
        { .mw_latency = LIVE_MW_AUTO, .mw_msgs = 8 },
        { .mw_latency = CO_MS(5) },
        { .mw_latency = CO_MS(350), .mw_msgs = 8 },
        { .mw_latency = 0, .send_interval = CO_MS(1) },
    };
    struct live_settings set = settings;

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(hows); i++) {
        set.gop_cache = i % 2;
        play_to_unwilling(&set, &plain, &hows[i / 2]);
        play_to_unwilling(&set, &silence, &hows[i / 2]);
    }
}

/* A group of many portions: also one that takes no bytes is gone through, with others between. */
static void test_sender_of_much(void **state)
{
    enum { N = 2400, SIZE = 4000 };

    (void)state;
    for (uint32_t out = 0; out <= ALL_OUT; out += ALL_OUT) {
        const uint32_t param[LIVE_PARAMS] = { out };
        struct live_source *src = source(&settings);
        struct unwilling u = { .io = { .ops = &silent_ops } };
        struct co_group g;

        u.sender = (struct live_sender){ .io = &u.io, .arg = &u, .on_readable = nothing,
                                         .on_turn = count_turn };
        co_group_init(&g);
        for (uint32_t i = 0; i < N; i++)
            push(src, AV_VIDEO, i == 0, false, i, SIZE, i * 40);
        live_consumer_open(&u.sender.consumer, src, &plain, param);
        assert_ok(co_go(&g, "much", send_to_unwilling, &u));
        for (int i = 0; i < 1000 && live_consumer_pending(&u.sender.consumer) > 0; i++)
            assert_ok(co_sleep(CO_MS(1)));
        assert_int_equal(live_consumer_pending(&u.sender.consumer), 0);
        assert_int_equal(u.io.bytes_out, out ? 0 : N * SIZE);
        assert_true(u.turns < 10);
        assert_err(co_group_stop(&g), ERR_STOPPED);
        live_consumer_close(&u.sender.consumer);
        done(src);
    }
}

static bool always_readable(struct io *io)
{
    (void)io;
    return true;
}

static enum co_wake never_waits(struct io *io, bool out, co_usec timeout)
{
    (void)io;
    (void)out;
    (void)timeout;
    return CO_WOKEN;
}

/* Whatever else makes it go round for nothing: the player ends, not the server. */
static void test_sender_that_goes_round(void **state)
{
    static const struct io_ops ops = { .name = "restless", .readable = always_readable,
                                       .wait = never_waits, .send_some = silent_send_some };
    struct live_source *src = source(&settings);
    struct io io = { .ops = &ops };
    struct live_sender s = { .io = &io, .on_readable = nothing, .on_turn = nothing };

    (void)state;
    live_consumer_open(&s.consumer, src, &plain, no_param);
    assert_err(live_sender_run(&s), ERR_LOOP);
    live_consumer_close(&s.consumer);
    done(src);
}

/* A format may leave configuration out: then the player gets the frames alone. */
/* ---- what a sender does, by name */

/* A peer that takes so many bytes, and then nothing. */
struct narrow {
    struct io io;
    struct live_sender sender;
    size_t room;
    unsigned turns;
};

static err_t narrow_send_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    struct narrow *p = (struct narrow *)(void *)io;
    size_t total = 0;

    for (int i = 0; i < count; i++)
        total += iov[i].iov_len;
    *n = total < p->room ? total : p->room;
    p->room -= *n;
    return NULL;
}

static enum co_wake narrow_wait(struct io *io, bool out, co_usec timeout)
{
    (void)io;
    (void)out;
    return co_park(timeout);
}

static const struct io_ops narrow_ops = { .name = "narrow", .readable = silent_readable,
                                          .wait = narrow_wait, .send_some = narrow_send_some };

static err_t count_narrow(void *arg)
{
    struct narrow *p = arg;

    p->turns++;
    return NULL;
}

static err_t send_to_narrow(void *arg)
{
    struct narrow *p = arg;

    return live_sender_run(&p->sender);
}

static struct live_sender_stat assert_state(struct narrow *p, enum live_sender_state state)
{
    struct live_sender_stat stat;

    assert_ok(co_sleep(CO_MS(20))); /* as many turns as it likes */
    live_sender_stat(&p->sender, &stat);
    assert_string_equal(live_sender_state_name(stat.state), live_sender_state_name(state));
    assert_true(stat.since > 0);
    return stat;
}

static void test_states_of_a_sender(void **state)
{
    struct narrow p = { .io = { .ops = &narrow_ops, .write_timeout = CO_FOREVER }, .room = 1000 };
    struct live_source *src = source(&settings);
    struct live_sender_stat stat;
    struct co_group g;
    unsigned turns;
    err_t err;

    (void)state;
    p.sender = (struct live_sender){ .io = &p.io, .arg = &p, .on_readable = nothing,
                                     .on_turn = count_narrow, .look_every = CO_MS(5) };
    live_sender_stat(&p.sender, &stat); /* before it has a stream */
    assert_int_equal(stat.state, LIVE_WAIT_KEY);
    live_consumer_open(&p.sender.consumer, src, &plain, no_param);
    co_group_init(&g);
    assert_ok(co_go(&g, "sender", send_to_narrow, &p));
    (void)assert_state(&p, LIVE_WAIT_KEY);
    push(src, AV_VIDEO, true, false, 0, 600, 0);
    stat = assert_state(&p, LIVE_COLLECT);
    assert_true(stat.lag == 0 && stat.window_full == 0);

    for (uint32_t i = 1; i < 11; i++)
        push(src, AV_VIDEO, false, false, i, 600, i * 100);
    stat = assert_state(&p, LIVE_WINDOW_FULL);
    assert_int_equal(stat.lag, 900 * 1000); /* the first of ten is begun */
    assert_int_equal(stat.window_full, stat.since);
    turns = p.turns;
    assert_true(assert_state(&p, LIVE_WINDOW_FULL).since > stat.since);
    assert_true(p.turns > turns); /* its owner looks on */
    p.room = 300;
    co_unpark(p.sender.co); /* some, but not all: it is full still */
    stat = assert_state(&p, LIVE_WINDOW_FULL);
    assert_true(stat.since > CO_MS(50) && stat.lag == 800 * 1000);
    p.room = SIZE_MAX;
    co_unpark(p.sender.co);
    stat = assert_state(&p, LIVE_COLLECT);
    assert_true(stat.lag == 0 && stat.window_full > CO_MS(50) && stat.dropped == 0);

    live_sender_pause(&p.sender, true);
    push(src, AV_VIDEO, false, false, 11, 600, 1200);
    assert_true(assert_state(&p, LIVE_PAUSED).window_full == stat.window_full);
    assert_true(assert_state(&p, LIVE_PAUSED).since > CO_MS(35));
    err = co_group_stop(&g);
    err_free(&err);
    live_consumer_close(&p.sender.consumer);
    done(src);
}

/* What is gone from the log is behind by when it came. */
static void test_lag(void **state)
{
    struct live_source *src = source(&settings);
    struct live_consumer c = { 0 };

    (void)state;
    push(src, AV_VIDEO, true, false, 0, 600, 0);
    live_consumer_open(&c, src, &plain, no_param);
    assert_int_equal(live_consumer_lag(&c), 0); /* it has not missed anything */
    push(src, AV_VIDEO, false, false, 1, 600, 40);
    assert_int_equal(live_consumer_lag(&c), 40 * 1000);
    assert_ok(co_sleep(CO_MS(30)));
    push(src, AV_VIDEO, true, false, 2, 600, 4000);
    push(src, AV_VIDEO, true, false, 3, 600, 8000);
    assert_true(live_consumer_lag(&c) >= CO_MS(15) && live_consumer_lag(&c) < CO_SECONDS(3));
    live_consumer_close(&c);
    done(src);
}

static void test_sender_leaves_configuration_out(void **state)
{
    (void)state;
    for (uint32_t leave_out = 0; leave_out <= 2; leave_out++) {
        struct live_source *src = live_source_new("a/b/c", &settings);
        const uint32_t param[LIVE_PARAMS] = { leave_out };
        uint8_t out[400];
        struct io_mem mem;
        struct live_sender s = { .io = &mem.io, .on_readable = say_after_a_turn,
                                 .on_turn = nothing };

        io_mem_init(&mem, NULL, 0);
        mem.out = out;
        mem.out_cap = sizeof(out);
        s.arg = &s;
        assert_ok(live_source_begin(src, &me, &stale));
        push(src, AV_AUDIO, false, true, 1, 30, 0);
        push(src, AV_VIDEO, false, true, 2, 60, 0);
        push(src, AV_VIDEO, true, false, 3, 50, 0);
        push(src, AV_VIDEO, false, false, 4, 40, 40);
        live_consumer_open(&s.consumer, src, &plain, param);
        assert_ok(live_sender_run(&s));
        assert_int_equal(mem.out_size, leave_out == 0 ? 180 : leave_out == 1 ? 90 : 120);
        live_consumer_close(&s.consumer);
        live_source_end(src, &me);
        (void)live_source_unref(src);
    }
}

static void test_format_that_remembers(void **state)
{
    struct live_source *src = source(&settings);
    struct live_consumer one = { 0 }, two = { 0 };
    struct iovec iov[4];

    (void)state;
    push(src, AV_VIDEO, false, true, 1, 44, 0);
    push(src, AV_VIDEO, true, false, 2, 500, 0);
    live_consumer_open(&one, src, &counting, no_param); /* knows the configuration of before */
    push(src, AV_VIDEO, false, false, 3, 500, 40);
    push(src, AV_VIDEO, false, true, 4, 55, 80);
    push(src, AV_VIDEO, true, false, 5, 500, 80);
    live_consumer_open(&two, src, &counting, no_param); /* shares the wire */
    push(src, AV_VIDEO, false, false, 6, 500, 120);
    assert_int_equal(live_consumer_ranges(&one, iov, 4, false), 1);
    assert_int_equal(iov[0].iov_len, 8);
    assert_memory_equal(iov[0].iov_base, "\x00\x2c\x01\x00\x02\x37\x03\x00", 8);
    assert_int_equal(live_consumer_ranges(&two, iov, 4, false), 1);
    assert_int_equal(iov[0].iov_len, 4);
    assert_memory_equal(iov[0].iov_base, "\x02\x37\x03\x00", 4);
    live_consumer_close(&one);
    live_consumer_close(&two);
    done(src);
}

static unsigned read_all(struct live_reader *r, uint32_t *last)
{
    const struct av_packet *pkt;
    unsigned n = 0;

    while ((pkt = live_reader_next(r))) {
        memcpy(last, pkt->data, 4);
        n++;
    }
    return n;
}

static void test_reader(void **state)
{
    const struct av_packet *configs[LIVE_CONFIGS];
    struct live_settings set = settings;
    struct live_source_stat stat;
    struct live_reader r = { 0 }, idle = { 0 };
    struct live_source *src;
    uint32_t last = 0;
    co_usec waited;

    (void)state;
    set.max_bytes = 100000;
    src = source(&set);
    push(src, AV_VIDEO, false, true, 1, 50, 0);
    push(src, AV_VIDEO, true, false, 2, 500, 0);
    live_reader_open(&r, src);
    live_reader_open(&idle, src);
    assert_int_equal(live_reader_configs(&r, configs, LIVE_CONFIGS), 1);
    push(src, AV_VIDEO, false, false, 3, 500, 40);
    assert_int_equal(read_all(&r, &last), 2);
    waited = co_clock();
    assert_ok(live_reader_wait(&r, CO_MS(5)));
    assert_true(co_clock() - waited >= CO_MS(4));
    for (uint32_t i = 4; i < 100; i++) /* new groups: what was not read stays */
        push(src, AV_VIDEO, i % 10 == 0, false, i, 500, i * 40);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 98);
    assert_int_equal(read_all(&r, &last), 96);
    for (uint32_t i = 100; i < 1000; i++) {
        push(src, AV_VIDEO, i % 10 == 0, false, i, 500, i * 40);
        live_source_stat(src, &stat);
        assert_true(stat.log_bytes <= set.max_bytes + 500);
    }
    live_source_end(src, &me); /* the end of the publisher takes nothing from a reader */
    assert_true(read_all(&r, &last) > 150); /* 200 fit, less up to where it can start */
    assert_int_equal(last, 999);
    assert_true(r.dropped > 0 && idle.dropped == 0);
    (void)read_all(&idle, &last);
    assert_true(idle.dropped > 0);
    assert_true(live_reader_done(&r) && live_reader_done(&idle));
    live_reader_close(&r);
    live_reader_close(&idle);
    done(src);
}

/* The publisher ends, the next one begins at once, and the reader is slow. */
static void test_a_reader_reads_to_the_end_of_its_publisher(void **state)
{
    const struct av_packet *configs[LIVE_CONFIGS];
    struct live_source *src = source(&settings);
    struct live_reader slow = { 0 }, next = { 0 }, moved = { 0 };
    struct live_source_stat stat;
    uint32_t last = 0;

    (void)state;
    push(src, AV_VIDEO, false, true, 1, 50, 0);
    push(src, AV_VIDEO, true, false, 2, 500, 0);
    live_reader_open(&slow, src);
    for (uint32_t i = 3; i < 10; i++)
        push(src, AV_VIDEO, i == 8, false, i, 500, i * 40);
    push(src, AV_VIDEO, false, true, 10, 60, 400);
    push(src, AV_VIDEO, true, false, 11, 500, 400);
    live_source_end(src, &me);
    assert_true(live_reader_ended(&slow) && !live_reader_done(&slow));
    assert_ok(live_reader_wait(&slow, CO_FOREVER)); /* no more gathers */

    assert_ok(live_source_begin(src, &me, &stale));
    live_reader_open(&next, src);
    push(src, AV_VIDEO, false, true, 21, 70, 0);
    for (uint32_t i = 22; i < 30; i++)
        push(src, AV_VIDEO, i == 22, false, i, 500, i * 40);
    live_reader_move(&moved, &next);
    live_reader_close(&next);

    assert_ptr_not_equal(live_reader_next(&slow), NULL);
    assert_int_equal(live_reader_configs(&slow, configs, LIVE_CONFIGS), 1);
    assert_int_equal(configs[0]->size, 60); /* as far as that is known, and never the next one's */
    assert_int_equal(read_all(&slow, &last), 9);
    assert_int_equal(last, 11);
    assert_true(live_reader_done(&slow) && slow.dropped == 0);
    (void)live_reader_configs(&slow, configs, LIVE_CONFIGS);
    assert_int_equal(configs[0]->size, 60);
    assert_int_equal(read_all(&moved, &last), 8);
    assert_int_equal(last, 29);
    (void)live_reader_configs(&moved, configs, LIVE_CONFIGS);
    assert_int_equal(configs[0]->size, 70);

    push(src, AV_VIDEO, true, false, 30, 500, 1200); /* one that is done keeps nothing */
    push(src, AV_VIDEO, true, false, 31, 500, 1240);
    (void)read_all(&moved, &last);
    push(src, AV_VIDEO, true, false, 32, 500, 1280);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 1);
    live_reader_close(&slow);
    live_reader_close(&moved);
    done(src);
}

/* What a slow reader keeps goes when it has read it, also when nobody publishes any more. */
static void test_the_log_goes_with_its_last_reader(void **state)
{
    struct live_registry *r = live_registry_new();
    const struct live_memory *memory = live_registry_memory(r);
    struct live_source *src = registered(r, "a");
    struct live_reader slow = { 0 };
    struct live_source_stat stat;
    uint32_t last = 0;

    (void)state;
    live_reader_open(&slow, src);
    for (uint32_t i = 0; i < 40; i++)
        push(src, AV_VIDEO, i % 10 == 0, false, i, LIVE_REAP_BYTES / 20, i * 40);
    live_source_end(src, &me);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 40);
    assert_int_equal(read_all(&slow, &last), 40);
    live_reader_close(&slow);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 0);
    assert_int_equal(memory->used, 0);
    (void)live_source_unref(src);
    live_registry_free(r);
    assert_int_equal(live_source_live(), 0);
}

static void test_sound_alone_starts_within_half_a_second(void **state)
{
    struct live_source *src = source(&settings);
    struct live_source_stat stat;
    struct player *p;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        push(src, AV_AUDIO, false, false, i, 100, i * 23);
    live_source_stat(src, &stat);
    assert_true(stat.log_packets <= 22 && stat.log_packets > 0);
    p = player(src);
    play_all(p);
    assert_true(p->n > 0 && p->got[0] >= 978);
    assert_int_equal(p->got[p->n - 1], 999);
    leave(p);
    done(src);
}

static void test_cache_is_bounded(void **state)
{
    struct live_settings set = settings;
    struct live_source_stat stat;
    struct live_source *src;

    (void)state;
    set.gop_cache_max_frames = 100;
    set.max_bytes = 50000;
    src = source(&set);
    push(src, AV_VIDEO, true, false, 0, 1000, 0);
    for (uint32_t i = 1; i < 200; i++) {
        push(src, AV_VIDEO, false, false, i, 100, i * 40);
        live_source_stat(src, &stat);
        assert_true(stat.log_packets <= 101 && stat.log_bytes <= 50000);
    }
    assert_int_equal(stat.log_packets, 0);
    push(src, AV_VIDEO, true, false, 200, 1000, 8000);
    push(src, AV_VIDEO, false, false, 201, 60000, 8040);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 0);
    done(src);
}

/* ---- all streams together */

enum { BOUND = 1 << 20 };

static void test_the_largest_loses_its_oldest(void **state)
{
    struct live_registry *r = live_registry_new();
    const struct live_memory *memory = live_registry_memory(r);
    struct live_source *small = registered(r, "small"), *large[3];
    struct live_source_stat stat;
    struct player *p = player(small), *q;

    (void)state;
    live_registry_limit(r, BOUND);
    push(small, AV_VIDEO, true, false, 0, 10000, 0);
    for (int i = 0; i < 3; i++) {
        large[i] = registered(r, i == 0 ? "a" : i == 1 ? "b" : "c");
        push(large[i], AV_VIDEO, true, false, 0, 1000, 0);
    }
    q = player(large[0]);
    for (uint32_t n = 1; n < 9000; n++) { /* long groups of pictures */
        push(large[n % 3], AV_VIDEO, n % 1500 < 3, false, n, 1000 + n % 1000, n * 10);
        assert_true(memory->used <= BOUND + 3000);
        play_all(p);
    }
    assert_true(memory->squeezed > 0 && memory->squeezed_bytes > BOUND);
    assert_true(memory->squeezed < 100); /* not with each packet */
    live_source_stat(small, &stat);
    assert_int_equal(stat.log_packets, 1);
    assert_int_equal(p->n, 1);
    push(small, AV_VIDEO, false, false, 1, 1000, 40);
    play_all(p);
    assert_int_equal(p->c.dropped, 0);
    push(large[0], AV_VIDEO, true, false, 9000, 1000, 90000);
    play_all(q); /* a slow one goes on at the next key frame */
    assert_int_equal(q->got[q->n - 1], 9000);
    leave(p);
    leave(q);
    for (int i = 0; i < 3; i++) {
        live_source_end(large[i], &me);
        (void)live_source_unref(large[i]);
    }
    live_source_end(small, &me);
    (void)live_source_unref(small);
    assert_int_equal(memory->used, 0);
    live_registry_free(r);
    assert_int_equal(live_source_live(), 0);
}

/* Somebody who keeps segments, of which a part can be lost. */
struct hoard {
    struct live_keeper keeper; /* first */
    size_t *used, bytes, lost;
};

static size_t hoarded(const struct live_keeper *k)
{
    return ((const struct hoard *)(const void *)k)->bytes;
}

static void lose_hoard(struct live_keeper *k)
{
    struct hoard *h = (struct hoard *)(void *)k;

    *h->used -= h->bytes;
    h->lost += h->bytes;
    h->bytes = 0;
}

/* What is kept beside the logs counts, and who keeps most loses it before smaller logs lose
 * anything. */
static void test_keepers_lose(void **state)
{
    static const struct live_keeping how = { hoarded, lose_hoard };
    enum { LIMIT = 1 << 20 };
    struct live_registry *r = live_registry_new();
    struct live_source *src = registered(r, "a");
    struct live_source_stat stat;
    struct hoard h[3] = { { .bytes = 100 << 10 }, { .bytes = 500 << 10 }, { .bytes = 300 << 10 } };

    (void)state;
    live_registry_limit(r, LIMIT);
    assert_int_equal(live_keeper_share(live_registry_memory(r)), LIMIT / 8);
    for (size_t i = 0; i < COUNT(h); i++) {
        h[i].used = live_registry_counter(r);
        *h[i].used += h[i].bytes;
        live_keeper_open(&h[i].keeper, r, "HLS of a", &how);
    }
    push(src, AV_VIDEO, true, false, 0, 100 << 10, 0);
    assert_int_equal(h[1].lost, 0); /* all of it fits */
    push(src, AV_VIDEO, false, false, 1, 100 << 10, 40);
    assert_int_equal(h[1].lost, 500 << 10); /* the largest was enough */
    assert_int_equal(h[0].lost + h[2].lost, 0);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 2);
    live_keeper_close(&h[2].keeper);
    live_keeper_close(&h[2].keeper);
    *h[0].used += LIMIT;
    push(src, AV_VIDEO, false, false, 2, 100, 80);
    assert_int_equal(h[2].lost, 0); /* it left */
    for (size_t i = 0; i < 2; i++)
        live_keeper_close(&h[i].keeper);
    live_source_end(src, &me);
    (void)live_source_unref(src);
    live_registry_free(r);
}

/* Many that keep little each are no way around the bound, and cost a stream that is played nothing. */
static void test_many_small_keepers_lose(void **state)
{
    static const struct live_keeping how = { hoarded, lose_hoard };
    enum { LIMIT = 1 << 20, MANY = 100, EACH = 20 << 10 };
    struct live_registry *r = live_registry_new();
    const struct live_memory *memory = live_registry_memory(r);
    struct live_source *src = registered(r, "played");
    struct hoard h[MANY] = { 0 };
    struct live_source_stat stat;
    struct player *p = player(src);

    (void)state;
    live_registry_limit(r, LIMIT);
    for (uint32_t i = 0; i < MANY; i++) {
        h[i].used = live_registry_counter(r);
        h[i].bytes = EACH;
        *h[i].used += EACH;
        live_keeper_open(&h[i].keeper, r, "HLS of one that has ended", &how);
        push(src, AV_VIDEO, i == 0, false, i, 400, i * 40);
        assert_true(memory->used <= LIMIT + LIMIT / 16);
    }
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, MANY);
    for (size_t i = 0; i < MANY; i++) {
        *h[i].used -= h[i].bytes;
        live_keeper_close(&h[i].keeper);
    }
    leave(p);
    live_source_end(src, &me);
    (void)live_source_unref(src);
    live_registry_free(r);
}

/* What a packet costs beside its bytes counts, too: a million of one byte are no small stream. */
static void test_small_packets_count(void **state)
{
    struct live_settings set = settings;
    struct live_source *src;
    struct live_source_stat stat;

    (void)state;
    set.max_bytes = BOUND;
    set.jitter = LIVE_JITTER_OFF;
    set.gop_cache_max_frames = 0;
    src = source(&set);
    push(src, AV_VIDEO, true, false, 0, 8, 0);
    for (uint32_t i = 1; i < 100000; i++) {
        push(src, AV_VIDEO, false, false, i, 8, 0);
        live_source_stat(src, &stat);
        assert_true(stat.log_packets * (sizeof(struct av_packet) + 8) <= BOUND);
    }
    done(src);
}

/* A player that reads little falls out, and goes on at a key frame, at a packet's border. */
static void test_slow_player_skips_to_a_key_frame(void **state)
{
    struct live_settings set = settings;
    struct live_source_stat stat;
    struct live_source *src;
    struct player *slow, *fast;
    uint32_t number = 0;

    (void)state;
    set.max_bytes = 300 * 1000;
    src = source(&set);
    slow = player(src);
    fast = player(src);
    for (unsigned gop = 0; gop < 60; gop++) {
        for (unsigned i = 0; i < 30; i++, number++) {
            push(src, AV_VIDEO, i == 0, false, number, i == 0 ? 9000 : 1500, number * 40);
            play_all(fast);
            (void)play(slow, 400, false);
            live_source_stat(src, &stat);
            assert_true(stat.wire_bytes <= set.max_bytes + 256 * 1024 + 4096);
        }
    }
    play_all(slow);
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
    leave(slow);
    leave(fast);
    done(src);
}

static uint32_t rnd_state = 12345;

static uint32_t rnd(uint32_t n)
{
    rnd_state = rnd_state * 1664525u + 1013904223u;
    return (rnd_state >> 8) % n;
}

/* Players that come and go and take odd amounts: each sees whole packets, in order, with gaps
 * only before key frames. */
static void test_random_players(void **state)
{
    struct live_settings set = settings;
    struct player *players[8] = { NULL };
    struct live_source *src;
    bool keys[6000];

    (void)state;
    set.max_bytes = 200 * 1000;
    src = source(&set);
    for (uint32_t number = 0; number < 6000; number++) {
        struct player **at = &players[rnd(8)];

        keys[number] = rnd(40) == 0;
        push(src, AV_VIDEO, keys[number], false, number, 8 + rnd(keys[number] ? 90000 : 3000),
             number * 33);
        if (!*at) {
            *at = player(src);
        } else if (rnd(200) == 0) {
            leave(*at);
            *at = NULL;
        }
        for (unsigned i = 0; i < 8; i++) {
            struct player *p = players[i];

            if (!p)
                continue;
            (void)play(p, rnd(i < 4 ? 2000 : 200000), rnd(2) == 0);
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
            leave(players[i]);
    }
    done(src);
}

/* What a packet costs must not depend on how many play: the same renders, blocks and wakes. */
static void test_cost_of_a_packet(void **state)
{
    struct live_work one, many;
    static struct player *players[1000];

    (void)state;
    for (unsigned n = 1; n <= 1000; n += 999) {
        struct live_source *src = source(&settings);

        push(src, AV_VIDEO, true, false, 0, 1000, 0);
        for (unsigned i = 0; i < n; i++)
            players[i] = player(src);
        src->work = (struct live_work){ 0 };
        for (uint32_t i = 1; i < 1000; i++)
            push(src, AV_VIDEO, i % 50 == 0, false, i, 1000, i * 40);
        *(n == 1 ? &one : &many) = src->work;
        for (unsigned i = 0; i < n; i++)
            leave(players[i]);
        done(src);
    }
    assert_int_equal(one.packets, 999);
    assert_int_equal(one.rendered, 999);
    assert_memory_equal(&one, &many, sizeof(one));
}

/* ---- the first who joins finds much */

/* A group of `n` packets of `size` bytes, the first one's number is `from`. */
static void push_group(struct live_source *src, uint32_t from, uint32_t n, uint32_t size)
{
    for (uint32_t i = from; i < from + n; i++)
        push(src, AV_VIDEO, i == from, false, i, size, i * 40);
}

/* However large the group is, neither who joins nor one turn renders much of it. */
static void test_a_join_renders_little(void **state)
{
    enum { N = 2400, SIZE = 5000, MOST = 512 * 1024 };
    struct live_source *src = source(&settings);
    struct live_source_stat stat;
    struct player *p;

    (void)state;
    push_group(src, 0, N, SIZE);
    p = player(src);
    for (;;) {
        uint64_t before = src->work.rendered;

        assert_true(before - p->n <= MOST / SIZE); /* nothing is rendered ahead of who plays */
        (void)play(p, SIZE_MAX, false);
        assert_true(src->work.rendered - before <= MOST / SIZE);
        if (live_consumer_pending(&p->c) == 0)
            break;
    }
    play_all(p);
    assert_int_equal(p->n, N);
    push(src, AV_VIDEO, false, false, N, SIZE, N * 40);
    assert_int_equal(src->work.rendered, N + 1); /* with all others from now on */
    live_source_stat(src, &stat);
    assert_true(stat.wire_bytes <= (size_t)N * SIZE * 11 / 10);
    leave(p);
    done(src);
}

/* Two wires of one stream: `eager` was there when the packets came, `lazy` comes after `cut` of
 * them, and the rest comes while it takes a bit now and then. */
static void play_beside_eager(uint32_t cut, uint32_t n, uint32_t gop, uint32_t bite, bool end)
{
    static const uint32_t other[LIVE_PARAMS] = { 0, 1 };
    struct live_source *src = source(&settings);
    struct player *eager = player(src), *lazy = calloc(1, sizeof(*lazy));
    uint32_t start = cut ? (cut - 1) / gop * gop : 0;

    assert_non_null(lazy);
    for (uint32_t i = 0; i < n; i++) {
        if (i == cut)
            live_consumer_open(&lazy->c, src, &plain, other);
        push(src, AV_VIDEO, i % gop == 0, false, i, 30000 + i * 100, i * 40);
        if (i >= cut)
            (void)play(lazy, bite, i % 2);
    }
    if (end)
        live_source_end(src, &me);
    play_all(eager);
    play_all(lazy);
    assert_got(eager, n, eager->got);
    assert_got(lazy, n - start, eager->got + start);
    assert_int_equal(lazy->c.dropped, 0);
    assert_int_equal(live_consumer_pending(&lazy->c), 0);
    leave(eager);
    leave(lazy);
    done(src);
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

/* The state of a format goes the same way, with the configuration of where it begins. */
static void test_lazy_format_that_remembers(void **state)
{
    enum { N = 40 };
    struct live_source *src = source(&settings);
    struct live_consumer c = { 0 };
    struct iovec iov[4];
    uint8_t at = 0;
    int n;

    (void)state;
    push(src, AV_VIDEO, false, true, 1, 44, 0);
    push_group(src, 0, N, 40000);
    push(src, AV_VIDEO, false, true, 2, 55, N * 40);
    live_consumer_open(&c, src, &counting, no_param);
    push(src, AV_VIDEO, true, false, N, 40000, N * 40);
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
    done(src);
}

/* Who joins a wire that has not come to the newest key frame starts there, once it has: with the
 * configuration of that one, and nobody has to wait for the one who is slow. */
static void test_join_a_wire_that_lags(void **state)
{
    static const uint32_t want[] = { 3, 100, 101 };
    struct live_source *src = source(&settings);
    struct player *slow, *p;

    (void)state;
    push(src, AV_VIDEO, false, true, 2, 50, 0);
    push_group(src, 10, 60, 40000);
    slow = player(src);
    push(src, AV_VIDEO, false, true, 3, 60, 3000);
    push_group(src, 100, 2, 40000);
    assert_true(live_wire_lags(slow->c.wire));
    p = player(src);
    while (live_consumer_pending(&p->c) > 0)
        (void)play(p, SIZE_MAX, false);
    assert_got(p, COUNT(want), want);
    assert_int_equal(p->c.dropped, 0);
    play_all(slow);
    assert_int_equal(slow->n, 1 + 60 + 1 + 2);
    leave(p);
    leave(slow);
    done(src);
}

/* A wire that nobody asks for more keeps no more of the log than it would have kept itself. */
static void test_a_wire_that_lags_too_much(void **state)
{
    struct live_settings set = settings;
    struct live_source_stat stat;
    struct live_source *src;
    struct player *p;

    (void)state;
    set.max_bytes = 4 << 20;
    src = source(&set);
    push_group(src, 0, 50, 40000);
    p = player(src);
    for (uint32_t gop = 1; gop < 10; gop++) {
        push_group(src, gop * 50, 50, 40000);
        live_source_stat(src, &stat);
        assert_true(stat.log_bytes + stat.wire_bytes <= set.max_bytes + (1 << 20));
    }
    play_all(p);
    assert_int_equal(p->n + p->c.dropped, 500);
    assert_true(p->n >= 50 + 256 / 40 && p->c.dropped > 300);
    assert_int_equal(p->got[p->n - 50], 450);
    assert_int_equal(p->got[p->n - 1], 499);
    leave(p);
    done(src);
}

/* The log of a stream that ended stays until it is rendered, and no longer. */
static void test_the_end_of_a_log_that_lags(void **state)
{
    struct live_source_stat stat;

    (void)state;
    for (int stays = 0; stays < 2; stays++) {
        struct live_source *src = source(&settings);
        struct player *p;

        push_group(src, 0, 100, 40000);
        p = player(src);
        live_source_end(src, &me);
        live_source_stat(src, &stat);
        assert_true(stat.log_bytes > 0);
        if (stays) {
            play_all(p);
            assert_int_equal(p->n, 100);
        }
        (void)live_source_ref(src);
        leave(p);
        live_source_stat(src, &stat);
        assert_int_equal(stat.log_bytes, 0);
        (void)live_source_unref(src);
        done(src);
    }
}

static void woken(struct live_consumer *c)
{
    assert_null(c->prev); /* it left the list before it was called */
}

static void test_parked_are_woken_once_and_in_order(void **state)
{
    struct live_source *src = source(&settings);
    static struct player *players[10];

    (void)state;
    push(src, AV_VIDEO, true, false, 0, 100, 0);
    for (unsigned i = 0; i < 10; i++) {
        players[i] = player(src);
        play_all(players[i]);
        live_consumer_park(&players[i]->c, 1 + (i * 7) % 10, woken);
    }
    live_consumer_unpark(&players[3]->c);
    src->work = (struct live_work){ 0 };
    for (uint32_t k = 1; k <= 10; k++) {
        push(src, AV_VIDEO, false, false, k, 100, k * 40);
        assert_ok(co_sleep(CO_MS(1))); /* not from within the push: soon after */
        for (unsigned i = 0; i < 10; i++)
            assert_int_equal(players[i]->c.prev == NULL, i == 3 || 1 + (i * 7) % 10 <= k);
    }
    assert_int_equal(src->work.wakes, 9);
    for (unsigned i = 0; i < 10; i++)
        leave(players[i]);
    done(src);
}

static void test_reduce_sequence_header(void **state)
{
    static const uint32_t all[] = { 1, 2, 1, 3 }, reduced[] = { 1, 2, 3 };

    (void)state;
    for (int reduce = 0; reduce < 2; reduce++) {
        struct live_settings set = settings;
        struct live_source *src;
        struct player *p;

        set.reduce_sequence_header = reduce;
        src = source(&set);
        p = player(src);
        push(src, AV_VIDEO, false, true, 1, 50, 0);
        push(src, AV_VIDEO, true, false, 2, 50, 0);
        push(src, AV_VIDEO, false, true, 1, 50, 40);
        push(src, AV_VIDEO, false, false, 3, 50, 40);
        play_all(p);
        assert_got(p, reduce ? 3 : 4, reduce ? reduced : all);
        leave(p);
        done(src);
    }
}

static void test_mix_correct(void **state)
{
    struct live_settings set = settings;
    struct live_source *src;
    struct player *p;
    uint32_t last = 0;

    (void)state;
    set.mix_correct = true;
    set.jitter = LIVE_JITTER_OFF;
    src = source(&set);
    p = player(src);
    for (uint32_t i = 0; i < 50; i++) { /* a second of video, then a second of sound */
        for (uint32_t k = 0; k < 5; k++)
            push(src, AV_VIDEO, i == 0 && k == 0, false, i * 200 + k * 40, 50, i * 200 + k * 40);
        for (uint32_t k = 0; k < 8; k++)
            push(src, AV_AUDIO, false, false, i * 200 + k * 25, 50, i * 200 + k * 25);
        play_all(p);
    }
    live_source_end(src, &me);
    play_all(p);
    assert_int_equal(p->n, 50 * 13);
    for (unsigned i = 0; i < p->n; i++) {
        assert_true(p->got[i] >= last);
        last = p->got[i];
    }
    leave(p);
    done(src);
}

static void test_players_stay_across_publishers(void **state)
{
    struct live_source *src = source(&settings);
    struct live_publisher next = { .ip = "127.0.0.1" };
    struct player *p = player(src);

    (void)state;
    push(src, AV_VIDEO, true, false, 1, 50, 1000);
    play_all(p);
    live_source_end(src, &me);
    assert_ok(live_source_begin(src, &next, &off));
    assert_err(live_source_begin(src, &me, &off), ERR_STREAM_BUSY);
    push(src, AV_VIDEO, false, true, 2, 50, 0);
    push(src, AV_VIDEO, true, false, 3, 50, 0);
    play_all(p);
    assert_int_equal(p->n, 3);
    leave(p);
    live_source_end(src, &next);
    done(src);
}

static err_t wait_for_ever(void *arg)
{
    struct live_publisher *p = arg;

    p->co = co_self();
    assert_int_equal(co_park(CO_FOREVER), CO_STOPPED);
    return co_check();
}

static const char token[] = "a", other_token[] = "b";

/* The old one is at 127.0.0.1. */
static const struct {
    const char *name, *ip;
    int silent;                /* ms */
    const char *shown, *shows; /* by the old one, by the new one; NULL: nothing that was asked for */
    const struct live_takeover *rule;
    int wait;                  /* ms, -1 for ever; 0: it is let in */
} takeover_rows[] = {
    { "off: never", "127.0.0.1", 9000, NULL, NULL, &off, -1 },
    { "off: proof does not help", "127.0.0.1", 9000, token, token, &off, -1 },
    { "stale: another address", "127.0.0.2", 0, NULL, NULL, &stale, -1 },
    { "stale: another address, silent a bit", "127.0.0.2", 1900, NULL, NULL, &stale, -1 },
    { "stale: another address, silent", "127.0.0.2", 2000, NULL, NULL, &stale, 0 },
    { "stale: the same address alone", "127.0.0.1", 0, NULL, NULL, &stale, 500 },
    { "stale: the same address, silent a bit", "127.0.0.1", 400, NULL, NULL, &stale, 100 },
    { "stale: the same address, silent", "127.0.0.1", 500, NULL, NULL, &stale, 0 },
    { "stale: the same proof", "127.0.0.2", 0, token, token, &stale, 0 },
    { "stale: another proof", "127.0.0.2", 0, token, other_token, &stale, -1 },
    { "stale: proof to one who had none", "127.0.0.2", 0, NULL, token, &stale, -1 },
    { "stale: none to one who had proof", "127.0.0.1", 0, token, NULL, &stale, 500 },
    { "on: always", "127.0.0.2", 0, NULL, NULL, &on, 0 },
};

static void show(struct live_publisher *p, const char *shown)
{
    p->has_proof = shown != NULL;
    memset(p->proof, shown ? shown[0] : 0, sizeof(p->proof));
}

/* The clock goes on while a test runs. */
static void assert_wait(co_usec wait, int ms)
{
    if (ms < 0)
        assert_int_equal(wait, CO_FOREVER);
    else
        assert_true(wait <= CO_MS(ms) && wait >= CO_MS(ms) - CO_MS(90));
}

static void test_takeover(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(takeover_rows); i++) {
        const struct live_takeover *rule = takeover_rows[i].rule;
        struct live_source *src = live_source_new("a", &settings);
        struct live_publisher old = { .ip = "127.0.0.1" }, new = { .ip = takeover_rows[i].ip };
        bool taken = takeover_rows[i].wait == 0;
        struct co_group g;

        print_message("  %s\n", takeover_rows[i].name);
        co_group_init(&g);
        assert_ok(co_go(&g, "old publisher", wait_for_ever, &old));
        assert_ok(co_sleep(1000));
        assert_ok(live_source_begin(src, &old, &off));
        old.active_at = co_now() - CO_MS(takeover_rows[i].silent);
        show(&old, takeover_rows[i].shown);
        show(&new, takeover_rows[i].shows);
        assert_wait(live_source_wait(src, &new, rule), takeover_rows[i].wait);
        assert_err(live_source_begin(src, &new, rule), taken ? ERR_OK : ERR_STREAM_BUSY);
        assert_int_equal(old.replaced, taken);
        if (taken)
            assert_err(co_group_wait(&g), ERR_REPLACED);
        else
            assert_err(co_group_stop(&g), ERR_STOPPED);
        live_source_end(src, &old); /* too late to matter if it was replaced */
        assert_int_equal(live_source_publishing(src), taken);
        live_source_end(src, &new);
        (void)live_source_unref(src);
    }
    assert_int_equal(live_source_live(), 0);
}

/* Who asks a backend keeps the place; the stream goes on meanwhile with the publisher it has. */
static void test_claim(void **state)
{
    struct live_source *src = live_source_new("a", &settings);
    struct live_publisher now = { .ip = "127.0.0.1" }, first = { .ip = "127.0.0.2" };
    struct live_publisher second = { .ip = "127.0.0.3" }, neighbour = { .ip = "127.0.0.2" };
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "now", wait_for_ever, &now));
    assert_ok(co_go(&g, "first", wait_for_ever, &first));
    assert_ok(co_sleep(1000));
    now.active_at = first.active_at = second.active_at = co_now();
    assert_ok(live_source_begin(src, &now, &off));
    assert_err(live_source_claim(src, &first, &off), ERR_STREAM_BUSY);
    assert_ok(live_source_claim(src, &first, &on));
    assert_true(live_source_publishing(src));
    assert_false(now.replaced); /* not before it begins */
    live_source_unclaim(src, &first); /* it was not allowed */
    assert_ok(live_source_claim(src, &first, &on));
    assert_err(live_source_claim(src, &second, &stale), ERR_STREAM_BUSY);
    now.active_at -= CO_SECONDS(3);
    first.active_at -= CO_MS(600); /* a backend that takes its time is not its silence */
    assert_err(live_source_claim(src, &neighbour, &stale), ERR_STREAM_BUSY);
    assert_wait(live_source_wait(src, &neighbour, &stale), 1400);
    assert_ok(live_source_claim(src, &second, &on));
    assert_true(first.replaced);
    assert_err(live_source_begin(src, &first, &on), ERR_REPLACED);
    live_source_unclaim(src, &first); /* not its claim any more */
    assert_false(now.replaced);
    assert_ok(live_source_begin(src, &second, &on));
    assert_true(now.replaced);
    assert_err(co_group_wait(&g), ERR_REPLACED);
    live_source_end(src, &second);
    (void)live_source_unref(src);
    assert_int_equal(live_source_live(), 0);
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
    { "sound keeps its distance over a jump", LIVE_JITTER_FULL, 4,
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

static void test_registry(void **state)
{
    struct live_registry *r = live_registry_new();
    struct live_source *sources[300];
    char name[32];
    size_t seen = 0;

    (void)state;
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "v/a/%d", i);
        sources[i] = live_registry_get(r, name, &settings);
    }
    assert_int_equal(live_registry_count(r), 300);
    assert_ptr_equal(live_registry_find(r, "v/a/17"), sources[17]);
    assert_null(live_registry_find(r, "v/a/x"));
    for (struct live_source *s = live_registry_next(r, NULL); s; s = live_registry_next(r, s))
        seen++;
    assert_int_equal(seen, 300);
    for (int i = 0; i < 299; i++)
        (void)live_source_unref(sources[i]);
    assert_int_equal(live_registry_count(r), 1);
    live_registry_free(r);
    (void)live_source_unref(sources[299]);
    assert_int_equal(live_source_live(), 0);
}

/* Streams that nobody plays lose all they can first, however many they are and however small. */
static void test_played_streams_lose_last(void **state)
{
    enum { LIMIT = 1 << 20, OTHERS = 100, EACH = 8 << 10 };
    struct live_registry *r = live_registry_new();
    struct live_source *played = registered(r, "played"), *others[OTHERS];
    struct player *p = player(played);
    struct live_source_stat stat;

    (void)state;
    for (uint32_t i = 0; i < 8; i++)
        push(played, AV_VIDEO, i == 0, false, i, LIMIT / 16, i * 40);
    for (size_t i = 0; i < OTHERS; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "other-%zu", i);
        others[i] = registered(r, name);
        push(others[i], AV_VIDEO, true, false, 0, EACH / 2, 0);
    }
    live_registry_limit(r, LIMIT);
    for (uint32_t n = 1; n < 10; n++) {
        for (size_t i = 0; i < OTHERS; i++)
            push(others[i], AV_VIDEO, false, false, n, EACH / 2, n * 40);
    }
    assert_true(live_registry_memory(r)->squeezed > OTHERS);
    live_source_stat(played, &stat);
    assert_int_equal(stat.log_packets, 8);
    for (uint32_t n = 8; n < 40; n++) /* until it has more than all others */
        push(played, AV_VIDEO, n % 8 == 0, false, n, LIMIT / 16, n * 40);
    assert_true(live_registry_memory(r)->used <= LIMIT + LIMIT / 8);
    leave(p);
    for (size_t i = 0; i < OTHERS; i++) {
        live_source_end(others[i], &me);
        (void)live_source_unref(others[i]);
    }
    live_source_end(played, &me);
    (void)live_source_unref(played);
    live_registry_free(r);
}

/* Players do not protect a large stream: those that are smaller keep what they have. */
static void test_a_large_played_stream_loses_first(void **state)
{
    enum { LIMIT = 16 << 20, FRAME = 512 << 10, SMALL_FRAME = 8 << 10 };
    struct live_registry *r = live_registry_new();
    struct live_source *large = registered(r, "large"), *small = registered(r, "small");
    struct player *p = player(large);
    struct live_source_stat stat;

    (void)state;
    for (uint32_t i = 0; i < 20; i++)
        push(small, AV_VIDEO, i == 0, false, i, SMALL_FRAME, i * 40);
    live_registry_limit(r, LIMIT);
    for (uint32_t i = 0; i < 40; i++)
        push(large, AV_VIDEO, i % 4 == 0, false, i, FRAME, i * 40);
    assert_true(live_registry_memory(r)->squeezed > 0);
    assert_true(live_registry_memory(r)->used <= LIMIT + LIMIT / 8);
    live_source_stat(small, &stat);
    assert_int_equal(stat.log_packets, 20);
    leave(p);
    live_source_end(large, &me);
    live_source_end(small, &me);
    (void)live_source_unref(large);
    (void)live_source_unref(small);
    live_registry_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_join_at_the_newest_key_frame),
        TEST(test_without_cache_the_next_key_frame),
        TEST(test_who_waits_gets_all_from_the_first_key_frame),
        TEST(test_configuration_of_its_own_start),
        TEST(test_configuration_of_the_key_frame_not_of_now),
        TEST(test_sender_leaves_configuration_out),
        TEST(test_sender_with_nothing_to_send),
        TEST(test_sender_of_much),
        TEST(test_sender_that_goes_round),
        TEST(test_states_of_a_sender),
        TEST(test_lag),
        TEST(test_format_that_remembers),
        TEST(test_reader),
        TEST(test_a_reader_reads_to_the_end_of_its_publisher),
        TEST(test_the_log_goes_with_its_last_reader),
        TEST(test_sound_alone_starts_within_half_a_second),
        TEST(test_cache_is_bounded), TEST(test_the_largest_loses_its_oldest),
        TEST(test_keepers_lose), TEST(test_many_small_keepers_lose), TEST(test_small_packets_count),
        TEST(test_played_streams_lose_last), TEST(test_a_large_played_stream_loses_first),
        TEST(test_slow_player_skips_to_a_key_frame),
        TEST(test_random_players),
        TEST(test_cost_of_a_packet),
        TEST(test_a_join_renders_little),
        TEST(test_lazy_and_eager_are_the_same_at_every_cut),
        TEST(test_lazy_format_that_remembers),
        TEST(test_join_a_wire_that_lags),
        TEST(test_a_wire_that_lags_too_much),
        TEST(test_the_end_of_a_log_that_lags),
        TEST(test_parked_are_woken_once_and_in_order),
        TEST(test_reduce_sequence_header),
        TEST(test_mix_correct),
        TEST(test_players_stay_across_publishers),
        TEST(test_takeover), TEST(test_claim),
        TEST(test_clock),
        TEST(test_registry),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
