/* SPDX-License-Identifier: MIT */
/* test_live_feed.c - a sender with another source than a live stream, which has its own clock. */
#include "base/container_of.h"
#include "live/sender.h"
#include "peer.h"
#include "unit.h"

#include <assert.h>

enum { TURN = 100 };

/* It gives TURN bytes per turn, waits once for a wakeup, and ends. */
struct fake {
    struct live_feed feed;
    struct io io;
    struct live_sender sender;
    size_t left;      /* bytes */
    size_t wait_at;   /* it waits when this many are left */
    bool waits, given, paused;
    unsigned turns;
};

static struct fake *fake_of(const struct live_feed *f)
{
    return container_of(f, struct fake, feed);
}

static bool ready(const struct live_feed *f)
{
    return !fake_of(f)->waits;
}

static int ranges(struct live_feed *f, struct iovec *iov, int max)
{
    static uint8_t bytes[TURN];
    struct fake *k = fake_of(f);

    assert_true(max >= 2);
    assert_false(k->paused);
    if (k->left == k->wait_at && k->wait_at > 0) {
        k->waits = true;
        k->wait_at = 0;
        return 0;
    }
    if (k->left == 0 || k->given) {
        k->given = false;
        return 0;
    }
    iov[0] = (struct iovec){ bytes, TURN / 4 };
    iov[1] = (struct iovec){ bytes, TURN - TURN / 4 };
    return 2;
}

static void advance(struct live_feed *f, size_t sent)
{
    struct fake *k = fake_of(f);

    assert_true(sent <= k->left);
    k->left -= sent;
    k->given = true;
}

static bool ended(const struct live_feed *f)
{
    return fake_of(f)->left == 0;
}

static co_usec lag(const struct live_feed *f)
{
    (void)f;
    return CO_MS(7);
}

static uint64_t pending(const struct live_feed *f)
{
    return fake_of(f)->left / TURN;
}

static void set_paused(struct live_feed *f, bool paused)
{
    assert_int_equal(fake_of(f)->paused, !paused);
    fake_of(f)->paused = paused;
}

static const struct live_feed_kind kind = { .ready = ready, .ranges = ranges, .advance = advance,
                                            .ended = ended, .lag = lag, .pending = pending,
                                            .paused = set_paused };

static err_t nothing(void *arg)
{
    (void)arg;
    return NULL;
}

static err_t count_turn(void *arg)
{
    ((struct fake *)arg)->turns++;
    return NULL;
}

static err_t send_main(void *arg)
{
    return live_sender_run(arg);
}

static void open_fake(struct fake *k, unsigned turns, co_usec merge)
{
    *k = (struct fake){ .feed = { .kind = &kind }, .io = { .ops = &silent_ops },
                        .left = (size_t)turns * TURN };
    k->sender = (struct live_sender){ .io = &k->io, .arg = k, .feed = &k->feed,
                                      .on_readable = nothing, .on_turn = count_turn,
                                      .set = { .mw_latency = merge } };
}

static void go(struct co_group *g, struct fake *k)
{
    co_group_init(g);
    assert_ok(co_go(g, "send", send_main, &k->sender));
}

/* Everything is sent, one turn after the other, mostly without the coroutine; then it is done. */
static void test_sends_until_it_ends(void **state)
{
    enum { TURNS = 10 };
    struct co_group g;
    struct fake k;

    (void)state;
    open_fake(&k, TURNS, CO_MS(2));
    go(&g, &k);
    assert_ok(co_group_wait(&g));
    assert_true(k.sender.done);
    assert_int_equal(k.left, 0);
    assert_int_equal(k.sender.turns, TURNS + 1);
    assert_true(k.turns < TURNS / 2 + 2);
}

static void wait_until_left(const struct fake *k, size_t left)
{
    for (int i = 0; i < 2000 && k->left > left; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(k->left, left);
}

/* A feed that waits for a disk sleeps until it is notified of more data. */
static void test_waits_for_more(void **state)
{
    struct live_sender_stat stat;
    struct co_group g;
    struct fake k;

    (void)state;
    open_fake(&k, 6, CO_MS(2));
    k.wait_at = 3 * TURN;
    go(&g, &k);
    wait_until_left(&k, 3 * TURN);
    for (int i = 0; i < 2000 && !k.feed.on_more; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_non_null(k.feed.on_more);
    assert_int_equal(k.left, 3 * TURN);
    live_sender_stat(&k.sender, &stat);
    assert_string_equal(live_sender_state_name(stat.state), "COLLECT");
    assert_int_equal(stat.lag, CO_MS(7));
    assert_int_equal(live_sender_pending(&k.sender), 3);
    k.waits = false;
    k.feed.on_more(&k.feed, k.feed.arg);
    assert_ok(co_group_wait(&g));
    assert_int_equal(k.left, 0);
    assert_null(k.feed.on_more);
}

/* Data that it waited for is sent at once, not at the next turn. */
static void test_goes_on_at_once(void **state)
{
    struct co_group g;
    struct fake k;

    (void)state;
    open_fake(&k, 1, CO_SECONDS(100));
    k.wait_at = TURN;
    go(&g, &k);
    for (int i = 0; i < 2000 && !k.feed.on_more; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_non_null(k.feed.on_more);
    k.waits = false;
    k.feed.on_more(&k.feed, k.feed.arg);
    wait_until_left(&k, 0);
    assert_ok(co_group_wait(&g));
}

/* Its clock stops with the sender; two requests count once. */
static void test_pauses(void **state)
{
    struct co_group g;
    struct fake k;

    (void)state;
    open_fake(&k, 2000, CO_MS(1));
    live_sender_pause(&k.sender, true);
    live_sender_pause(&k.sender, true);
    assert_true(k.paused);
    live_sender_pause(&k.sender, false);
    live_sender_pause(&k.sender, false);
    assert_false(k.paused);
    go(&g, &k);
    wait_until_left(&k, 1998 * TURN);
    live_sender_pause(&k.sender, true);
    assert_ok(co_sleep(CO_MS(20)));
    assert_true(k.left > 1000 * TURN);
    assert_err(co_group_stop(&g), ERR_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_sends_until_it_ends), TEST(test_waits_for_more), TEST(test_goes_on_at_once),
        TEST(test_pauses),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
