/* SPDX-License-Identifier: MIT */
/* test_live_sender.c - what a sender sends, waits for and reports. */
#include "live_players.h"

/* A format with state and without output. */
static void silence_make(void *state, const struct av_packet *pkt, struct wr *out)
{
    (void)state;
    (void)pkt;
    (void)out;
}

static const struct live_format silence = { .name = "silence", .open = counting_open,
                                            .close = free, .make = silence_make };

/* The peer sends nothing until it got something, and then it leaves. */
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

/* ---- a player with nothing left to send */

enum { PUSHED = 10, TURNS_MAX = 4 * PUSHED };

struct unwilling {
    struct io io;
    struct live_sender sender;
    unsigned turns;
};

static err_t count_turn(void *arg)
{
    struct unwilling *u = arg;

    u->sender.done = ++u->turns > TURNS_MAX; /* so that an endless loop fails here */
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
    struct live_source *src = source_begin(set);
    struct unwilling u = { .io = { .ops = &silent_ops } };
    struct co_group g;
    uint32_t i;

    u.sender = (struct live_sender){ .io = &u.io, .arg = &u, .on_readable = nothing,
                                     .on_turn = count_turn, .set = *how };
    co_group_init(&g);
    for (i = 0; i < PUSHED / 2; i++)
        push_numbered(src, AV_VIDEO, i % 3 == 0, false, i, 50, i * 40);
    live_consumer_open(&u.sender.consumer, src, fmt, param);
    assert_ok(co_go(&g, "unwilling", send_to_unwilling, &u));
    for (; i < PUSHED; i++) {
        push_numbered(src, AV_VIDEO, i % 3 == 0, false, i, 50, i * 40);
        assert_ok(co_sleep(CO_MS(1)));
    }
    assert_false(u.sender.done);
    assert_err(co_group_stop(&g), ERR_STOPPED);
    assert_true(u.turns <= TURNS_MAX);
    assert_int_equal(u.io.bytes_out, 0);
    live_consumer_close(&u.sender.consumer);
    source_end(src);
}

/* A wire without bytes, for a player that wants neither audio nor video: it sleeps. */
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
    struct live_settings set = live_defaults;

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(hows); i++) {
        set.gop_cache = i % 2;
        play_to_unwilling(&set, &plain_format, &hows[i / 2]);
        play_to_unwilling(&set, &silence, &hows[i / 2]);
    }
}

/* A GOP of many portions: a format without bytes goes through it as well, with others in between. */
static void test_sender_of_much(void **state)
{
    enum { N = 2400, SIZE = 4000 };

    (void)state;
    for (uint32_t out = 0; out <= ALL_OUT; out += ALL_OUT) {
        const uint32_t param[LIVE_PARAMS] = { out };
        struct live_source *src = source_begin(&live_defaults);
        struct unwilling u = { .io = { .ops = &silent_ops } };
        struct co_group g;

        u.sender = (struct live_sender){ .io = &u.io, .arg = &u, .on_readable = nothing,
                                         .on_turn = count_turn };
        co_group_init(&g);
        for (uint32_t i = 0; i < N; i++)
            push_numbered(src, AV_VIDEO, i == 0, false, i, SIZE, i * 40);
        live_consumer_open(&u.sender.consumer, src, &plain_format, param);
        assert_ok(co_go(&g, "much", send_to_unwilling, &u));
        for (int i = 0; i < 1000 && live_consumer_pending(&u.sender.consumer) > 0; i++)
            assert_ok(co_sleep(CO_MS(1)));
        assert_int_equal(live_consumer_pending(&u.sender.consumer), 0);
        assert_int_equal(u.io.bytes_out, out ? 0 : N * SIZE);
        assert_true(u.turns < 10);
        assert_err(co_group_stop(&g), ERR_STOPPED);
        live_consumer_close(&u.sender.consumer);
        source_end(src);
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

/* For any other endless loop the player ends, not the server. */
static void test_sender_that_goes_round(void **state)
{
    static const struct io_ops ops = { .name = "restless", .readable = always_readable,
                                       .wait = never_waits, .send_some = silent_send_some };
    struct live_source *src = source_begin(&live_defaults);
    struct io io = { .ops = &ops };
    struct live_sender s = { .io = &io, .on_readable = nothing, .on_turn = nothing };

    (void)state;
    live_consumer_open(&s.consumer, src, &plain_format, no_param);
    assert_err(live_sender_run(&s), ERR_LOOP);
    live_consumer_close(&s.consumer);
    source_end(src);
}

/* ---- counters of a sender */

/* A peer that reads this many bytes, and then nothing. */
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

    assert_ok(co_sleep(CO_MS(20))); /* any number of turns */
    live_sender_stat(&p->sender, &stat);
    assert_string_equal(live_sender_state_name(stat.state), live_sender_state_name(state));
    assert_true(stat.since > 0);
    return stat;
}

static void test_states_of_a_sender(void **state)
{
    struct narrow p = { .io = { .ops = &narrow_ops, .write_timeout = CO_FOREVER }, .room = 1000 };
    struct live_source *src = source_begin(&live_defaults);
    struct live_sender_stat stat;
    struct co_group g;
    unsigned turns;
    err_t err;

    (void)state;
    p.sender = (struct live_sender){ .io = &p.io, .arg = &p, .on_readable = nothing,
                                     .on_turn = count_narrow, .turn_every = CO_MS(5) };
    live_sender_stat(&p.sender, &stat); /* before it has a stream */
    assert_int_equal(stat.state, LIVE_WAIT_KEY);
    live_consumer_open(&p.sender.consumer, src, &plain_format, no_param);
    co_group_init(&g);
    assert_ok(co_go(&g, "sender", send_to_narrow, &p));
    (void)assert_state(&p, LIVE_WAIT_KEY);
    push_numbered(src, AV_VIDEO, true, false, 0, 600, 0);
    stat = assert_state(&p, LIVE_COLLECT);
    assert_true(stat.lag == 0 && stat.window_full == 0);

    for (uint32_t i = 1; i < 11; i++)
        push_numbered(src, AV_VIDEO, false, false, i, 600, i * 100);
    stat = assert_state(&p, LIVE_WINDOW_FULL);
    assert_int_equal(stat.lag, 900 * 1000); /* the first of ten has started */
    assert_int_equal(stat.window_full, stat.since);
    turns = p.turns;
    assert_true(assert_state(&p, LIVE_WINDOW_FULL).since > stat.since);
    assert_true(p.turns > turns); /* its owner checks */
    p.room = 300;
    co_unpark(p.sender.co); /* some, but not all: it is still full */
    stat = assert_state(&p, LIVE_WINDOW_FULL);
    assert_true(stat.since > CO_MS(50) && stat.lag == 800 * 1000);
    p.room = SIZE_MAX;
    co_unpark(p.sender.co);
    stat = assert_state(&p, LIVE_COLLECT);
    assert_true(stat.lag == 0 && stat.window_full > CO_MS(50) && stat.dropped == 0);

    live_sender_pause(&p.sender, true);
    push_numbered(src, AV_VIDEO, false, false, 11, 600, 1200);
    assert_true(assert_state(&p, LIVE_PAUSED).window_full == stat.window_full);
    assert_true(assert_state(&p, LIVE_PAUSED).since > CO_MS(35));
    err = co_group_stop(&g);
    err_free(&err);
    live_consumer_close(&p.sender.consumer);
    source_end(src);
}

/* Lag of data that is gone from the log, by its time of arrival. */
static void test_lag(void **state)
{
    struct live_source *src = source_begin(&live_defaults);
    struct live_consumer c = { 0 };

    (void)state;
    push_numbered(src, AV_VIDEO, true, false, 0, 600, 0);
    live_consumer_open(&c, src, &plain_format, no_param);
    assert_int_equal(live_consumer_lag(&c), 0); /* it has not missed anything */
    push_numbered(src, AV_VIDEO, false, false, 1, 600, 40);
    assert_int_equal(live_consumer_lag(&c), 40 * 1000);
    assert_ok(co_sleep(CO_MS(30)));
    push_numbered(src, AV_VIDEO, true, false, 2, 600, 4000);
    push_numbered(src, AV_VIDEO, true, false, 3, 600, 8000);
    assert_true(live_consumer_lag(&c) >= CO_MS(15) && live_consumer_lag(&c) < CO_SECONDS(3));
    live_consumer_close(&c);
    source_end(src);
}

/* A format may leave configuration out: then the player gets only the frames. */
static void test_sender_leaves_configuration_out(void **state)
{
    (void)state;
    for (uint32_t leave_out = 0; leave_out <= 2; leave_out++) {
        struct live_source *src = live_source_new("a/b/c", &live_defaults);
        const uint32_t param[LIVE_PARAMS] = { leave_out };
        uint8_t out[400];
        struct io_mem mem;
        struct live_sender s = { .io = &mem.io, .on_readable = say_after_a_turn,
                                 .on_turn = nothing };

        io_mem_init(&mem, NULL, 0);
        mem.out = out;
        mem.out_cap = sizeof(out);
        s.arg = &s;
        assert_ok(live_source_begin(src, &the_publisher, &takeover_stale));
        push_numbered(src, AV_AUDIO, false, true, 1, 30, 0);
        push_numbered(src, AV_VIDEO, false, true, 2, 60, 0);
        push_numbered(src, AV_VIDEO, true, false, 3, 50, 0);
        push_numbered(src, AV_VIDEO, false, false, 4, 40, 40);
        live_consumer_open(&s.consumer, src, &plain_format, param);
        assert_ok(live_sender_run(&s));
        assert_int_equal(mem.out_size, leave_out == 0 ? 180 : leave_out == 1 ? 90 : 120);
        live_consumer_close(&s.consumer);
        live_source_end(src, &the_publisher);
        (void)live_source_unref(src);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sender_with_nothing_to_send), TEST(test_sender_of_much),
        TEST(test_sender_that_goes_round), TEST(test_states_of_a_sender), TEST(test_lag),
        TEST(test_sender_leaves_configuration_out),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
