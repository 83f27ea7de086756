/* SPDX-License-Identifier: MIT */
/* test_srt_recv.c - an SRT receiver, packet by packet with times. */
#include "proto/srt/crypt.h"
#include "proto/srt/recv_window.h"
#include "proto/srt/recv.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PEER = 77, LATENCY = 120 };
#define BEGIN CO_SECONDS(1000) /* our clock, when the peer's was 0 */

/* ---- the receiver under test */

struct told {
    struct srt_receiver *r;
    uint32_t first;
    co_usec now; /* since BEGIN */
};

static const struct srt_receiver_opts usual = {
    .first_seq = 0x7ffffff0, .peer_id = PEER, .window = 8192, .base = BEGIN, .zero = BEGIN,
    .latency = CO_MS(LATENCY), .tsbpd = true, .drop_late = true,
};

static struct told begin(const struct srt_receiver_opts *o)
{
    struct told t = { .r = srt_receiver_new(o), .first = o->first_seq };

    assert_non_null(t.r);
    return t;
}

static bool put_as(struct told *t, int64_t n, co_usec time, enum srt_key key)
{
    uint32_t body = (uint32_t)n;
    struct srt_packet p = { .seq = srt_seq_add(t->first, n), .message = 1, .position = 3, .key = key,
                            .time = (uint32_t)time, .body = (uint8_t *)&body, .size = 4 };

    return srt_receiver_put(t->r, &p, BEGIN + t->now);
}

/* Packet n arrived, which was sent this long ago. */
static bool put(struct told *t, int64_t n, co_usec ago)
{
    return put_as(t, n, t->now - ago, SRT_CLEAR);
}

static struct srt_receiver_stat stat_of(const struct told *t)
{
    struct srt_receiver_stat s;

    srt_receiver_stat(t->r, &s);
    return s;
}

/* Its output now, as text: "3 4 |7" where | is a gap. */
static const char *next_text(struct told *t)
{
    static char text[4096];
    size_t n = 0;
    struct srt_message m;
    uint32_t body;

    text[0] = 0;
    while (srt_receiver_next(t->r, &m, BEGIN + t->now) && n < sizeof(text) - 16) {
        assert_int_equal(m.size, 4);
        assert_true(m.due <= BEGIN + t->now);
        memcpy(&body, m.data, 4);
        n += (size_t)snprintf(text + n, 16, "%s%s%d", n ? " " : "", m.hole ? "|" : "", (int)body);
    }
    return text;
}

static int32_t number_of(const struct told *t, uint32_t seq)
{
    return srt_seq_distance(t->first, seq);
}

static size_t nak_text(const struct told *t, const struct srt_packet *p, char *out, size_t room)
{
    struct srt_nak_reader r;
    struct srt_range g;
    size_t n = (size_t)snprintf(out, room, "nak");

    srt_nak_begin(&r, p->body, p->size);
    while (srt_nak_next(&r, &g) && n < room - 32) {
        n += (size_t)snprintf(out + n, room - n, " %d", number_of(t, g.first));
        if (g.last != g.first)
            n += (size_t)snprintf(out + n, room - n, "-%d", number_of(t, g.last));
    }
    return n;
}

/* Its control packets now: "ack 1:20, nak 3 5-7". */
static const char *says(struct told *t)
{
    static char text[8192];
    uint8_t out[SRT_PACKET_MAX];
    size_t n = 0, size;
    struct srt_packet p;
    struct srt_ack a;

    text[0] = 0;
    while ((size = srt_receiver_output(t->r, out, BEGIN + t->now)) > 0) {
        assert_true(srt_packet_read(&p, out, size));
        assert_true(p.control && p.to == PEER && p.time == (uint32_t)t->now);
        if (n)
            n += (size_t)snprintf(text + n, sizeof(text) - n, ", ");
        if (p.type == SRT_ACK) {
            assert_true(srt_ack_read(&a, p.body, p.size));
            assert_int_equal(a.words, p.info ? 7 : 1);
            n += (size_t)snprintf(text + n, sizeof(text) - n, "ack %u:%d", p.info,
                                  number_of(t, a.next));
        } else {
            assert_int_equal(p.type, SRT_NAK);
            n += nak_text(t, &p, text + n, sizeof(text) - n);
        }
        assert_true(n < 4096);
    }
    return text;
}

static void answer(struct told *t, uint32_t number)
{
    srt_receiver_ackack(t->r, number, (uint32_t)t->now, BEGIN + t->now);
}

/* Time of its next timer, in ms from BEGIN on; -1: never. */
static int deadline(const struct told *t)
{
    co_usec at = srt_receiver_deadline(t->r);

    return at == CO_FOREVER ? -1 : at <= BEGIN + t->now ? (int)(t->now / 1000)
                                                        : (int)((at - BEGIN + 999) / 1000);
}

/* ---- ACK */

static void test_ack(void **state)
{
    struct told t = begin(&usual);

    (void)state;
    assert_int_equal(deadline(&t), -1);
    assert_string_equal(says(&t), "");
    put(&t, 0, 0);
    assert_int_equal(deadline(&t), 0);
    assert_string_equal(says(&t), "ack 1:1");
    assert_string_equal(says(&t), "");
    t.now = CO_MS(5);
    put(&t, 1, 0);
    assert_string_equal(says(&t), "");
    assert_int_equal(deadline(&t), 10);
    t.now = CO_MS(10);
    assert_string_equal(says(&t), "ack 2:2");
    /* no answer: the same again, after a possible round trip */
    assert_int_equal(deadline(&t), 120); /* a packet is due before */
    assert_string_equal(next_text(&t), "");
    t.now = CO_MS(200);
    assert_string_equal(next_text(&t), "0 1");
    assert_int_equal(deadline(&t), 310);
    assert_string_equal(says(&t), "");
    t.now = CO_MS(310);
    assert_string_equal(says(&t), "ack 2:2");
    answer(&t, 3);
    answer(&t, 0);
    assert_int_equal(deadline(&t), 610);
    answer(&t, 2); /* reveals no round trip */
    assert_int_equal(deadline(&t), -1);
    assert_int_equal(stat_of(&t).rtt, CO_MS(100));
    srt_receiver_free(t.r);
}

static void test_ack_later(void **state)
{
    struct told t = begin(&usual);
    int acks = 0, lights = 0;

    (void)state;
    for (int n = 0; n < 3000; n++) { /* 3 s, a packet each ms */
        const char *text;

        t.now = CO_MS(n);
        put(&t, n, 0);
        (void)next_text(&t);
        text = says(&t);
        lights += strncmp(text, "ack 0", 5) == 0;
        acks += text[0] && strncmp(text, "ack 0", 5) != 0;
    }
    assert_in_range(acks, 138, 143); /* 100 in the first second, then 20 */
    assert_int_equal(lights, 0);
    assert_in_range(stat_of(&t).rate, 990, 1010);
    assert_in_range(stat_of(&t).payload_rate, 4 * 990, 4 * 1010);
    for (int n = 3000; n < 3640; n++) /* 640 at once */
        put(&t, n, 0);
    assert_string_equal(says(&t), "ack 0:3640");
    srt_receiver_free(t.r);
}

static void test_round_trip(void **state)
{
    struct told t = begin(&usual);

    (void)state;
    put(&t, 0, 0);
    assert_string_equal(says(&t), "ack 1:1");
    t.now = CO_MS(40);
    put(&t, 1, 0);
    answer(&t, 1);
    answer(&t, 1);
    assert_int_equal(stat_of(&t).rtt, CO_MS(40));
    assert_int_equal(stat_of(&t).variance, CO_MS(20));
    assert_string_equal(says(&t), "ack 2:2");
    t.now = CO_MS(88);
    answer(&t, 2);
    assert_int_equal(stat_of(&t).rtt, CO_MS(41));
    assert_int_equal(stat_of(&t).variance, CO_MS(17));
    srt_receiver_free(t.r);
}

/* ---- NAK */

static void test_nak(void **state)
{
    struct told t = begin(&usual);

    (void)state;
    put(&t, 2, 0); /* the first two did not arrive */
    assert_string_equal(says(&t), "nak 0-1");
    assert_int_equal(deadline(&t), 120); /* it waits no longer than that */
    put(&t, 3, 0);
    put(&t, 5, 0);
    put(&t, 9, 0);
    put(&t, 7, 0);
    assert_int_equal(deadline(&t), 0);
    assert_string_equal(says(&t), "nak 4 6 8"); /* at once, without those that arrived meanwhile */
    assert_string_equal(says(&t), "");
    put(&t, 1, 0);
    assert_int_equal(stat_of(&t).lost, 6);
    t.now = CO_MS(119);
    assert_string_equal(says(&t), "");
    t.now = CO_MS(120);
    assert_string_equal(next_text(&t), "|1 2 3 |5 |7 |9");
    assert_string_equal(says(&t), "ack 1:10");
    assert_int_equal(stat_of(&t).dropped, 4);
    put(&t, 6, 0);
    put(&t, 7, 0);
    assert_int_equal(stat_of(&t).belated, 1);
    assert_int_equal(stat_of(&t).doubled, 1);
    srt_receiver_free(t.r);
}

static void test_nak_again(void **state)
{
    struct srt_receiver_opts o = usual;
    struct told t;

    (void)state;
    o.latency = CO_SECONDS(1);
    t = begin(&o);
    put(&t, 0, 0);
    assert_string_equal(says(&t), "ack 1:1");
    t.now = CO_MS(40);
    answer(&t, 1); /* 40 ms, 20 ms: all again in 60 */
    put(&t, 4, 0);
    assert_string_equal(says(&t), "nak 1-3");
    assert_int_equal(deadline(&t), 100);
    t.now = CO_MS(100);
    put(&t, 2, 0);
    assert_string_equal(says(&t), "nak 1 3");
    put(&t, 1, 0);
    put(&t, 3, 0);
    assert_string_equal(says(&t), "ack 2:5");
    answer(&t, 2);
    t.now = CO_MS(160);
    assert_string_equal(says(&t), "");
    assert_int_equal(deadline(&t), 1000);
    srt_receiver_free(t.r);
}

/* 4,096 gaps are reported in parts, one packet at a time. */
static void test_nak_many(void **state)
{
    struct srt_receiver_opts o = usual;
    const char *at;
    struct told t;
    int entries = 0;

    (void)state;
    o.latency = CO_SECONDS(10);
    t = begin(&o);
    for (int n = 1; n < 8192; n += 2)
        assert_true(put(&t, n, 0));
    assert_int_equal(stat_of(&t).held, 4096);
    assert_int_equal(stat_of(&t).lost, 4096);
    for (at = says(&t); (at = strchr(at, ' ')); at++)
        entries++;
    assert_int_equal(entries, 300);
    t.now = CO_SECONDS(11);
    while (*next_text(&t))
        continue;
    assert_int_equal(stat_of(&t).held, 0);
    assert_int_equal(stat_of(&t).dropped, 4096);
    srt_receiver_free(t.r);
}

/* The rest is delivered gradually. */
static void test_drain(void **state)
{
    struct told t = begin(&usual);
    unsigned turns = 0, held = 4096;

    (void)state;
    assert_false(srt_receiver_drain(t.r));
    for (int n = 1; n < 8192; n += 2)
        assert_true(put(&t, n, 0));
    for (; srt_receiver_drain(t.r); turns++) {
        assert_in_range(held - stat_of(&t).held, 1, 64);
        held = stat_of(&t).held;
    }
    assert_in_range(turns, 64, 256);
    assert_int_equal(held, 0);
    assert_int_equal(stat_of(&t).held_time, 0);
    srt_receiver_free(t.r);
}

/* ---- delivery */

static void test_play_time(void **state)
{
    struct told t = begin(&usual);
    struct srt_message m;

    (void)state;
    t.now = CO_MS(30);
    put(&t, 0, CO_MS(30));
    put(&t, 1, CO_MS(20));
    assert_int_equal(stat_of(&t).held, 2);
    assert_int_equal(stat_of(&t).held_time, CO_MS(10));
    assert_false(srt_receiver_next(t.r, &m, BEGIN + CO_MS(LATENCY) - 1));
    assert_true(srt_receiver_next(t.r, &m, BEGIN + CO_MS(LATENCY)));
    assert_int_equal(m.due, BEGIN + CO_MS(LATENCY));
    assert_false(m.hole);
    assert_false(srt_receiver_next(t.r, &m, BEGIN + CO_MS(LATENCY)));
    assert_true(srt_receiver_next(t.r, &m, BEGIN + CO_MS(LATENCY + 10)));
    assert_int_equal(m.due, BEGIN + CO_MS(LATENCY + 10));
    srt_receiver_free(t.r);
}

/* In order of arrival; a gap waits for the latency. */
static void test_no_tsbpd(void **state)
{
    struct srt_receiver_opts o = usual;
    struct told t;

    (void)state;
    o.tsbpd = false;
    t = begin(&o);
    put(&t, 0, CO_SECONDS(60)); /* its time is meaningless */
    assert_int_equal(deadline(&t), 0);
    assert_string_equal(next_text(&t), "0");
    t.now = CO_MS(10);
    put(&t, 2, 0);
    put(&t, 3, 0);
    assert_string_equal(next_text(&t), "");
    t.now = CO_MS(129);
    assert_string_equal(next_text(&t), "");
    (void)says(&t);
    t.now = CO_MS(130);
    assert_string_equal(next_text(&t), "|2 3");
    srt_receiver_free(t.r);
}

static void test_no_drop(void **state)
{
    struct srt_receiver_opts o = usual;
    struct told t;

    (void)state;
    o.drop_late = false;
    o.window = 100;
    t = begin(&o);
    for (int n = 1; n < 100; n++)
        assert_true(put(&t, n, 0));
    t.now = CO_SECONDS(5);
    assert_string_equal(next_text(&t), "");
    assert_true(put(&t, 100, 0)); /* no room */
    t.now += CO_MS(999);
    assert_true(put(&t, 100, 0));
    t.now += CO_MS(1);
    assert_false(put(&t, 100, 0)); /* for too long */
    assert_int_equal(stat_of(&t).far, 3);
    put(&t, 0, CO_SECONDS(5));
    assert_memory_equal(next_text(&t), "0 1 2 ", 6);
    srt_receiver_free(t.r);
}

static void test_far(void **state)
{
    static const int64_t rows[] = { 8192, 1 << 20, 1 << 29, -70000, -(1 << 29) };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct told t = begin(&usual);

        assert_true(put(&t, rows[i], 0));
        t.now = CO_MS(500);
        assert_true(put(&t, 0, 0)); /* a good one between */
        t.now = CO_MS(1100);
        assert_true(put(&t, rows[i] + 1, 0));
        t.now = CO_MS(2100);
        assert_false(put(&t, rows[i] + 1, 0));
        assert_int_equal(stat_of(&t).far, 3);
        assert_int_equal(stat_of(&t).held, 1);
        srt_receiver_free(t.r);
    }
}

/* ---- drop requests */

static void drop(struct told *t, int64_t first, int64_t last)
{
    struct srt_range g = { srt_seq_add(t->first, first), srt_seq_add(t->first, last) };

    srt_receiver_drop(t->r, &g, BEGIN + t->now);
}

static void test_drop(void **state)
{
    static const struct {
        const char *name;
        int first, last, dropped;
        const char *next, *says;
    } rows[] = { /* 0, 1, 5, 6, 10 are here */
        { "a gap", 2, 4, 3, "0 1 |5 6 |10", "ack 1:7, nak 7-9" },
        { "part of it", 2, 3, 2, "0 1 |5 6 |10", "ack 1:4, nak 4 7-9" },
        { "what is here stays", 0, 8, 5, "0 1 |5 6 |10", "ack 1:9, nak 9" },
        { "what was not sent yet", 12, 20, 9, "0 1 |5 6 |10", "ack 1:2, nak 2-4 7-9 11" },
        { "all", 0, 8191, 8187, "0 1 |5 6 |10", "ack 1:8192" },
        { "more than all", 0, 8192, 0, "0 1 |5 6 |10", "ack 1:2, nak 2-4 7-9" },
        { "2^30", 5, 1 << 30, 0, "0 1 |5 6 |10", "ack 1:2, nak 2-4 7-9" },
        { "turned around", 4, 2, 0, "0 1 |5 6 |10", "ack 1:2, nak 2-4 7-9" },
        { "long ago", -9, -2, 0, "0 1 |5 6 |10", "ack 1:2, nak 2-4 7-9" },
        { "from long ago on", -9, 3, 2, "0 1 |5 6 |10", "ack 1:4, nak 4 7-9" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static const int here[] = { 0, 1, 5, 6, 10 };
        struct told t = begin(&usual);

        for (size_t j = 0; j < COUNT(here); j++)
            put(&t, here[j], 0);
        drop(&t, rows[i].first, rows[i].last);
        if (stat_of(&t).dropped != (uint64_t)rows[i].dropped)
            print_error("%s\n", rows[i].name);
        assert_int_equal(stat_of(&t).dropped, rows[i].dropped);
        assert_string_equal(says(&t), rows[i].says);
        t.now = CO_MS(LATENCY);
        assert_string_equal(next_text(&t), rows[i].next);
        assert_int_equal(stat_of(&t).held, 0);
        srt_receiver_free(t.r);
    }
}

/* Range after range without packets after it: the window advances. */
static void test_drop_on(void **state)
{
    struct told t = begin(&usual);

    (void)state;
    for (int n = 0; n < 1000; n++) {
        drop(&t, n * 8192, n * 8192 + 8191);
        assert_string_equal(next_text(&t), "");
    }
    assert_int_equal(stat_of(&t).dropped, 1000 * 8192);
    put(&t, 1000 * 8192, 0);
    put(&t, 8191999, 0);
    assert_int_equal(stat_of(&t).belated, 1);
    t.now = CO_MS(LATENCY);
    assert_string_equal(next_text(&t), "|8192000");
    srt_receiver_free(t.r);
}

/* ---- keys */

static void test_dark(void **state)
{
    struct srt_receiver_opts o = usual;
    const struct srt_secret even = { .which = SRT_EVEN, .key_size = 16, .salt = { 1 }, .key = { { 2 } } };
    struct srt_cipher *cipher = srt_cipher_new(&even);
    struct srt_message m;
    struct told t;
    uint32_t body;

    (void)state;
    o.cipher = cipher;
    t = begin(&o);
    put_as(&t, 0, 0, SRT_EVEN);
    put_as(&t, 1, 0, SRT_ODD);
    put_as(&t, 2, 0, SRT_CLEAR);
    put_as(&t, 3, 0, 3);
    put_as(&t, 4, 0, SRT_EVEN);
    put_as(&t, 2, 0, SRT_EVEN); /* its key arrived */
    assert_int_equal(stat_of(&t).undecrypted, 3);
    t.now = CO_MS(LATENCY);
    for (int n = 0; n <= 4; n += 2) {
        assert_true(srt_receiver_next(t.r, &m, BEGIN + t.now));
        srt_cipher_run(cipher, SRT_EVEN, srt_seq_add(t.first, n), m.data, (uint8_t *)&body, 4);
        assert_int_equal(body, n);
        assert_int_equal(m.hole, n > 0);
    }
    assert_int_equal(stat_of(&t).dropped, 2);
    srt_receiver_free(t.r);
    srt_cipher_free(cipher);
}

/* None can be decrypted: it continues without them, at their time. */
static void test_all_dark(void **state)
{
    struct told t = begin(&usual);

    (void)state;
    for (int n = 0; n < 20000; n++) {
        t.now = CO_MS(n);
        assert_true(put_as(&t, n, t.now, SRT_ODD));
        if (deadline(&t) == n)
            assert_string_equal(next_text(&t), "");
        (void)says(&t);
    }
    assert_in_range(stat_of(&t).dropped, 20000 - 2 * LATENCY - 1, 20000 - LATENCY);
    assert_int_equal(stat_of(&t).far, 0);
    srt_receiver_free(t.r);
}

/* ---- clocks */

/* Starts 30 s before timestamps wrap; a clock that is too fast or too slow is followed. */
static void test_drift(void **state)
{
    static const int rows[] = { 0, 200, -200 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct srt_receiver_opts o = usual;
        co_usec zero = (co_usec)UINT32_MAX - CO_SECONDS(30), way = CO_MS(20), played = 0;
        struct srt_message m;
        struct told t;

        o.base = BEGIN + way - zero;
        t = begin(&o);
        for (int n = 0; n < 12000; n++) { /* 2 minutes, a packet each 10 ms */
            co_usec sent = CO_MS(10) * n, theirs = sent + sent * rows[i] / 1000000;
            uint8_t out[SRT_PACKET_MAX];

            t.now = sent + way;
            assert_true(put_as(&t, n, zero + theirs, SRT_CLEAR));
            if (n % 10 == 0 && srt_receiver_output(t.r, out, BEGIN + t.now) > 0) {
                struct srt_packet p;

                assert_true(srt_packet_read(&p, out, SRT_HEADER));
                srt_receiver_ackack(t.r, p.info, (uint32_t)(zero + theirs + 2 * way),
                                    BEGIN + t.now + 2 * way);
            }
            while (srt_receiver_next(t.r, &m, BEGIN + t.now)) {
                uint32_t body;
                co_usec ideal;

                memcpy(&body, m.data, 4);
                ideal = BEGIN + CO_MS(10) * body + way + CO_MS(LATENCY);
                assert_int_equal(body, played++);
                assert_true(llabs(m.due - ideal) < CO_MS(5));
            }
        }
        assert_in_range(played, 12000 - 20, 12000);
        srt_receiver_free(t.r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ack),
        TEST(test_ack_later),
        TEST(test_round_trip),
        TEST(test_nak),
        TEST(test_nak_again),
        TEST(test_nak_many), TEST(test_drain),
        TEST(test_play_time),
        TEST(test_no_tsbpd),
        TEST(test_no_drop),
        TEST(test_far),
        TEST(test_drop),
        TEST(test_drop_on),
        TEST(test_dark),
        TEST(test_all_dark),
        TEST(test_drift),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
