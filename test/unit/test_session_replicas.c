/* SPDX-License-Identifier: MIT */
/* test_session_replicas.c - a stream owned by one of two workers and played on the other.
 *
 * The test's thread is the owner worker. Actions on the other one are calls, one at a time;
 * assertions are made only here.
 */
#include "co/net/io.h"
#include "live/deferred_free.h"
#include "live/sender.h"
#include "peer.h"
#include "session/stream_owners.h"
#include "session/replicas.h"
#include "unit.h"

#include "two_workers.h"

#include <stdlib.h>
#include <string.h>

#define PATH "__defaultVhost__/live/s"

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_FULL, .queue_length = CO_SECONDS(30),
    .max_bytes = 64 << 20,
};
static const struct live_takeover on = { LIVE_TAKEOVER_ON, 0, 0 };
static struct live_publisher me = { .ip = "127.0.0.1" };
static const uint32_t no_param[LIVE_PARAMS] = { 0 };

/* A packet is its own bytes. */
static size_t plain_size(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt,
                         int64_t dts)
{
    (void)param;
    (void)dts;
    return pkt->size;
}

static void plain_render(const uint32_t param[LIVE_PARAMS], const struct av_packet *pkt,
                         int64_t dts, uint8_t *out)
{
    (void)param;
    (void)dts;
    memcpy(out, pkt->data, pkt->size);
}

static const struct live_format plain = { .name = "plain", .size = plain_size,
                                          .render = plain_render };

/* ---- the owner worker */

static struct live_source *owner;
static uint32_t number;

static void push(char what)
{
    struct av_packet *pkt = av_packet_try_in(live_source_packets(owner), sizeof(number));

    assert_non_null(pkt);
    memcpy(pkt->data, &number, sizeof(number));
    number++;
    pkt->kind = AV_VIDEO;
    pkt->key = what == 'k';
    pkt->config = what == 'V';
    live_source_push(owner, pkt, AV_MS(number * 10));
    (void)av_packet_unref(pkt);
}

static void come_home(void)
{
    owner = live_registry_get(two_env[0].streams, PATH, &settings);
    replicas_own(&two_env[0], owner);
    number = 0;
}

static void begin(void)
{
    assert_ok(live_source_begin(owner, &me, &on));
    push('V');
    push('k');
}

static void leave_owner(void)
{
    live_source_end(owner, &me);
    owner = live_source_unref(owner);
    live_deferred_free_flush();
}

/* ---- the other worker: a player with its own sender */

struct player {
    struct io io;
    struct live_source *src;
    struct live_sender s;
    struct co_group g;
    uint8_t got[1 << 16];
    size_t n;
    atomic_uint last;    /* the number of the newest packet that it got */
    bool publishing;
};

static void take(struct player *p, const void *bytes, size_t size)
{
    uint32_t last;

    if (p->n + size > sizeof(p->got))
        p->n = 0;
    memcpy(p->got + p->n, bytes, size);
    p->n += size;
    memcpy(&last, p->got + p->n - sizeof(last), sizeof(last));
    atomic_store(&p->last, last);
}

static err_t take_some(struct io *io, const struct iovec *iov, int count, size_t *n)
{
    *n = 0;
    for (int i = 0; i < count; i++) {
        take((struct player *)(void *)io, iov[i].iov_base, iov[i].iov_len);
        *n += iov[i].iov_len;
    }
    return NULL;
}

static err_t take_all(struct io *io, struct iovec *iov, int count)
{
    size_t n;

    return take_some(io, iov, count, &n);
}

static const struct io_ops quiet = { .name = "quiet", .readable = silent_readable,
                                     .wait = silent_wait, .send_some = take_some,
                                     .writev = take_all };

static err_t nothing(void *arg)
{
    (void)arg;
    return NULL;
}

static err_t send_main(void *player)
{
    struct player *p = player;

    return live_sender_run(&p->s);
}

static void come(struct session_env *env, void *player)
{
    struct player *p = player;

    *p = (struct player){ .io.ops = &quiet, .last = UINT32_MAX };
    p->src = live_registry_get(env->streams, PATH, &settings);
    replicas_own(env, p->src);
    p->s = (struct live_sender){ .io = &p->io, .on_readable = nothing, .on_turn = nothing,
                                 .set.mw_latency = 0 };
    live_consumer_open(&p->s.consumer, p->src, &plain, no_param);
    co_group_init(&p->g);
    p->g.first = co_go(&p->g, "send", send_main, p);
}

static void leave(struct session_env *env, void *player)
{
    struct player *p = player;
    err_t err = co_group_stop(&p->g);

    (void)env;
    err_free(&err);
    live_consumer_close(&p->s.consumer);
    p->src = live_source_unref(p->src);
    live_deferred_free_flush();
}

static void ask_publishing(struct session_env *env, void *player)
{
    struct player *p = player;

    (void)env;
    p->publishing = live_source_publishing(p->src);
}

static void hurry(struct session_env *env, void *keep)
{
    env->replicas->keep = *(co_usec *)keep;
    env->replicas->look = CO_MS(2);
}

static void close_all(struct session_env *env, void *unused)
{
    (void)unused;
    replicas_close_all(env);
}

static void count_live(struct session_env *env, void *live)
{
    (void)env;
    *(long *)live = av_packet_live() + live_source_live();
}

static void far(workers_fn *fn, void *arg)
{
    workers_call(&two_env[0], 1, fn, arg);
}

static void count_replicas(struct session_env *env, void *n)
{
    *(unsigned *)n = env->replicas ? env->replicas->n : 0;
}

static unsigned replicas(void)
{
    unsigned n;

    far(count_replicas, &n);
    return n;
}

/* It comes automatically: no one there requests it. */
static void wait_last(const struct player *p, uint32_t want)
{
    co_usec began = co_clock();

    while (atomic_load(&p->last) != want) {
        assert_true(co_clock() - began < CO_SECONDS(10));
        assert_ok(co_sleep(CO_MS(1)));
    }
}

static void wait_replicas(unsigned n)
{
    co_usec began = co_clock();

    while (replicas() != n) {
        assert_true(co_clock() - began < CO_SECONDS(10));
        assert_ok(co_sleep(CO_MS(1)));
    }
}

static void nothing_there(void)
{
    long live;

    far(count_live, &live);
    assert_int_equal(live, 0);
    assert_int_equal(atomic_load(&two.v[1].gauges.replicas), 0);
    assert_int_equal(live_source_live(), 0);
}

static struct player *player(void)
{
    static struct player one;

    far(come, &one);
    return &one;
}

/* ---- tests */

static void test_plays_at_the_other_worker(void **state)
{
    static const uint32_t want[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    struct player *p;

    (void)state;
    come_home();
    begin();
    push('v');
    p = player();
    wait_last(p, 2);
    assert_int_equal(replicas(), 1);
    assert_int_equal(live_source_idle_since(owner), 0);
    for (uint32_t i = 3; i < 10; i++) {
        push('v');
        wait_last(p, i);
    }
    live_source_end(owner, &me);
    assert_ok(live_source_begin(owner, &me, &on));
    push('V');
    push('k');
    wait_last(p, 11);
    far(leave, p);
    assert_int_equal(p->n, sizeof(want));
    assert_memory_equal(p->got, want, sizeof(want));
    far(hurry, &(co_usec){ 0 });
    wait_replicas(0);
    assert_true(live_source_idle_since(owner) > 0);
    leave_owner();
    nothing_there();
}

/* No owner yet: the player makes its worker the owner through its replica, and continues. */
static void test_comes_first(void **state)
{
    struct stream_owner *held = stream_owners_hold(&two, PATH, 0); /* such as a publisher on its way */
    struct player *p = player();

    (void)state;
    stream_owners_release(&two, held);
    wait_replicas(1);
    come_home();
    far(ask_publishing, p);
    assert_false(p->publishing);
    begin();
    wait_last(p, 1);
    far(ask_publishing, p);
    assert_true(p->publishing);
    leave_owner(); /* the replica still has it */
    assert_int_equal(live_source_live(), 1);
    far(leave, p);
    far(hurry, &(co_usec){ 0 });
    wait_replicas(0);
    nothing_there();
}

/* Data that only a tap holds is freed even without further packets. */
static void test_silence(void **state)
{
    const struct live_memory *m = live_registry_memory(two_env[0].streams);
    co_usec began = co_clock();
    struct player *p;

    (void)state;
    come_home();
    begin();
    p = player();
    wait_last(p, 1);
    far(hurry, &(co_usec){ CO_SECONDS(5) });
    for (int i = 0; i < 1000; i++)
        push('v');
    live_source_end(owner, &me);
    while (m->used > 50000) {
        assert_true(co_clock() - began < CO_SECONDS(10));
        assert_ok(co_sleep(CO_MS(1)));
    }
    far(leave, p);
    far(hurry, &(co_usec){ 0 });
    wait_replicas(0);
    leave_owner();
    nothing_there();
}

/* A player at any time, even while the replica is being closed, sees the newest key frame. */
static void test_churn(void **state)
{
    unsigned seed = 1;

    (void)state;
    come_home();
    begin();
    for (int i = 0; i < 300; i++) {
        struct player *p = player();

        if (i == 0)
            far(hurry, &(co_usec){ CO_MS(1) });
        if (rand_r(&seed) % 4 == 0) {
            live_source_end(owner, &me);
            begin();
        }
        push('k');
        wait_last(p, number - 1);
        far(leave, p);
        assert_ok(co_sleep((co_usec)(rand_r(&seed) % 6000)));
    }
    wait_replicas(0);
    leave_owner();
    nothing_there();
}

static void test_all_are_closed(void **state)
{
    struct player *p;

    (void)state;
    come_home();
    begin();
    p = player(); /* and while its request is on the way */
    far(close_all, NULL);
    assert_int_equal(replicas(), 0);
    far(ask_publishing, p);
    assert_false(p->publishing);
    far(leave, p);
    p = player();
    wait_last(p, 1);
    far(close_all, NULL);
    assert_int_equal(replicas(), 0);
    far(close_all, NULL);
    atomic_store(&two.ending, true);
    far(leave, p);
    p = player();
    assert_int_equal(replicas(), 0); /* it ends: no client waits for this one */
    far(leave, p);
    atomic_store(&two.ending, false);
    leave_owner();
    nothing_there();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plays_at_the_other_worker), TEST(test_comes_first), TEST(test_silence),
        TEST(test_churn), TEST(test_all_are_closed),
    };
    err_t err = co_init();
    int failed;

    assert(!err);
    two_begin("listen 1935; vhost __defaultVhost__ { }");
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed == 0)
        two_end();
    return failed;
}
