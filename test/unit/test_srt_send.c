/* SPDX-License-Identifier: MIT */
/* test_srt_send.c - what a sender sends, when, and what it drops. */
#include "unit.h"

#include "proto/srt/send.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 0x7ffffff0u /* sequences wrap soon */
#define ZERO CO_SECONDS(50)

/* The cipher is another file's: here it shows by which key and for which sequence it ran. */
struct srt_cipher {
    bool has[3];
};

bool srt_cipher_has(const struct srt_cipher *c, enum srt_key key)
{
    return c->has[key];
}

void srt_cipher_run(struct srt_cipher *c, enum srt_key key, uint32_t seq, const uint8_t *in,
                    uint8_t *out, size_t size)
{
    size_t i;

    (void)c;
    for (i = 0; i < size; i++)
        out[i] = in[i] ^ (uint8_t)(key + seq);
}

/* ---- a log, a sender, and what it sends */

static struct srt_log the_log;
static struct srt_sender s;
static struct srt_burst burst;
static uint8_t bytes[4 << 20];
static size_t n_bytes;
static struct srt_packet got[2000];
static unsigned n_got, n_bursts;

static void put_size(size_t size, bool key, co_usec due)
{
    uint8_t data[SRT_PAYLOAD_MAX];

    memset(data, (int)(the_log.head & 0xff), sizeof(data));
    assert_true(srt_log_put(&the_log, data, size, key, due));
}

static void put(unsigned n, co_usec due)
{
    while (n--)
        put_size(1316, false, due);
}

static void begin(uint64_t from, unsigned window)
{
    const struct srt_sender_opts opts = {
        .log = &the_log, .from = from, .peer_id = 77, .first_seq = FIRST, .zero = ZERO,
        .latency = CO_MS(120), .maxbw = 1000000000, .window = window,
    };

    srt_sender_init(&s, &opts);
}

/* What the kernel would make of a burst. */
static void cut(void)
{
    size_t size = 0, at;
    uint8_t *all = bytes + n_bytes;
    unsigned n = 0;
    int i;

    for (i = 0; i < burst.pieces; i++) {
        memcpy(all + size, burst.iov[i].iov_base, burst.iov[i].iov_len);
        size += burst.iov[i].iov_len;
    }
    assert_int_equal(size, burst.bytes);
    n_bytes += size;
    assert_true(n_bytes + SRT_BURST * SRT_PACKET_MAX <= sizeof(bytes));
    for (at = 0; at < size; at += burst.segment, n++) {
        size_t one = size - at < burst.segment ? size - at : burst.segment;

        assert_true(srt_packet_read(&got[n_got], all + at, one));
        assert_int_equal(got[n_got].to, 77);
        assert_true(n_got + 1 < COUNT(got));
        n_got++;
    }
    assert_int_equal(n, burst.packets);
    n_bursts++;
}

static unsigned flush(co_usec now)
{
    n_got = n_bursts = 0;
    n_bytes = 0;
    while (srt_sender_output(&s, &burst, now))
        cut();
    return n_got;
}

static uint32_t seq(int64_t packet)
{
    return srt_seq_add(FIRST, packet);
}

static bool ack(int64_t packet, co_usec now)
{
    return srt_sender_ack(&s, &(struct srt_ack){ .words = 4, .next = seq(packet), .rtt = 40000,
                                                 .variance = 5000, .room = 8192 }, now);
}

static bool nak(int64_t first, int64_t last, co_usec now)
{
    uint8_t body[8];
    size_t size = srt_nak_put(&(struct srt_range){ seq(first), seq(last) }, body, sizeof(body));

    return srt_sender_nak(&s, body, size, now);
}

static int setup(void **state)
{
    (void)state;
    srt_log_init(&the_log);
    return 0;
}

static int teardown(void **state)
{
    srt_log_fini(&the_log);
    return nothing_left(state);
}

#define SEND_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* ---- in order */

static void packets_go_in_order_with_sums_of_their_number(void **state)
{
    unsigned i;

    (void)state;
    put(100, ZERO + CO_MS(5));
    begin(0, 8192);
    assert_int_equal(srt_sender_number(&s), 0);
    assert_int_equal(flush(ZERO + CO_MS(5)), 100);
    assert_int_equal(n_bursts, 3); /* 44, 44, 12 */
    for (i = 0; i < 100; i++) {
        assert_false(got[i].control || got[i].repeated);
        assert_int_equal(got[i].seq, seq(i));
        assert_int_equal(got[i].message, i + 1);
        assert_int_equal(got[i].place, 3);
        assert_int_equal(got[i].time, CO_MS(5));
        assert_int_equal(got[i].key, SRT_CLEAR);
        assert_int_equal(got[i].size, 1316);
    }
    assert_int_equal(s.stat.sent, 100);
    assert_int_equal(s.stat.bytes, 100 * (1316 + SRT_HEADER));
    assert_int_equal(s.stat.in_flight, 100);
    assert_int_equal(srt_sender_deadline(&s), CO_FOREVER);
    assert_true(ack(60, ZERO + CO_MS(50)));
    assert_int_equal(s.stat.in_flight, 40);
    assert_true(ack(50, ZERO + CO_MS(50))); /* an old one */
    assert_int_equal(s.stat.in_flight, 40);
    assert_true(ack(100, ZERO + CO_MS(50)));
    assert_false(ack(101, ZERO + CO_MS(50)));
}

static void a_burst_ends_where_packets_change_their_size(void **state)
{
    static const size_t sizes[] = { 1316, 1316, 188, 1316, 376, 376, 188, 188, 1456, 1 };

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++)
        put_size(sizes[i], false, ZERO);
    begin(0, 8192);
    assert_int_equal(flush(ZERO), COUNT(sizes));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        assert_int_equal(got[i].size, sizes[i]);
        assert_int_equal(got[i].seq, seq((int64_t)i));
    }
    assert_int_equal(n_bursts, 5); /* 3, 2, 2, 1, 2 */
}

static void what_was_due_before_a_player_came_has_its_time_zero(void **state)
{
    (void)state;
    put(2, ZERO - CO_SECONDS(8));
    put(1, ZERO + 1);
    begin(0, 8192);
    assert_int_equal(flush(ZERO), 3);
    assert_int_equal(got[0].time, 0);
    assert_int_equal(got[1].time, 0);
    assert_int_equal(got[2].time, 1);
    /* it was sent just now, so it is not too old to be repeated */
    assert_true(nak(0, 0, ZERO + CO_MS(100)));
    assert_int_equal(flush(ZERO + CO_MS(100)), 1);
    assert_true(got[0].repeated && got[0].seq == seq(0) && got[0].time == 0);
}

static void timestamps_wrap(void **state)
{
    (void)state;
    put(1, ZERO + ((co_usec)1 << 32) + 7);
    begin(0, 8192);
    assert_int_equal(flush(ZERO + ((co_usec)1 << 32) + 7), 1);
    assert_int_equal(got[0].time, 7);
}

static void payloads_are_encrypted_by_the_key_that_is_set(void **state)
{
    struct srt_cipher cipher = { { false, false, true } };

    (void)state;
    put(3, ZERO);
    begin(0, 8192);
    s.set.cipher = &cipher;
    srt_sender_init(&s, &(struct srt_sender_opts){ .log = &the_log, .peer_id = 77, .zero = ZERO,
                                                   .first_seq = FIRST, .maxbw = 1000000,
                                                   .window = 100, .cipher = &cipher });
    assert_int_equal(s.key, SRT_ODD);
    assert_int_equal(flush(ZERO), 3);
    assert_int_equal(got[2].key, SRT_ODD);
    assert_int_equal(got[2].body[0], 2 ^ (uint8_t)(SRT_ODD + seq(2)));
    s.key = SRT_EVEN;
    assert_true(nak(1, 1, ZERO));
    assert_int_equal(flush(ZERO), 1);
    assert_int_equal(got[0].key, SRT_EVEN);
    assert_int_equal(got[0].body[1000], 1 ^ (uint8_t)(SRT_EVEN + seq(1)));
}

static void tables_lead_where_they_are_wanted(void **state)
{
    const struct srt_sender_opts opts = { .log = &the_log, .from = 5, .lead = true, .peer_id = 77,
                                          .first_seq = FIRST, .zero = ZERO, .window = 100 };

    (void)state;
    (void)srt_log_lead(&the_log, (const uint8_t *)"old", 3);
    (void)srt_log_lead(&the_log, (const uint8_t *)"tables", 6);
    (void)srt_log_lead(&the_log, (const uint8_t *)"tables", 6);
    assert_int_equal(the_log.lead, 2);
    put(5, ZERO);
    srt_sender_init(&s, &opts);
    assert_int_equal(flush(ZERO), 0); /* the first packet is not there */
    put(2, ZERO + 9);
    assert_int_equal(flush(ZERO + 9), 3);
    assert_int_equal(got[0].size, 6);
    assert_memory_equal(got[0].body, "tables", 6);
    assert_int_equal(got[0].seq, seq(0));
    assert_int_equal(got[0].time, 9);
    assert_int_equal(got[1].body[0], 5);
    assert_int_equal(got[2].body[0], 6);
    (void)srt_log_lead(&the_log, (const uint8_t *)"new", 3);
    assert_true(nak(0, 1, ZERO + CO_MS(20)));
    assert_int_equal(flush(ZERO + CO_MS(20)), 2);
    assert_memory_equal(got[0].body, "tables", 6);
    assert_int_equal(got[1].body[0], 5);
    (void)srt_log_lead(&the_log, NULL, 0);
    assert_int_equal(the_log.lead, 0);
}

static void another_place_before_anything_was_sent_changes_no_sequence(void **state)
{
    (void)state;
    put(9, ZERO);
    begin(9, 8192);
    assert_int_equal(flush(ZERO), 0);
    put(3, ZERO);
    (void)srt_log_lead(&the_log, (const uint8_t *)"tables", 6);
    srt_sender_relog(&s, &the_log, 10, true);
    assert_int_equal(flush(ZERO), 3);
    assert_int_equal(got[0].seq, seq(0));
    assert_int_equal(got[0].size, 6);
    assert_int_equal(got[1].body[0], 10);
    assert_int_equal(s.stat.skips, 0);
}

static void it_waits_for_a_key_frame_if_that_is_wanted(void **state)
{
    (void)state;
    put_size(100, true, ZERO);
    put(9, ZERO);
    begin(10, 8192);
    s.skip_due = true;
    put(5, ZERO);
    assert_int_equal(flush(ZERO), 0);
    put_size(100, true, ZERO);
    put(5, ZERO);
    assert_int_equal(flush(ZERO), 6);
    assert_int_equal(got[0].seq, seq(0));
    assert_int_equal(got[0].size, 100);
    assert_int_equal(got[1].body[0], 16);
    assert_int_equal(s.stat.skips, 0);
    assert_int_equal(s.stat.dropped, 0);
}

/* ---- limits */

static void no_more_is_under_way_than_the_window(void **state)
{
    (void)state;
    put(500, ZERO);
    begin(0, 100);
    assert_int_equal(flush(ZERO), 100);
    assert_int_equal(flush(ZERO + 1), 0);
    assert_true(ack(30, ZERO + 2));
    assert_int_equal(flush(ZERO + 2), 30);
    /* the receiver has less room, but never none */
    assert_true(srt_sender_ack(&s, &(struct srt_ack){ .words = 4, .next = seq(120) }, ZERO + 3));
    assert_int_equal(flush(ZERO + 3), 6);
    assert_int_equal(s.stat.in_flight, 16);
}

static void what_is_old_goes_out_at_a_pace(void **state)
{
    co_usec now = ZERO;
    unsigned all = 0, turns = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++) /* 100 packets a second for 10 s */
        put_size(1316, i == 0, ZERO - CO_SECONDS(10) + i * CO_MS(10));
    begin(0, 8192);
    while (all < 990) {
        unsigned n = flush(now);

        assert_in_range(n, 1, 2 * SRT_BURST);
        all += n;
        if (all < 1000)
            assert_in_range(srt_sender_deadline(&s), now + 1, now + CO_MS(20));
        assert_true(ack(all, now + CO_MS(19)));
        now += CO_MS(20);
        turns++;
    }
    assert_in_range(turns, 11, 13);
}

static void a_fast_stream_catches_up_faster(void **state)
{
    co_usec now = ZERO;
    unsigned turns;

    (void)state;
    for (unsigned i = 0; i < 2000; i++) /* 10,000 packets a second */
        put_size(1316, i == 0, ZERO - CO_MS(300) + i * 100);
    begin(0, 8192);
    for (turns = 0; s.next < 1900; turns++) {
        (void)flush(now);
        now += CO_MS(20);
    }
    assert_in_range(turns, 5, 12);
}

static void repeats_included_no_more_goes_than_maxbw(void **state)
{
    co_usec now = ZERO;
    unsigned all = 0;

    (void)state;
    begin(0, 8192);
    s.set.maxbw = 1000000;
    for (now = ZERO; now < ZERO + CO_SECONDS(2); now += CO_MS(20)) {
        put(30, now); /* 2 MB/s */
        all += flush(now);
        if (now > ZERO)
            assert_true(nak((int64_t)s.next - 5, (int64_t)s.next - 1, now));
        assert_true(ack((int64_t)s.next - 5, now));
    }
    assert_in_range(all, 1450, 1650); /* 2 s, and a full bucket */
    assert_true(s.stat.repeated > 100);
}

static void a_slow_one_goes_on_at_the_newest_key_frame(void **state)
{
    co_usec now = ZERO;

    (void)state;
    begin(0, 8192);
    s.set.maxbw = 100000;
    for (unsigned i = 0; i < 300; i++, now += CO_MS(20)) {
        for (unsigned k = 0; k < 4; k++) /* 264 kB/s */
            put_size(1316, i % 50 == 0 && k == 0, now);
        (void)flush(now);
        assert_true(ack((int64_t)s.next, now));
    }
    assert_in_range(s.stat.skips, 2, 6);
    assert_in_range(s.stat.dropped, 300, 1200);
    assert_in_range(now - CO_MS(20) * (co_usec)((the_log.head - srt_sender_number(&s)) / 4),
                    now - CO_SECONDS(3), now);
}

/* ---- what is lost */

static void what_a_nak_names_goes_first_and_once_in_a_round_trip(void **state)
{
    (void)state;
    put(50, ZERO);
    begin(0, 8192);
    assert_int_equal(flush(ZERO), 50);
    assert_true(ack(0, ZERO + CO_MS(1))); /* 40 ms */
    put(3, ZERO + CO_MS(20));
    assert_true(nak(10, 12, ZERO + CO_MS(20)));
    assert_true(nak(20, 20, ZERO + CO_MS(20)));
    assert_int_equal(flush(ZERO + CO_MS(20)), 7);
    assert_int_equal(n_bursts, 1);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(got[i].repeated);
        assert_int_equal(got[i].seq, seq(i < 3 ? 10 + i : 20));
        assert_int_equal(got[i].message, i < 3 ? 11 + i : 21);
        assert_int_equal(got[i].time, 0);
    }
    assert_false(got[4].repeated);
    assert_int_equal(s.stat.lost, 4);
    assert_int_equal(s.stat.repeated, 4);
    assert_true(nak(10, 13, ZERO + CO_MS(40))); /* 13 is new */
    assert_int_equal(flush(ZERO + CO_MS(40)), 1);
    assert_int_equal(got[0].seq, seq(13));
    assert_true(nak(10, 12, ZERO + CO_MS(80))); /* it was lost once more */
    assert_int_equal(flush(ZERO + CO_MS(80)), 3);
    assert_int_equal(s.stat.lost, 5);
    assert_int_equal(s.stat.repeated, 8);
}

static void what_is_acknowledged_meanwhile_is_not_repeated(void **state)
{
    (void)state;
    put(50, ZERO);
    begin(0, 8192);
    assert_int_equal(flush(ZERO), 50);
    assert_true(nak(3, 5, ZERO + 1));
    assert_true(nak(8, 20, ZERO + 1));
    assert_true(nak(30, 30, ZERO + 1));
    assert_true(ack(18, ZERO + 2));
    assert_int_equal(flush(ZERO + 3), 4);
    assert_int_equal(got[0].seq, seq(18));
    assert_int_equal(got[3].seq, seq(30));
    assert_true(nak(2, 19, ZERO + CO_SECONDS(1))); /* an old one: only what may be missing */
    assert_int_equal(flush(ZERO + CO_SECONDS(1)), 2);
}

static void drop_is(unsigned i, int64_t first, int64_t last)
{
    struct srt_range r = { 0 };

    assert_true(got[i].control && got[i].type == SRT_DROP);
    assert_int_equal(got[i].info, 0);
    assert_true(srt_drop_read(&r, got[i].body, got[i].size));
    assert_int_equal(r.first, seq(first));
    assert_int_equal(r.last, seq(last));
}

static void what_is_too_old_or_gone_is_dropped(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++)
        put_size(1316, false, ZERO + i * CO_MS(10));
    begin(0, 8192);
    for (unsigned i = 0; i < 200; i++) {
        (void)flush(ZERO + i * CO_MS(10));
        assert_true(ack(0, ZERO + i * CO_MS(10)));
        s.progress_at = ZERO + i * CO_MS(10); /* nobody is silent here */
    }
    (void)flush(ZERO + CO_MS(2000));
    assert_int_equal(s.next, 200);
    assert_true(nak(90, 109, ZERO + CO_MS(2000))); /* 1 s is the limit */
    assert_int_equal(flush(ZERO + CO_MS(2000)), 11);
    drop_is(0, 90, 99);
    assert_int_equal(got[1].seq, seq(100));
    assert_int_equal(s.stat.dropped, 10);
    assert_true(nak(90, 99, ZERO + CO_MS(2010)));
    assert_int_equal(flush(ZERO + CO_MS(2010)), 1); /* told again, not counted again */
    assert_int_equal(s.stat.dropped, 10);
    srt_log_trim(&the_log, INT64_MAX, 150, SIZE_MAX);
    assert_true(nak(149, 150, ZERO + CO_MS(2020)));
    assert_int_equal(flush(ZERO + CO_MS(2020)), 2);
    drop_is(0, 149, 149);
    assert_int_equal(got[1].seq, seq(150));
}

static void hostile_naks_end_it_or_do_nothing(void **state)
{
    static const struct {
        uint32_t first, last;
        bool fine;
        unsigned sent;
    } rows[] = {
        { FIRST, FIRST, true, 1 },
        { FIRST - 100, FIRST - 1, true, 0 },          /* long acknowledged */
        { FIRST + 9, FIRST + 8, true, 0 },            /* ends before it begins: ignored */
        { FIRST + 3000 - (1u << 31), FIRST + 3000 - (1u << 31), false, 0 }, /* never sent */
        { FIRST, (FIRST + 3000) & SRT_SEQ_MASK, false, 0 },
        { FIRST, (FIRST + 0x3fffffff) & SRT_SEQ_MASK, false, 0 },
        { FIRST - 0x3fffffff, FIRST, true, 1 },       /* nearly 2^30 of them */
        { FIRST, (FIRST + 2999) & SRT_SEQ_MASK, true, 1024 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct srt_range r = { rows[i].first, rows[i].last };
        uint8_t body[8];
        size_t size = srt_nak_put(&r, body, sizeof(body));

        srt_log_fini(&the_log);
        srt_log_init(&the_log);
        put(3000, ZERO);
        begin(0, 8192);
        while (srt_sender_output(&s, &burst, ZERO))
            ;
        assert_int_equal(s.next, 3000);
        assert_int_equal(srt_sender_nak(&s, body, size, ZERO), rows[i].fine);
        assert_int_equal(flush(ZERO), rows[i].sent);
    }
}

/* Ranges beyond what is kept are left to the next one. */
static void a_long_nak_is_served_in_parts(void **state)
{
    uint8_t body[4 * SRT_NAK_MAX];
    size_t size = 0;
    unsigned all = 0;
    co_usec now = ZERO;

    (void)state;
    put(700, ZERO);
    begin(0, 8192);
    assert_int_equal(flush(ZERO), 700);
    for (int i = 0; i < SRT_NAK_MAX; i++)
        size += srt_nak_put(&(struct srt_range){ seq(2 * i), seq(2 * i) }, body + size, 4);
    assert_int_equal(size, sizeof(body));
    assert_true(srt_sender_nak(&s, body, size, now));
    all = flush(now);
    assert_int_equal(all, SRT_REPEATS);
    for (int turn = 0; turn < 5; turn++) {
        now += CO_MS(20);
        assert_true(srt_sender_nak(&s, body, size, now));
        all += flush(now);
    }
    assert_int_equal(all, 6 * SRT_REPEATS);
}

/* ---- who is silent */

static void a_silent_one_gets_a_packet_now_and_then(void **state)
{
    co_usec now;
    unsigned all = 0;

    (void)state;
    begin(0, 8192);
    for (now = ZERO; now <= ZERO + CO_MS(1000); now += CO_MS(20)) {
        put_size(1316, now == ZERO, now);
        assert_int_equal(flush(now), 1);
    }
    assert_true(ack(30, now)); /* that is progress */
    for (; now <= ZERO + CO_MS(2020); now += CO_MS(20)) {
        put(1, now);
        assert_int_equal(flush(now), 1);
    }
    put(1, now);
    assert_int_equal(flush(now), 1);
    assert_true(s.stalled);
    assert_true(got[0].repeated);
    assert_int_equal(got[0].seq, seq(30));
    for (; now <= ZERO + CO_MS(3040); now += CO_MS(20)) {
        put(1, now);
        all += flush(now);
        assert_in_range(srt_sender_deadline(&s), now + 1, now + CO_MS(100));
    }
    assert_in_range(all, 9, 11);
    /* there was no key frame since: it gets all of it, in order */
    assert_true(ack(31, now));
    assert_false(s.stalled);
    assert_int_equal(flush(now), 2 * SRT_BURST);
    assert_int_equal(got[0].seq, seq(31));
    assert_true(got[0].repeated);
    assert_int_equal(s.stat.skips, 0);
}

static void who_comes_back_gets_the_newest_key_frame(void **state)
{
    co_usec now;

    (void)state;
    begin(0, 8192);
    for (now = ZERO; now < ZERO + CO_MS(4000); now += CO_MS(20)) {
        put_size(1316, the_log.head % 40 == 0, now);
        (void)flush(now);
        if (now == ZERO + CO_MS(400))
            assert_true(ack(10, now));
    }
    assert_int_equal(the_log.head, 200);
    assert_int_equal(the_log.key, 160);
    assert_true(s.stalled);
    assert_true(nak(12, 12, now));
    assert_int_equal(flush(now), 1 + 40);
    drop_is(0, 10, (int64_t)s.floor - 1);
    assert_int_equal(got[1].seq, seq((int64_t)s.floor));
    assert_int_equal(got[1].body[0], 160);
    assert_false(got[1].repeated);
    assert_int_equal(got[1].time, CO_MS(3200));
    assert_int_equal(s.stat.skips, 1);
    assert_int_equal(s.stat.dropped, 150);
    assert_true(nak(20, 30, now)); /* these are gone for good */
    assert_int_equal(flush(now), 1);
    drop_is(0, 20, 30);
    assert_true(ack((int64_t)s.next, now));
    assert_int_equal(s.stat.in_flight, 0);
}

static void the_log_may_have_gone_on_without_it(void **state)
{
    co_usec now = ZERO;

    (void)state;
    put_size(1316, true, now);
    put(99, now);
    begin(0, 50);
    assert_int_equal(flush(now), 50);
    srt_log_trim(&the_log, INT64_MAX, 80, SIZE_MAX);
    now += CO_SECONDS(2);
    assert_true(ack(50, now));
    assert_int_equal(flush(now), 0);
    assert_true(s.skip_due);
    put(1, now);
    assert_int_equal(flush(now), 0);
    put_size(1000, true, now);
    assert_int_equal(flush(now), 1);
    assert_int_equal(got[0].seq, seq(50));
    assert_int_equal(got[0].size, 1000);
    assert_int_equal(s.stat.skips, 1);
    assert_int_equal(s.stat.dropped, 51);
}

/* What it began with is not there any more: it is no slow player for that. */
static void one_that_has_just_joined_is_not_slow(void **state)
{
    (void)state;
    put_size(1316, true, ZERO);
    put(99, ZERO);
    begin(0, 50);
    assert_int_equal(flush(ZERO), 50);
    put_size(1000, true, ZERO + CO_MS(20));
    srt_log_trim(&the_log, INT64_MAX, 100, SIZE_MAX);
    assert_true(ack(50, ZERO + CO_MS(20)));
    assert_int_equal(flush(ZERO + CO_MS(20)), 1);
    assert_int_equal(s.stat.skips, 0);
    assert_int_equal(s.stat.dropped, 50);
}

/* Bursts end with a packet that is shorter: it is packets that are paced. */
static void small_bursts_catch_up_as_fast(void **state)
{
    unsigned all = 0;

    (void)state;
    for (unsigned i = 0; i < 200; i++)
        put_size(i % 2 ? 188 : 1316, i == 0, ZERO - CO_SECONDS(4) + i * CO_MS(20));
    begin(0, 8192);
    for (co_usec now = ZERO; now < ZERO + CO_MS(60); now += CO_MS(20)) {
        all += flush(now);
        assert_true(ack(all, now));
    }
    assert_in_range(all, 120, 200);
}

static void acks_are_answered_sparingly(void **state)
{
    unsigned answered = 0;

    (void)state;
    begin(0, 100);
    for (uint32_t n = 1; n <= 10; n++)
        assert_true(srt_sender_wants_ackack(&s, n, ZERO + n));
    for (uint32_t n = 11; n <= 110; n++)
        answered += srt_sender_wants_ackack(&s, n, ZERO + n * CO_MS(10));
    assert_in_range(answered, 10, 11);
    assert_true(srt_sender_wants_ackack(&s, 110, ZERO + 110 * CO_MS(10) + 1));
    assert_false(srt_sender_wants_ackack(&s, 111, ZERO + 110 * CO_MS(10) + 2));
    assert_false(srt_sender_wants_ackack(&s, 0, ZERO + CO_SECONDS(9)));
}

static void it_is_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct srt_sender) <= 760);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SEND_TEST(packets_go_in_order_with_sums_of_their_number),
        SEND_TEST(a_burst_ends_where_packets_change_their_size),
        SEND_TEST(what_was_due_before_a_player_came_has_its_time_zero),
        SEND_TEST(timestamps_wrap),
        SEND_TEST(payloads_are_encrypted_by_the_key_that_is_set),
        SEND_TEST(tables_lead_where_they_are_wanted),
        SEND_TEST(another_place_before_anything_was_sent_changes_no_sequence),
        SEND_TEST(it_waits_for_a_key_frame_if_that_is_wanted),
        SEND_TEST(no_more_is_under_way_than_the_window),
        SEND_TEST(what_is_old_goes_out_at_a_pace),
        SEND_TEST(a_fast_stream_catches_up_faster),
        SEND_TEST(repeats_included_no_more_goes_than_maxbw),
        SEND_TEST(a_slow_one_goes_on_at_the_newest_key_frame),
        SEND_TEST(what_a_nak_names_goes_first_and_once_in_a_round_trip),
        SEND_TEST(what_is_acknowledged_meanwhile_is_not_repeated),
        SEND_TEST(what_is_too_old_or_gone_is_dropped),
        SEND_TEST(hostile_naks_end_it_or_do_nothing),
        SEND_TEST(a_long_nak_is_served_in_parts),
        SEND_TEST(a_silent_one_gets_a_packet_now_and_then),
        SEND_TEST(who_comes_back_gets_the_newest_key_frame),
        SEND_TEST(the_log_may_have_gone_on_without_it),
        SEND_TEST(one_that_has_just_joined_is_not_slow),
        SEND_TEST(small_bursts_catch_up_as_fast),
        SEND_TEST(acks_are_answered_sparingly),
        SEND_TEST(it_is_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
