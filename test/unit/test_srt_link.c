/* SPDX-License-Identifier: MIT */
/* test_srt_link.c - SRT connections over bad networks: packets that are not too late arrive once, in
 * order, at their time.
 *
 * 200 seeds, 1,000 in `make test-long`; SRT_SEEDS sets the number.
 */
#include "srt_link.h"
#include "unit.h"

#include <stdio.h>

/* Fate of a packet, by the clock of the network; 0: nothing. */
struct fate {
    co_usec fed, came, played;
};

struct watch {
    struct fate *of;
    int64_t last;
    co_usec tolerance, worst;
    unsigned played;
};

static struct watch *watch_of(struct link *l)
{
    return l->arg;
}

static void on_feed(struct link *l, unsigned n, co_usec now)
{
    watch_of(l)->of[n].fed = now;
}

static void on_data(struct link *l, const struct srt_packet *p, co_usec now)
{
    struct watch *w = watch_of(l);
    int32_t n = srt_seq_distance(SRT_SEQ_MASK - 99, p->seq);

    assert_in_range(n, 0, l->rules->packets - 1);
    if (w->of[n].came == 0)
        w->of[n].came = now;
}

static co_usec time_of(const struct link *l, const struct fate *f)
{
    return f->fed + l->first_delay + l->rules->latency;
}

static void on_message(struct link *l, const struct srt_message *m, co_usec now)
{
    struct watch *w = watch_of(l);
    struct fate *f;
    co_usec due, off;
    unsigned n;

    memcpy(&n, m->data, sizeof(n));
    assert_true(n < l->rules->packets && m->size == link_size(n));
    assert_int_equal(m->data[m->size - 1], (uint8_t)n);
    assert_true((int64_t)n > w->last); /* once, in order */
    assert_int_equal(m->hole, (int64_t)n != w->last + 1);
    w->last = n;
    w->played++;
    f = &w->of[n];
    f->played = now;
    due = time_of(l, f) > f->came ? time_of(l, f) : f->came; /* late, and nothing else arrived */
    off = llabs(now - due);
    w->worst = off > w->worst ? off : w->worst;
    if (!l->rules->no_tsbpd && off > w->tolerance)
        print_error("packet %u: %ld us off\n", n, (long)(now - due));
    assert_true(l->rules->no_tsbpd || off <= w->tolerance);
}

static void watch_begin(struct link *l, struct watch *w, const struct link_rules *rules)
{
    *w = (struct watch){ .last = -1, .tolerance = CO_MS(5) + rules->net.jitter / 2 };
    w->of = calloc(rules->packets, sizeof(w->of[0]));
    assert_non_null(w->of);
    *l = (struct link){ .on_message = on_message, .on_data = on_data, .on_feed = on_feed,
                        .arg = w };
    link_begin(l, rules);
}

static void watch_end(struct link *l, struct watch *w)
{
    link_end(l);
    free(w->of);
}

/* Everything that arrived in time was delivered. */
static void check_fates(const struct link *l, const struct watch *w)
{
    for (unsigned i = 0; i < l->rules->packets; i++) {
        const struct fate *f = &w->of[i];

        assert_true(f->fed);
        if (f->came && f->came < time_of(l, f) - w->tolerance)
            assert_true(f->played);
        assert_true(!f->played || f->came);
    }
}

/* Nothing is in flight, buffered, or to be sent, except keepalives. */
static void check_rest(const struct link *l)
{
    const struct srt_sender *s = &l->send.conn.sender;
    struct srt_receiver_stat r;

    srt_receiver_stat(l->recv.conn.receiver, &r);
    if (r.held || s->acked != l->rules->packets)
        print_error("seed %u\n", (unsigned)l->rules->seed);
    assert_int_equal(l->send.conn.end, SRT_OPEN);
    assert_int_equal(l->recv.conn.end, SRT_OPEN);
    assert_int_equal(r.held, 0);
    assert_int_equal(r.held_time, 0);
    assert_int_equal(r.far, 0);
    assert_int_equal(r.undecrypted, 0);
    assert_int_equal(s->stat.in_flight, 0);
    assert_int_equal(s->acked, l->rules->packets);
    assert_int_equal(s->n_retransmits, 0);
    assert_int_equal(s->stat.sent, l->rules->packets);
}

static void run(struct link *l, const struct link_rules *r)
{
    co_usec time = (co_usec)r->packets * r->every * 5 / 4;

    while (l->fed < r->packets) {
        udp_net_run(l->net, CO_SECONDS(1));
        assert_true(udp_net_now(l->net) - l->began < time + CO_SECONDS(60));
    }
    /* the last one may be lost, and only silence reveals it */
    for (int i = 0; i < 20 && l->send.conn.sender.acked < r->packets; i++)
        udp_net_run(l->net, 2 * r->latency + CO_SECONDS(1));
    udp_net_run(l->net, r->latency + CO_SECONDS(1));
}

static struct srt_secret secret;

/* Any possible network. */
static struct link_rules any_rules(uint64_t seed)
{
    uint64_t x = seed * UINT64_C(0x9e3779b97f4a7c15);
    struct link_rules r = { .seed = seed, .every = CO_MS(10) };

    x ^= x >> 29;
    r.packets = 3600;
    r.net.delay = CO_MS(1 + (co_usec)(x % 60));
    r.net.jitter = x >> 8 & 1 ? CO_MS((co_usec)(x >> 9 & 15)) : 0;
    r.net.drop = x >> 16 & 3 ? (unsigned)(x >> 18 & 127) : 0;
    r.net.repeat = (unsigned)(x >> 25 & 31);
    r.net.hold = (unsigned)(x >> 30 & 31);
    r.net.held = CO_MS(1 + (co_usec)(x >> 35 & 15));
    r.damage = (unsigned)(x >> 40 & 15);
    r.drift = (int)(x >> 44 & 3) * 200 - 200;
    r.drift = r.drift > 200 ? 0 : r.drift;
    r.latency = CO_MS(120) + (co_usec)(x >> 48 & 7) * CO_MS(100);
    r.secret = x >> 52 & 1 ? &secret : NULL;
    r.renew_after = 500 + (x >> 53 & 255);
    r.renew_before = 100;
    r.no_tsbpd = (x >> 61 & 7) == 0;
    return r;
}

static unsigned seeds(void)
{
    const char *text = getenv("SRT_SEEDS");

    return text ? (unsigned)strtoul(text, NULL, 10) : getenv("E2E_LONG") ? 1000 : 200;
}

static void test_any_network(void **state)
{
    unsigned n = seeds();
    uint64_t lost = 0, dropped = 0, repeated = 0, sent = 0;
    co_usec worst = 0;

    (void)state;
    assert_true(srt_secret_new(&secret, 16, "correct horse"));
    for (unsigned seed = 1; seed <= n; seed++) {
        struct link_rules r = any_rules(seed);
        struct srt_receiver_stat stat;
        struct watch w;
        struct link l;

        watch_begin(&l, &w, &r);
        run(&l, &r);
        check_fates(&l, &w);
        check_rest(&l);
        srt_receiver_stat(l.recv.conn.receiver, &stat);
        assert_int_equal(stat.dropped, r.packets - w.played);
        lost += stat.lost;
        dropped += stat.dropped;
        repeated += l.send.conn.sender.stat.retransmitted;
        sent += r.packets;
        worst = w.worst > worst && !r.no_tsbpd ? w.worst : worst;
        watch_end(&l, &w);
    }
    print_message("%u seeds: %llu packets, %llu lost, %llu repeated, %llu too late, %lld us\n", n,
                  (unsigned long long)sent, (unsigned long long)lost,
                  (unsigned long long)repeated, (unsigned long long)dropped, (long long)worst);
}

/* ---- networks with guaranteed results */

/* Losses, duplicates, and reordering; latency is ten round trips, or more. */
static void test_promises(void **state)
{
    static const struct {
        const char *name;
        unsigned drop, repeat, hold;
        co_usec latency;
        unsigned late; /* per 10,000 packets */
    } rows[] = {
        { "good", 0, 0, 0, CO_MS(120), 0 },
        { "usual", 50, 10, 20, CO_MS(400), 0 },
        { "bad", 200, 0, 0, CO_MS(1000), 10 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (uint64_t seed = 1; seed < 4; seed++) {
            struct link_rules r = {
                .seed = seed, .packets = 5000, .every = CO_MS(10), .latency = rows[i].latency,
                .net = { .drop = rows[i].drop, .repeat = rows[i].repeat, .hold = rows[i].hold,
                         .held = CO_MS(15), .delay = CO_MS(20) },
            };
            struct srt_receiver_stat stat;
            struct watch w;
            struct link l;

            watch_begin(&l, &w, &r);
            run(&l, &r);
            check_rest(&l);
            srt_receiver_stat(l.recv.conn.receiver, &stat);
            assert_in_range(stat.dropped, 0, r.packets * rows[i].late / 10000);
            assert_in_range(2 * l.send.conn.sender.stat.retransmitted, 0, 3 * stat.lost);
            watch_end(&l, &w);
        }
    }
}

/* Nothing at all for 3 s: the connection stays, and continues at the sender's position. */
static void test_cut(void **state)
{
    struct link_rules r = { .seed = 1, .packets = 1500, .every = CO_MS(10), .latency = CO_MS(400),
                            .net = { .delay = CO_MS(20) } };
    struct udp_net_rules nothing = { .drop = 1000, .delay = CO_MS(20) };
    co_usec last = 0, gap = 0, gap_end = 0;
    struct watch w;
    struct link l;

    (void)state;
    watch_begin(&l, &w, &r);
    l.on_data = NULL; /* a skip changes the meaning of a sequence number */
    w.tolerance = CO_SECONDS(1);
    udp_net_run(l.net, CO_SECONDS(5));
    udp_net_rule(l.net, &nothing);
    udp_net_run(l.net, CO_SECONDS(3));
    udp_net_rule(l.net, &r.net);
    while (l.fed < r.packets)
        udp_net_run(l.net, CO_SECONDS(1));
    udp_net_run(l.net, CO_SECONDS(1));
    assert_int_equal(l.recv.conn.end, SRT_OPEN);
    assert_int_equal(l.send.conn.sender.stat.skips, 1);
    assert_int_equal(l.send.conn.sender.stat.in_flight, 0);
    for (unsigned i = 0; i < r.packets; i++) {
        if (!w.of[i].played)
            continue;
        if (last && w.of[i].played - last > gap) {
            gap = w.of[i].played - last;
            gap_end = w.of[i].played;
        }
        last = w.of[i].played;
    }
    assert_true(gap_end - l.began < CO_SECONDS(5 + 3 + 1));
    assert_true(gap < CO_SECONDS(4));
    watch_end(&l, &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_any_network),
        TEST(test_promises),
        TEST(test_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
