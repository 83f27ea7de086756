/* SPDX-License-Identifier: MIT */
/* test_live_tap_threads.c - a stream and its replica in two threads. */
#include "live_replica.h"

/* ---- formats: the first prints all of a packet, the second has state */

enum { PACKETS = 1000000, BURST = 8 };

/* ---- with two threads */

/* A packet contains its number, the number of packets left in its burst, and the current configuration. */
struct said {
    uint64_t number;
    uint32_t left, config;
};

struct far { /* the reader */
    struct live_tap *tap;
    struct co_notify wake, turn; /* the reader's, and the owner's: it begins, it has ended */
    atomic_bool mail, quit;
    atomic_ullong seen; /* number of the next packet */
    atomic_uint ends;   /* publishers that came and went */
    bool slow;          /* it pauses, and no reader waits for it */
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

/* The order is that of the owner; whole GOPs may be missing, and configuration is at its place. */
static void far_check(struct far *f, struct reading *g, const struct av_packet *pkt)
{
    struct said said;

    memcpy(&said, pkt->data, sizeof(said));
    for (uint32_t i = sizeof(said); i < pkt->size; i++)
        CHECK(pkt->data[i] == (uint8_t)(said.number + i));
    if (g->fresh) /* with several unread GOPs it gets that of the last one */
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
        if (said.number > g->number + 1) { /* or it is a configuration that was skipped */
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
    struct reading g = { .far = f, .src = live_source_new("v/a/s", &tap_settings), .seed = 1 };

    live_tap_follow(f->tap, g.src);
    far_reader_open(&g);
    live_consumer_open(&g.c, g.src, &format_counts, tap_param);
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
    live_deferred_free_flush();
    CHECK(live_source_live() == 0 && av_packet_live() == 0);
}

/* It stays, as a worker would: leak checkers find its memory through it. */
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

/* The reader must have seen everything within some seconds: only a wakeup makes it poll. */
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
                co_yield(); /* its posted task runs */
        }
        if (!f->slow)
            wait_seen(f, said.number, ends);
        else if (rand_r(&seed) % 64 == 0)
            assert_ok(co_sleep(CO_MS(1)));
        if (rand_r(&seed) % 64 == 0) {
            live_source_end(src, &tap_publisher);
            if (!f->slow)
                wait_seen(f, said.number, ++ends);
            assert_ok(live_source_begin(src, &tap_publisher, &tap_takeover));
            n = 0;
        }
    }
}

static void over_two_threads(bool slow)
{
    struct live_source *src = live_source_new("v/a/s", &tap_settings);
    struct far *f = calloc(1, sizeof(*f));
    pthread_t id;

    assert_non_null(f);
    f->slow = slow;
    assert_ok(co_notify_open(&f->turn));
    assert_ok(live_source_begin(src, &tap_publisher, &tap_takeover));
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
    live_source_end(src, &tap_publisher);
    (void)live_source_unref(src);
    live_deferred_free_flush();
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
        TEST(test_two_threads), TEST(test_two_threads_slow),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
