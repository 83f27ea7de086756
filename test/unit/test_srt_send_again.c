/* SPDX-License-Identifier: MIT */
/* test_srt_send_again.c - what a sender retransmits and what it drops; silent receivers. */
#include "srt_sender.h"

#include <stdlib.h>
#include <string.h>

/* ---- lost packets */

static void what_a_nak_names_goes_first_and_once_in_a_round_trip(void **state)
{
    (void)state;
    sender_put(50, ZERO);
    sender_begin(0, 8192);
    assert_int_equal(sender_flush(ZERO), 50);
    assert_true(sender_ack(0, ZERO + CO_MS(1))); /* 40 ms */
    sender_put(3, ZERO + CO_MS(20));
    assert_true(sender_nak(10, 12, ZERO + CO_MS(20)));
    assert_true(sender_nak(20, 20, ZERO + CO_MS(20)));
    assert_int_equal(sender_flush(ZERO + CO_MS(20)), 7);
    assert_int_equal(sent.bursts, 1);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(sent.got[i].retransmitted);
        assert_int_equal(sent.got[i].seq, sender_seq(i < 3 ? 10 + i : 20));
        assert_int_equal(sent.got[i].message, i < 3 ? 11 + i : 21);
        assert_int_equal(sent.got[i].time, 0);
    }
    assert_false(sent.got[4].retransmitted);
    assert_int_equal(sent.sender.stat.lost, 4);
    assert_int_equal(sent.sender.stat.retransmitted, 4);
    assert_true(sender_nak(10, 13, ZERO + CO_MS(40))); /* 13 is new */
    assert_int_equal(sender_flush(ZERO + CO_MS(40)), 1);
    assert_int_equal(sent.got[0].seq, sender_seq(13));
    assert_true(sender_nak(10, 12, ZERO + CO_MS(80))); /* it was lost once more */
    assert_int_equal(sender_flush(ZERO + CO_MS(80)), 3);
    assert_int_equal(sent.sender.stat.lost, 5);
    assert_int_equal(sent.sender.stat.retransmitted, 8);
}

static void what_is_acknowledged_meanwhile_is_not_repeated(void **state)
{
    (void)state;
    sender_put(50, ZERO);
    sender_begin(0, 8192);
    assert_int_equal(sender_flush(ZERO), 50);
    assert_true(sender_nak(3, 5, ZERO + 1));
    assert_true(sender_nak(8, 20, ZERO + 1));
    assert_true(sender_nak(30, 30, ZERO + 1));
    assert_true(sender_ack(18, ZERO + 2));
    assert_int_equal(sender_flush(ZERO + 3), 4);
    assert_int_equal(sent.got[0].seq, sender_seq(18));
    assert_int_equal(sent.got[3].seq, sender_seq(30));
    assert_true(sender_nak(2, 19, ZERO + CO_SECONDS(1))); /* an old one: only what may be missing */
    assert_int_equal(sender_flush(ZERO + CO_SECONDS(1)), 2);
}

static void drop_is(unsigned i, int64_t first, int64_t last)
{
    struct srt_range r = { 0 };

    assert_true(sent.got[i].control && sent.got[i].type == SRT_DROP);
    assert_int_equal(sent.got[i].info, 0);
    assert_true(srt_drop_read(&r, sent.got[i].body, sent.got[i].size));
    assert_int_equal(r.first, sender_seq(first));
    assert_int_equal(r.last, sender_seq(last));
}

static void what_is_too_old_or_gone_is_dropped(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++)
        sender_put_size(1316, false, ZERO + i * CO_MS(10));
    sender_begin(0, 8192);
    for (unsigned i = 0; i < 200; i++) {
        (void)sender_flush(ZERO + i * CO_MS(10));
        assert_true(sender_ack(0, ZERO + i * CO_MS(10)));
        sent.sender.progress_at = ZERO + i * CO_MS(10); /* the receiver is not silent here */
    }
    (void)sender_flush(ZERO + CO_MS(2000));
    assert_int_equal(sent.sender.next, 200);
    assert_true(sender_nak(90, 109, ZERO + CO_MS(2000))); /* 1 s is the limit */
    assert_int_equal(sender_flush(ZERO + CO_MS(2000)), 11);
    drop_is(0, 90, 99);
    assert_int_equal(sent.got[1].seq, sender_seq(100));
    assert_int_equal(sent.sender.stat.dropped, 10);
    assert_true(sender_nak(90, 99, ZERO + CO_MS(2010)));
    assert_int_equal(sender_flush(ZERO + CO_MS(2010)), 1); /* reported again, not counted again */
    assert_int_equal(sent.sender.stat.dropped, 10);
    srt_log_trim(&sent.log, INT64_MAX, 150, SIZE_MAX);
    assert_true(sender_nak(149, 150, ZERO + CO_MS(2020)));
    assert_int_equal(sender_flush(ZERO + CO_MS(2020)), 2);
    drop_is(0, 149, 149);
    assert_int_equal(sent.got[1].seq, sender_seq(150));
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

        srt_log_fini(&sent.log);
        srt_log_init(&sent.log);
        sender_put(3000, ZERO);
        sender_begin(0, 8192);
        while (srt_sender_output(&sent.sender, &sent.burst, ZERO))
            ;
        assert_int_equal(sent.sender.next, 3000);
        assert_int_equal(srt_sender_nak(&sent.sender, body, size, ZERO), rows[i].fine);
        assert_int_equal(sender_flush(ZERO), rows[i].sent);
    }
}

/* Ranges beyond the kept packets are left to the next one. */
static void a_long_nak_is_served_in_parts(void **state)
{
    uint8_t body[4 * SRT_NAK_MAX];
    size_t size = 0;
    unsigned all = 0;
    co_usec now = ZERO;

    (void)state;
    sender_put(700, ZERO);
    sender_begin(0, 8192);
    assert_int_equal(sender_flush(ZERO), 700);
    for (int i = 0; i < SRT_NAK_MAX; i++)
        size += srt_nak_put(&(struct srt_range){ sender_seq(2 * i), sender_seq(2 * i) }, body + size, 4);
    assert_int_equal(size, sizeof(body));
    assert_true(srt_sender_nak(&sent.sender, body, size, now));
    all = sender_flush(now);
    assert_int_equal(all, SRT_RETRANSMITS);
    for (int turn = 0; turn < 5; turn++) {
        now += CO_MS(20);
        assert_true(srt_sender_nak(&sent.sender, body, size, now));
        all += sender_flush(now);
    }
    assert_int_equal(all, 6 * SRT_RETRANSMITS);
}

/* ---- silent receivers */

static void a_silent_one_gets_a_packet_now_and_then(void **state)
{
    co_usec now;
    unsigned all = 0;

    (void)state;
    sender_begin(0, 8192);
    for (now = ZERO; now <= ZERO + CO_MS(1000); now += CO_MS(20)) {
        sender_put_size(1316, now == ZERO, now);
        assert_int_equal(sender_flush(now), 1);
    }
    assert_true(sender_ack(30, now)); /* that is progress */
    for (; now <= ZERO + CO_MS(2020); now += CO_MS(20)) {
        sender_put(1, now);
        assert_int_equal(sender_flush(now), 1);
    }
    sender_put(1, now);
    assert_int_equal(sender_flush(now), 1);
    assert_true(sent.sender.stalled);
    assert_true(sent.got[0].retransmitted);
    assert_int_equal(sent.got[0].seq, sender_seq(30));
    for (; now <= ZERO + CO_MS(3040); now += CO_MS(20)) {
        sender_put(1, now);
        all += sender_flush(now);
        assert_in_range(srt_sender_deadline(&sent.sender), now + 1, now + CO_MS(100));
    }
    assert_in_range(all, 9, 11);
    /* there was no key frame since: it gets all of it, in order */
    assert_true(sender_ack(31, now));
    assert_false(sent.sender.stalled);
    assert_int_equal(sender_flush(now), 2 * SRT_BURST);
    assert_int_equal(sent.got[0].seq, sender_seq(31));
    assert_true(sent.got[0].retransmitted);
    assert_int_equal(sent.sender.stat.skips, 0);
}

static void who_comes_back_gets_the_newest_key_frame(void **state)
{
    co_usec now;

    (void)state;
    sender_begin(0, 8192);
    for (now = ZERO; now < ZERO + CO_MS(4000); now += CO_MS(20)) {
        sender_put_size(1316, sent.log.head % 40 == 0, now);
        (void)sender_flush(now);
        if (now == ZERO + CO_MS(400))
            assert_true(sender_ack(10, now));
    }
    assert_int_equal(sent.log.head, 200);
    assert_int_equal(sent.log.key, 160);
    assert_true(sent.sender.stalled);
    assert_true(sender_nak(12, 12, now));
    assert_int_equal(sender_flush(now), 1 + 40);
    drop_is(0, 10, (int64_t)sent.sender.floor - 1);
    assert_int_equal(sent.got[1].seq, sender_seq((int64_t)sent.sender.floor));
    assert_int_equal(sent.got[1].body[0], 160);
    assert_false(sent.got[1].retransmitted);
    assert_int_equal(sent.got[1].time, CO_MS(3200));
    assert_int_equal(sent.sender.stat.skips, 1);
    assert_int_equal(sent.sender.stat.dropped, 150);
    assert_true(sender_nak(20, 30, now)); /* these are permanently gone */
    assert_int_equal(sender_flush(now), 1);
    drop_is(0, 20, 30);
    assert_true(sender_ack((int64_t)sent.sender.next, now));
    assert_int_equal(sent.sender.stat.in_flight, 0);
}

static void the_log_may_have_gone_on_without_it(void **state)
{
    co_usec now = ZERO;

    (void)state;
    sender_put_size(1316, true, now);
    sender_put(99, now);
    sender_begin(0, 50);
    assert_int_equal(sender_flush(now), 50);
    srt_log_trim(&sent.log, INT64_MAX, 80, SIZE_MAX);
    now += CO_SECONDS(2);
    assert_true(sender_ack(50, now));
    assert_int_equal(sender_flush(now), 0);
    assert_true(sent.sender.skip_due);
    sender_put(1, now);
    assert_int_equal(sender_flush(now), 0);
    sender_put_size(1000, true, now);
    assert_int_equal(sender_flush(now), 1);
    assert_int_equal(sent.got[0].seq, sender_seq(50));
    assert_int_equal(sent.got[0].size, 1000);
    assert_int_equal(sent.sender.stat.skips, 1);
    assert_int_equal(sent.sender.stat.dropped, 51);
}

/* Its first packets are no longer there: that does not make it a slow player. */
static void one_that_has_just_joined_is_not_slow(void **state)
{
    (void)state;
    sender_put_size(1316, true, ZERO);
    sender_put(99, ZERO);
    sender_begin(0, 50);
    assert_int_equal(sender_flush(ZERO), 50);
    sender_put_size(1000, true, ZERO + CO_MS(20));
    srt_log_trim(&sent.log, INT64_MAX, 100, SIZE_MAX);
    assert_true(sender_ack(50, ZERO + CO_MS(20)));
    assert_int_equal(sender_flush(ZERO + CO_MS(20)), 1);
    assert_int_equal(sent.sender.stat.skips, 0);
    assert_int_equal(sent.sender.stat.dropped, 50);
}

/* Bursts end with a shorter packet: pacing counts packets. */
static void small_bursts_catch_up_as_fast(void **state)
{
    unsigned all = 0;

    (void)state;
    for (unsigned i = 0; i < 200; i++)
        sender_put_size(i % 2 ? 188 : 1316, i == 0, ZERO - CO_SECONDS(4) + i * CO_MS(20));
    sender_begin(0, 8192);
    for (co_usec now = ZERO; now < ZERO + CO_MS(60); now += CO_MS(20)) {
        all += sender_flush(now);
        assert_true(sender_ack(all, now));
    }
    assert_in_range(all, 120, 200);
}

static void acks_are_answered_sparingly(void **state)
{
    unsigned answered = 0;

    (void)state;
    sender_begin(0, 100);
    for (uint32_t n = 1; n <= 10; n++)
        assert_true(srt_sender_wants_ackack(&sent.sender, n, ZERO + n));
    for (uint32_t n = 11; n <= 110; n++)
        answered += srt_sender_wants_ackack(&sent.sender, n, ZERO + n * CO_MS(10));
    assert_in_range(answered, 10, 11);
    assert_true(srt_sender_wants_ackack(&sent.sender, 110, ZERO + 110 * CO_MS(10) + 1));
    assert_false(srt_sender_wants_ackack(&sent.sender, 111, ZERO + 110 * CO_MS(10) + 2));
    assert_false(srt_sender_wants_ackack(&sent.sender, 0, ZERO + CO_SECONDS(9)));
}

static void it_is_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct srt_sender) <= 760);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
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
