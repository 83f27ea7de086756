/* SPDX-License-Identifier: MIT */
/* test_rtp_nack.c - which packets are requested again and when, and reports to senders about the arrival of
 * their packets. */
#include "proto/rtp/header.h"
#include "proto/rtp/nack.h"
#include "proto/rtp/twcc.h"
#include "rtcp_reader.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- NACK */

static const struct {
    const char *name;
    int rtt;          /* ms */
    const char *in;   /* numbers that arrive, "+20" ms that pass */
    const char *want; /* requests: each time that there is one */
    unsigned found, given_up;
} rows[] = {
    { "in order", 10, "1 2 3 +500 4", "", 0, 0 },
    { "one is missing", 10, "1 3 +9 +1", "[2]", 0, 0 },
    { "it was only late", 10, "1 3 +9 2 +50", "", 0, 0 },
    { "it comes when it was asked for", 10, "1 3 +10 2 +100", "[2]", 1, 0 },
    { "again after 20 ms at least", 5, "1 3 +10 +19 +1", "[2][2]", 0, 0 },
    { "again after a round trip", 80, "1 3 +10 +79 +1", "[2][2]", 0, 0 },
    { "several", 10, "1 5 +5 9 +5 +5", "[2 3 4][6 7 8]", 0, 0 },
    { "over the wrap", 10, "65534 65537 +10", "[65535 0]", 0, 0 },
    { "250 are asked for", 10, "1 252 +5 251", "", 0, 0 },
    { "251 are not", 10, "1 253 +50", "!", 0, 251 },
    { "what was missing before that neither", 10, "1 3 255 +50", "!", 0, 252 },
    { "twice", 10, "1 3 3 1 +10", "[2]", 0, 0 },
    { "after a second no more", 400, "1 3 +10 +400 +400 +189 +1 +400", "[2][2][2]", 0, 1 },
};

static void run(const char *in, struct rtp_nack *n, co_usec rtt, char *out)
{
    co_usec now = CO_SECONDS(5);
    char *end;

    for (; *in; in = *end ? end + 1 : end) {
        uint16_t seqs[300];
        unsigned count;
        long v;

        if (*in == '+') {
            v = strtol(in + 1, &end, 10);
            now += CO_MS(v);
            count = rtp_nack_request(n, now, rtt, seqs, COUNT(seqs));
            assert_true(rtp_nack_due(n, rtt) == CO_FOREVER || rtp_nack_due(n, rtt) > now);
            for (unsigned i = 0; i < count; i++)
                out += sprintf(out, "%s%u%s", i ? " " : "[", seqs[i], i + 1 == count ? "]" : "");
            continue;
        }
        v = strtol(in, &end, 10);
        if (!rtp_nack_put(n, v, now))
            out += sprintf(out, "!");
    }
}

static void test_nack(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtp_nack n = { 0 };
        char got[4096] = "";

        print_message("  %s\n", rows[i].name);
        run(rows[i].in, &n, CO_MS(rows[i].rtt), got);
        assert_string_equal(got, rows[i].want);
        assert_int_equal(n.recovered, rows[i].found);
        assert_int_equal(n.given_up, rows[i].given_up);
        rtp_nack_fini(&n);
    }
}

static void test_nack_tries(void **state)
{
    struct rtp_nack n = { 0 };
    unsigned asked = 0;
    uint16_t seq;
    co_usec now = 0;

    (void)state;
    (void)rtp_nack_put(&n, 1, now);
    (void)rtp_nack_put(&n, 3, now);
    for (; rtp_nack_due(&n, 0) != CO_FOREVER; now = rtp_nack_due(&n, 0))
        asked += rtp_nack_request(&n, now, 0, &seq, 1);
    assert_int_equal(asked, RTP_NACK_TRIES);
    assert_int_equal(n.given_up, 1);
    assert_int_equal(n.requested, RTP_NACK_TRIES);
    rtp_nack_fini(&n);
}

/* Limited, regardless of what is missing and of the room. */
static void test_nack_many(void **state)
{
    struct rtp_nack n = { 0 };
    uint16_t seqs[100];

    (void)state;
    for (int64_t seq = 0; seq < 100000; seq += 200)
        assert_true(rtp_nack_put(&n, seq, 1));
    assert_true(n.n <= RTP_NACK_HOLES);
    assert_int_equal(rtp_nack_request(&n, CO_MS(10) + 1, 0, seqs, 100), 100);
    assert_int_equal(rtp_nack_request(&n, CO_MS(10) + 1, 0, seqs, 100), 100);
    rtp_nack_restart(&n);
    assert_int_equal(rtp_nack_due(&n, 0), CO_FOREVER);
    assert_true(rtp_nack_put(&n, 3, 1)); /* numbers restart */
    assert_int_equal(n.n, 0);
    rtp_nack_fini(&n);
}

/* ---- TWCC: written here, read back by the reader, which is independent of it */

enum { PACKETS = 70000 };

struct told {
    uint8_t came[PACKETS];
    int64_t at[PACKETS];
};

static int read_back(const struct wr *w, uint16_t first, struct told *told)
{
    struct rtcp_reader r;
    struct rtcp_packet p;
    struct rtcp_feedback f;
    struct rtcp_twcc t;
    uint16_t seq;
    int64_t at;
    bool came;
    int n = 0;

    rtcp_begin(&r, w->buf, w->len);
    assert_true(rtcp_next(&r, &p) && rtcp_feedback(&p, &f) && f.kind == RTCP_TWCC);
    assert_false(r.r.bad);
    assert_true(p.ssrc == 7 && f.media == 8);
    assert_true(rtcp_twcc_begin(&t, &f));
    while (rtcp_twcc_next(&t, &seq, &came, &at)) {
        uint16_t place = (uint16_t)(seq - first);

        n++;
        if (came) {
            told->came[place]++;
            told->at[place] = at;
        }
    }
    assert_int_equal(n, t.count); /* no time was truncated */
    return n;
}

static int tell(struct rtp_twcc *t, uint16_t first, struct told *told, co_usec now)
{
    struct wr w;
    int n = 0;

    wr_init(&w, RTP_TWCC_SIZE);
    while (rtp_twcc_write(t, &w, 7, 8, now)) {
        assert_int_equal(w.bad, 0);
        assert_int_equal(w.len % 4, 0);
        n += read_back(&w, first, told);
        w.len = 0;
    }
    wr_free(&w);
    return n;
}

static const struct {
    const char *name;
    uint16_t first;
    int packets;
    int each;  /* us between them */
    int lost, swapped, burst; /* per 100; and this many arrive at once */
} ways[] = {
    { "evenly", 100, 500, 10000, 0, 0, 1 },
    { "in bursts", 100, 500, 30000, 0, 0, 9 },
    { "over the wrap", 65400, 500, 10000, 0, 0, 1 },
    { "slowly", 1, 60, 900000, 0, 0, 1 },
    { "very slowly", 1, 6, 9000000, 0, 0, 1 },
    { "some lost", 1, 2000, 5000, 5, 0, 1 },
    { "many lost", 65000, 2000, 5000, 60, 0, 2 },
    { "in disorder", 1, 2000, 5000, 0, 20, 1 },
    { "all of it", 64000, 5000, 700, 10, 10, 12 },
};

static void run_way(size_t i, struct told *told)
{
    struct rtp_twcc t = { 0 };
    co_usec start = CO_SECONDS(1000), now = start, origin = 0;
    co_usec *at = calloc((size_t)ways[i].packets + 8, sizeof(*at));

    srandom(4);
    for (int k = 0; k < ways[i].packets; k++) {
        int place = k, swap = (int)(random() % 100);

        if (swap < ways[i].swapped) { /* it arrives after the three that follow it */
            at[k] = -1;
            continue;
        }
        if (k % ways[i].burst == 0)
            now += ways[i].each;
        for (int late = 3; late >= 0; late -= 3) {
            place = k - late;
            if (place < 0 || at[place] > 0 || (late && at[place] != -1))
                continue;
            at[place] = -2;
            if (random() % 100 < ways[i].lost)
                continue;
            at[place] = now;
            origin = origin ? origin : now;
            if (rtp_twcc_put(&t, (uint16_t)(ways[i].first + place), now))
                tell(&t, ways[i].first, told, now);
        }
        if (rtp_twcc_due(&t) != CO_FOREVER && rtp_twcc_due(&t) <= now)
            tell(&t, ways[i].first, told, now);
    }
    tell(&t, ways[i].first, told, now);
    for (int k = 0; k < ways[i].packets; k++) {
        int64_t apart = told->at[k] - (at[k] - origin + CO_MS(1));

        assert_int_equal(told->came[k] > 0, at[k] > 0);
        assert_true(at[k] <= 0 || (apart >= -RTCP_TWCC_TICK && apart <= RTCP_TWCC_TICK));
    }
    free(at);
    rtp_twcc_fini(&t);
}

static void test_twcc(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++) {
        struct told *told = calloc(1, sizeof(*told));

        print_message("  %s\n", ways[i].name);
        run_way(i, told);
        free(told);
    }
}

static void test_twcc_when(void **state)
{
    struct rtp_twcc t = { 0 };
    struct told *told = calloc(1, sizeof(*told));
    co_usec now = CO_SECONDS(9);

    (void)state;
    assert_int_equal(rtp_twcc_due(&t), CO_FOREVER);
    for (int i = 0; i < RTP_TWCC_EACH; i++)
        assert_int_equal(rtp_twcc_put(&t, (uint16_t)i, now), i + 1 == RTP_TWCC_EACH);
    assert_int_equal(rtp_twcc_due(&t), now + RTP_TWCC_PERIOD);
    assert_int_equal(tell(&t, 0, told, now), RTP_TWCC_EACH);
    assert_int_equal(rtp_twcc_due(&t), CO_FOREVER);
    assert_false(rtp_twcc_put(&t, 3, now)); /* once more: nothing new */
    assert_int_equal(rtp_twcc_due(&t), CO_FOREVER);
    (void)rtp_twcc_put(&t, RTP_TWCC_EACH, now + CO_MS(1));
    assert_int_equal(rtp_twcc_due(&t), now + RTP_TWCC_PERIOD);
    free(told);
    rtp_twcc_fini(&t);
}

/* A packet that arrives after it was reported missing is reported as received. */
static void test_twcc_late(void **state)
{
    struct rtp_twcc t = { 0 };
    struct told *told = calloc(1, sizeof(*told));
    co_usec now = CO_SECONDS(9);

    (void)state;
    (void)rtp_twcc_put(&t, 1, now);
    (void)rtp_twcc_put(&t, 3, now);
    assert_int_equal(tell(&t, 0, told, now), 3);
    assert_true(told->came[1] && !told->came[2] && told->came[3]);
    (void)rtp_twcc_put(&t, 2, now + 1000);
    (void)rtp_twcc_put(&t, 4, now + 2000);
    assert_int_equal(tell(&t, 0, told, now), 3);
    assert_true(told->came[2] && told->came[4]);
    free(told);
    rtp_twcc_fini(&t);
}

static void test_twcc_jumps(void **state)
{
    static const uint16_t jumps[] = { 1, 1024, 1026, 3000, 40000, 30, 900, 20000, 19000 };
    struct rtp_twcc t = { 0 };
    struct told *told = calloc(1, sizeof(*told));
    co_usec now = CO_SECONDS(9);

    (void)state;
    for (size_t i = 0; i < COUNT(jumps); i++) {
        (void)rtp_twcc_put(&t, jumps[i], now += CO_MS(3));
        assert_in_range(tell(&t, 0, told, now), 0, RTP_TWCC_KEPT + 1);
        assert_true(told->came[jumps[i]] > 0);
    }
    free(told);
    rtp_twcc_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nack), TEST(test_nack_tries), TEST(test_nack_many), TEST(test_twcc),
        TEST(test_twcc_when), TEST(test_twcc_late), TEST(test_twcc_jumps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
