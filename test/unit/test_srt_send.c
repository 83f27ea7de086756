/* SPDX-License-Identifier: MIT */
/* test_srt_send.c - what a sender sends and when. */
#include "proto/srt/crypt.h"
#include "srt_sender.h"

#include <string.h>

/* ---- in order */

static void packets_go_in_order_with_sums_of_their_number(void **state)
{
    unsigned i;

    (void)state;
    sender_put(100, ZERO + CO_MS(5));
    sender_begin(0, 8192);
    assert_int_equal(srt_sender_number(&sent.sender), 0);
    assert_int_equal(sender_flush(ZERO + CO_MS(5)), 100);
    assert_int_equal(sent.bursts, 3); /* 44, 44, 12 */
    for (i = 0; i < 100; i++) {
        assert_false(sent.got[i].control || sent.got[i].retransmitted);
        assert_int_equal(sent.got[i].seq, sender_seq(i));
        assert_int_equal(sent.got[i].message, i + 1);
        assert_int_equal(sent.got[i].position, 3);
        assert_int_equal(sent.got[i].time, CO_MS(5));
        assert_int_equal(sent.got[i].key, SRT_CLEAR);
        assert_int_equal(sent.got[i].size, 1316);
    }
    assert_int_equal(sent.sender.stat.sent, 100);
    assert_int_equal(sent.sender.stat.bytes, 100 * (1316 + SRT_HEADER));
    assert_int_equal(sent.sender.stat.in_flight, 100);
    assert_int_equal(srt_sender_deadline(&sent.sender), CO_FOREVER);
    assert_true(sender_ack(60, ZERO + CO_MS(50)));
    assert_int_equal(sent.sender.stat.in_flight, 40);
    assert_true(sender_ack(50, ZERO + CO_MS(50))); /* an old one */
    assert_int_equal(sent.sender.stat.in_flight, 40);
    assert_true(sender_ack(100, ZERO + CO_MS(50)));
    assert_false(sender_ack(101, ZERO + CO_MS(50)));
}

static void a_burst_ends_where_packets_change_their_size(void **state)
{
    static const size_t sizes[] = { 1316, 1316, 188, 1316, 376, 376, 188, 188, 1456, 1 };

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++)
        sender_put_size(sizes[i], false, ZERO);
    sender_begin(0, 8192);
    assert_int_equal(sender_flush(ZERO), COUNT(sizes));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        assert_int_equal(sent.got[i].size, sizes[i]);
        assert_int_equal(sent.got[i].seq, sender_seq((int64_t)i));
    }
    assert_int_equal(sent.bursts, 5); /* 3, 2, 2, 1, 2 */
}

static void what_was_due_before_a_player_came_has_its_time_zero(void **state)
{
    (void)state;
    sender_put(2, ZERO - CO_SECONDS(8));
    sender_put(1, ZERO + 1);
    sender_begin(0, 8192);
    assert_int_equal(sender_flush(ZERO), 3);
    assert_int_equal(sent.got[0].time, 0);
    assert_int_equal(sent.got[1].time, 0);
    assert_int_equal(sent.got[2].time, 1);
    /* it was sent just now, so it is not too old to be retransmitted */
    assert_true(sender_nak(0, 0, ZERO + CO_MS(100)));
    assert_int_equal(sender_flush(ZERO + CO_MS(100)), 1);
    assert_true(sent.got[0].retransmitted && sent.got[0].seq == sender_seq(0) && sent.got[0].time == 0);
}

static void timestamps_wrap(void **state)
{
    (void)state;
    sender_put(1, ZERO + ((co_usec)1 << 32) + 7);
    sender_begin(0, 8192);
    assert_int_equal(sender_flush(ZERO + ((co_usec)1 << 32) + 7), 1);
    assert_int_equal(sent.got[0].time, 7);
}

static uint8_t plain_at(struct srt_cipher *c, enum srt_key key, const struct srt_packet *p, uint32_t of,
                        size_t at)
{
    uint8_t plain[SRT_PACKET_MAX];

    assert_true(p->size > at && p->size <= sizeof(plain));
    srt_cipher_run(c, key, of, p->body, plain, p->size);
    return plain[at];
}

static void payloads_are_encrypted_by_the_key_that_is_set(void **state)
{
    struct srt_secret secret = { .which = SRT_ODD, .key_size = 16, .salt = { 1 }, .key = { { 2 }, { 3 } } };
    struct srt_cipher *cipher = srt_cipher_new(&secret);

    (void)state;
    sender_put(3, ZERO);
    sender_begin(0, 8192);
    sent.sender.set.cipher = cipher;
    srt_sender_init(&sent.sender, &(struct srt_sender_opts){ .log = &sent.log, .peer_id = 77, .zero = ZERO,
                                                   .first_seq = FIRST, .maxbw = 1000000,
                                                   .window = 100, .cipher = cipher });
    assert_int_equal(sent.sender.key, SRT_ODD);
    assert_int_equal(sender_flush(ZERO), 3);
    assert_int_equal(sent.got[2].key, SRT_ODD);
    assert_int_equal(plain_at(cipher, SRT_ODD, &sent.got[2], sender_seq(2), 0), 2);
    secret.which = SRT_EVEN;
    assert_true(srt_cipher_set(cipher, &secret));
    sent.sender.key = SRT_EVEN;
    assert_true(sender_nak(1, 1, ZERO));
    assert_int_equal(sender_flush(ZERO), 1);
    assert_int_equal(sent.got[0].key, SRT_EVEN);
    assert_int_equal(plain_at(cipher, SRT_EVEN, &sent.got[0], sender_seq(1), 1000), 1);
    srt_cipher_free(cipher);
}

static void tables_lead_where_they_are_wanted(void **state)
{
    const struct srt_sender_opts opts = { .log = &sent.log, .from = 5, .lead = true, .peer_id = 77,
                                          .first_seq = FIRST, .zero = ZERO, .window = 100 };

    (void)state;
    (void)srt_log_lead(&sent.log, (const uint8_t *)"old", 3);
    (void)srt_log_lead(&sent.log, (const uint8_t *)"tables", 6);
    (void)srt_log_lead(&sent.log, (const uint8_t *)"tables", 6);
    assert_int_equal(sent.log.lead, 2);
    sender_put(5, ZERO);
    srt_sender_init(&sent.sender, &opts);
    assert_int_equal(sender_flush(ZERO), 0); /* the first packet does not exist */
    sender_put(2, ZERO + 9);
    assert_int_equal(sender_flush(ZERO + 9), 3);
    assert_int_equal(sent.got[0].size, 6);
    assert_memory_equal(sent.got[0].body, "tables", 6);
    assert_int_equal(sent.got[0].seq, sender_seq(0));
    assert_int_equal(sent.got[0].time, 9);
    assert_int_equal(sent.got[1].body[0], 5);
    assert_int_equal(sent.got[2].body[0], 6);
    (void)srt_log_lead(&sent.log, (const uint8_t *)"new", 3);
    assert_true(sender_nak(0, 1, ZERO + CO_MS(20)));
    assert_int_equal(sender_flush(ZERO + CO_MS(20)), 2);
    assert_memory_equal(sent.got[0].body, "tables", 6);
    assert_int_equal(sent.got[1].body[0], 5);
    (void)srt_log_lead(&sent.log, NULL, 0);
    assert_int_equal(sent.log.lead, 0);
}

static void another_place_before_anything_was_sent_changes_no_sequence(void **state)
{
    (void)state;
    sender_put(9, ZERO);
    sender_begin(9, 8192);
    assert_int_equal(sender_flush(ZERO), 0);
    sender_put(1, ZERO);
    sender_put_size(100, true, ZERO);
    sender_put(1, ZERO);
    (void)srt_log_lead(&sent.log, (const uint8_t *)"tables", 6);
    sent.sender.skip_due = true;
    assert_int_equal(sender_flush(ZERO), 3);
    assert_int_equal(sent.got[0].seq, sender_seq(0));
    assert_int_equal(sent.got[0].size, 6);
    assert_int_equal(sent.got[1].body[0], 10);
    assert_int_equal(sent.sender.stat.skips, 0);
}

static void it_waits_for_a_key_frame_if_that_is_wanted(void **state)
{
    (void)state;
    sender_put_size(100, true, ZERO);
    sender_put(9, ZERO);
    sender_begin(10, 8192);
    sent.sender.skip_due = true;
    sender_put(5, ZERO);
    assert_int_equal(sender_flush(ZERO), 0);
    sender_put_size(100, true, ZERO);
    sender_put(5, ZERO);
    assert_int_equal(sender_flush(ZERO), 6);
    assert_int_equal(sent.got[0].seq, sender_seq(0));
    assert_int_equal(sent.got[0].size, 100);
    assert_int_equal(sent.got[1].body[0], 16);
    assert_int_equal(sent.sender.stat.skips, 0);
    assert_int_equal(sent.sender.stat.dropped, 0);
}

/* ---- limits */

static void no_more_is_under_way_than_the_window(void **state)
{
    (void)state;
    sender_put(500, ZERO);
    sender_begin(0, 100);
    assert_int_equal(sender_flush(ZERO), 100);
    assert_int_equal(sender_flush(ZERO + 1), 0);
    assert_true(sender_ack(30, ZERO + 2));
    assert_int_equal(sender_flush(ZERO + 2), 30);
    /* the receiver has less room, but never none */
    assert_true(srt_sender_ack(&sent.sender, &(struct srt_ack){ .words = 4, .next = sender_seq(120) }, ZERO + 3));
    assert_int_equal(sender_flush(ZERO + 3), 6);
    assert_int_equal(sent.sender.stat.in_flight, 16);
}

static void what_is_old_goes_out_at_a_pace(void **state)
{
    co_usec now = ZERO;
    unsigned all = 0, turns = 0;

    (void)state;
    for (unsigned i = 0; i < 1000; i++) /* 100 packets a second for 10 s */
        sender_put_size(1316, i == 0, ZERO - CO_SECONDS(10) + i * CO_MS(10));
    sender_begin(0, 8192);
    while (all < 990) {
        unsigned n = sender_flush(now);

        assert_in_range(n, 1, 2 * SRT_BURST);
        all += n;
        if (all < 1000)
            assert_in_range(srt_sender_deadline(&sent.sender), now + 1, now + CO_MS(20));
        assert_true(sender_ack(all, now + CO_MS(19)));
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
        sender_put_size(1316, i == 0, ZERO - CO_MS(300) + i * 100);
    sender_begin(0, 8192);
    for (turns = 0; sent.sender.next < 1900; turns++) {
        (void)sender_flush(now);
        now += CO_MS(20);
    }
    assert_in_range(turns, 5, 12);
}

static void repeats_included_no_more_goes_than_maxbw(void **state)
{
    co_usec now = ZERO;
    unsigned all = 0;

    (void)state;
    sender_begin(0, 8192);
    sent.sender.set.maxbw = 1000000;
    for (now = ZERO; now < ZERO + CO_SECONDS(2); now += CO_MS(20)) {
        sender_put(30, now); /* 2 MB/s */
        all += sender_flush(now);
        if (now > ZERO)
            assert_true(sender_nak((int64_t)sent.sender.next - 5, (int64_t)sent.sender.next - 1, now));
        assert_true(sender_ack((int64_t)sent.sender.next - 5, now));
    }
    assert_in_range(all, 1450, 1650); /* 2 s, and a full bucket */
    assert_true(sent.sender.stat.retransmitted > 100);
}

static void a_slow_one_goes_on_at_the_newest_key_frame(void **state)
{
    co_usec now = ZERO;

    (void)state;
    sender_begin(0, 8192);
    sent.sender.set.maxbw = 100000;
    for (unsigned i = 0; i < 300; i++, now += CO_MS(20)) {
        for (unsigned k = 0; k < 4; k++) /* 264 kB/s */
            sender_put_size(1316, i % 50 == 0 && k == 0, now);
        (void)sender_flush(now);
        assert_true(sender_ack((int64_t)sent.sender.next, now));
    }
    assert_in_range(sent.sender.stat.skips, 2, 6);
    assert_in_range(sent.sender.stat.dropped, 300, 1200);
    assert_in_range(now - CO_MS(20) * (co_usec)((sent.log.head - srt_sender_number(&sent.sender)) / 4),
                    now - CO_SECONDS(3), now);
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
