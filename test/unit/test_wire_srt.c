/* SPDX-License-Identifier: MIT */
/* test_wire_srt.c - a live stream as SRT packets: where players begin, what is due when,
 * changes of the publisher, and relayed packets. */
#include "wire/srt.h"

#include "format/ts/mux.h"
#include "publisher.h"

enum { PAYLOAD = 7 * TS_PACKET, PIDS = 0x2000, SYNC = 0x47, FIELD = 0x20, DATA = 0x10 };

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_OFF, .gop_cache_max_frames = 100000,
    .queue_length = CO_SECONDS(30), .max_bytes = 64 << 20,
};
static co_usec now; /* advances under control of the test */

struct wired {
    struct live_source *src;
    struct srt_wire *w;
    struct srt_log *log;
    unsigned audio;
};

static void setup(struct wired *t, const struct live_settings *set)
{
    const struct srt_wire_opts opts = { .payload = PAYLOAD, .max_bytes = 8 << 20 };

    now = co_now();
    *t = (struct wired){ .src = live_begin(set) };
    t->w = srt_wire_new(t->src, &opts);
    t->log = srt_wire_log(t->w);
}

static void finish(struct wired *t)
{
    srt_wire_free(t->w);
    live_end(t->src);
}

/* Video and audio, and a player. */
static void setup_both(struct wired *t)
{
    setup(t, &settings);
    push_config(t->src, AV_H264);
    push_config(t->src, AV_AAC);
    srt_wire_wanted(t->w, true);
}

/* ---- content of packets */

struct seen {
    int cc[PIDS]; /* the last counter; -1: none */
    unsigned packets, tables, clocks, jumps, breaks, starts, keys;
    int64_t clock;
    unsigned gap; /* the longest between two clocks, ms */
};

static struct seen seen; /* large */

static void see_field(const uint8_t *p)
{
    if (!(p[3] & FIELD) || p[4] == 0)
        return;
    seen.keys += (p[5] & 0x40) != 0;
    seen.jumps += (p[5] & 0x80) != 0;
    if (p[5] & 0x10) {
        int64_t clock = (int64_t)p[6] << 25 | p[7] << 17 | p[8] << 9 | p[9] << 1 | p[10] >> 7;

        if (seen.clocks++ > 0 && (clock - seen.clock) / 90 > seen.gap)
            seen.gap = (unsigned)((clock - seen.clock) / 90);
        seen.clock = clock;
    }
}

static void see(const uint8_t *p)
{
    unsigned pid = (p[1] & 0x1fu) << 8 | p[2];

    assert_int_equal(p[0], SYNC);
    seen.packets++;
    seen.tables += pid == TS_PID_PMT;
    seen.starts += pid != 0 && pid != TS_PID_PMT && (p[1] & 0x40);
    see_field(p);
    if (p[3] & DATA) {
        seen.breaks += seen.cc[pid] >= 0 && (p[3] & 15) != ((seen.cc[pid] + 1) & 15);
        seen.cc[pid] = p[3] & 15;
    }
}

/* Reads the log from this packet on: whole TS packets, no decreasing time. */
static void see_all(const struct srt_log *l, uint64_t from)
{
    struct srt_log_entry e = { 0 };
    co_usec due = 0;

    seen = (struct seen){ 0 };
    memset(seen.cc, 0xff, sizeof(seen.cc));
    for (uint64_t n = from; n < l->head; n++) {
        assert_true(srt_log_get(l, n, &e));
        assert_true(e.size > 0 && e.size <= PAYLOAD && e.size % TS_PACKET == 0);
        assert_true(e.due >= due);
        due = e.due;
        for (size_t at = 0; at < e.size; at += TS_PACKET)
            see(e.data + at);
    }
}

static bool begins_with_tables(const struct srt_log *l, uint64_t n)
{
    struct srt_log_entry e = { 0 };

    assert_true(srt_log_get(l, n, &e));
    return e.key && (e.data[1] & 0x1f) == 0 && e.data[2] == 0 &&
           (e.data[TS_PACKET + 1] & 0x1f) == TS_PID_PMT >> 8;
}

/* ---- the tests */

static void one_who_comes_begins_at_the_newest_key_frame(void **state)
{
    struct wired t;

    (void)state;
    setup(&t, &settings);
    push_config(t.src, AV_H264);
    push_config(t.src, AV_AAC);
    for (int i = 0; i < 25; i++) {
        push_at(t.src, AV_H264, i % 10 == 0, i * 40, 900);
        push_at(t.src, AV_AAC, false, i * 40 + 5, 200);
    }
    srt_wire_take(t.w, now);
    assert_int_equal(t.log->head, 0); /* no player wanted it */
    srt_wire_wanted(t.w, true);
    srt_wire_take(t.w, now);
    assert_true(t.log->has_key && t.log->key == 0);
    assert_true(begins_with_tables(t.log, 0));
    see_all(t.log, 0);
    assert_int_equal(seen.keys, 1);
    assert_int_equal(seen.starts, 10);
    assert_int_equal(seen.breaks, 0);
    finish(&t);
}

static void the_rest_of_a_packet_goes_with_its_turn(void **state)
{
    struct wired t;
    struct srt_log_entry e = { 0 };

    (void)state;
    setup(&t, &settings);
    push_config(t.src, AV_H264);
    srt_wire_wanted(t.w, true);
    push_at(t.src, AV_H264, true, 0, 5000);
    srt_wire_take(t.w, now);
    for (int i = 1; i < 20; i++) {
        uint64_t before = t.log->head;

        push_at(t.src, AV_H264, false, i * 40, 100);
        srt_wire_take(t.w, now + CO_MS(40) * i);
        assert_int_equal(t.log->head, before + 1);
        assert_true(srt_log_get(t.log, before, &e));
        assert_true(e.size < PAYLOAD && e.due <= now + CO_MS(40) * i);
        srt_wire_take(t.w, now + CO_MS(40) * i + CO_MS(20));
        assert_int_equal(t.log->head, before + 1);
    }
    finish(&t);
}

static void frames_of_a_turn_share_packets_but_a_key_frame_begins_one(void **state)
{
    struct wired t;
    uint64_t before;

    (void)state;
    setup_both(&t);
    push_at(t.src, AV_H264, true, 0, 500);
    srt_wire_take(t.w, now);
    before = t.log->head;
    push_at(t.src, AV_H264, false, 40, 100);
    push_at(t.src, AV_AAC, false, 41, 100);
    push_at(t.src, AV_AAC, false, 64, 100);
    srt_wire_take(t.w, now);
    assert_int_equal(t.log->head, before + 1);
    push_at(t.src, AV_AAC, false, 85, 100);
    push_at(t.src, AV_H264, true, 80, 100);
    srt_wire_take(t.w, now);
    assert_int_equal(t.log->head, before + 3);
    assert_int_equal(t.log->key, before + 2);
    assert_true(begins_with_tables(t.log, before + 2));
    see_all(t.log, 0);
    assert_int_equal(seen.breaks, 0);
    finish(&t);
}

static void tables_and_clocks_come_often(void **state)
{
    struct wired t;

    (void)state;
    setup_both(&t);
    for (int ms = 0; ms < 2000; ms++) {
        if (ms % 100 == 0)
            push_at(t.src, AV_H264, ms == 0, ms, 300);
        if (ms % 20 == 0)
            push_at(t.src, AV_AAC, false, ms, 100);
        srt_wire_take(t.w, now);
    }
    see_all(t.log, 0);
    assert_in_range(seen.tables, 19, 21);
    assert_in_range(seen.gap, 1, 62); /* players may continue at an audio frame */
    assert_int_equal(seen.breaks, 0);
    finish(&t);
}

static void players_stay_when_the_publisher_changes(void **state)
{
    struct wired t;
    uint64_t before;

    (void)state;
    setup_both(&t);
    push_at(t.src, AV_H264, true, 0, 500);
    push_at(t.src, AV_AAC, false, 1, 100);
    srt_wire_take(t.w, now);
    push_at(t.src, AV_H264, false, 40, 500); /* is still sent */
    live_source_end(t.src, &me);
    srt_wire_take(t.w, now);
    see_all(t.log, 0);
    assert_int_equal(seen.starts, 3);
    srt_wire_take(t.w, now);
    assert_false(t.log->has_key);
    before = t.log->head;
    assert_ok(live_source_begin(t.src, &me, &rule));
    push_config(t.src, AV_AAC);
    push_at(t.src, AV_AAC, false, 80, 100);
    srt_wire_take(t.w, now);
    assert_true(t.log->has_key && t.log->key == before && begins_with_tables(t.log, before));
    see_all(t.log, 0);
    assert_int_equal(seen.breaks + seen.jumps, 0);
    finish(&t);
}

static void audio_alone_has_places_to_start_at(void **state)
{
    struct wired t;

    (void)state;
    setup(&t, &settings);
    push_config(t.src, AV_AV1); /* TS cannot carry it */
    push_config(t.src, AV_AAC);
    srt_wire_wanted(t.w, true);
    for (int ms = 0; ms < 3000; ms += 20) {
        if (ms % 1000 == 0)
            push_at(t.src, AV_AV1, true, ms, 500);
        push_at(t.src, AV_AAC, false, ms, 100);
    }
    srt_wire_take(t.w, now);
    assert_true(t.log->has_key && begins_with_tables(t.log, t.log->key));
    see_all(t.log, 0);
    assert_int_equal(seen.starts, 150);
    finish(&t);
}

static void it_keeps_what_may_be_asked_for_again(void **state)
{
    struct wired t;
    uint64_t first;

    (void)state;
    setup(&t, &settings);
    push_config(t.src, AV_H264);
    srt_wire_wanted(t.w, true);
    srt_wire_keep(t.w, CO_SECONDS(3));
    for (int i = 0; i < 20; i++) {
        push_at(t.src, AV_H264, i % 10 == 0, i * 40, 900);
        srt_wire_take(t.w, now);
    }
    assert_int_equal(t.log->first, 0);
    srt_wire_take(t.w, now + CO_SECONDS(4)); /* all are old, but new players need the last GOP */
    first = t.log->first;
    assert_int_equal(first, t.log->key);
    srt_wire_wanted(t.w, false);
    assert_int_equal(t.log->first, t.log->head);
    assert_false(t.log->has_key);
    srt_wire_wanted(t.w, true);
    srt_wire_take(t.w, now + CO_SECONDS(4));
    assert_true(t.log->has_key && begins_with_tables(t.log, t.log->key));
    assert_int_equal(t.log->head - t.log->key, 11);
    finish(&t);
}

static void without_cache_nothing_is_kept_for_who_joins(void **state)
{
    struct live_settings set = settings;
    struct wired t;

    (void)state;
    set.gop_cache = false;
    setup(&t, &set);
    push_config(t.src, AV_H264);
    srt_wire_wanted(t.w, true);
    push_at(t.src, AV_H264, true, 0, 900);
    push_at(t.src, AV_H264, false, 40, 900);
    srt_wire_take(t.w, now);
    assert_true(t.log->has_key);
    srt_wire_take(t.w, now + CO_SECONDS(2));
    assert_false(t.log->has_key);
    assert_int_equal(t.log->first, t.log->head);
    finish(&t);
}

/* ---- relay */

static uint8_t message[PAYLOAD];

/* PID 0x100 with a clock in the first of seven, PID 0x101 in the last, with a field. */
static const uint8_t *ts_message(unsigned n)
{
    memset(message, 0xff, sizeof(message));
    for (unsigned i = 0; i < 7; i++) {
        uint8_t *p = message + i * TS_PACKET;

        p[0] = SYNC;
        p[1] = 0x01;
        p[2] = i == 6;
        p[3] = (uint8_t)(DATA | (n & 15));
        p[4] = (uint8_t)n;
    }
    message[3] |= FIELD;
    message[4] = 7;
    message[5] = n % 2 ? 0x10 : 0;
    message[6 * TS_PACKET + 3] |= FIELD;
    message[6 * TS_PACKET + 4] = 1;
    message[6 * TS_PACKET + 5] = 0;
    return message;
}

static void what_is_relayed_stays_as_it_came(void **state)
{
    static const struct {
        uint64_t back, number;
    } keys[] = { /* bytes before the end of 8 messages, of which number 5 has 500 */
        { 1, 7 }, { PAYLOAD, 7 }, { PAYLOAD + 1, 6 }, { 2 * PAYLOAD + 1, 5 },
        { 2 * PAYLOAD + 501, 4 }, { 7 * PAYLOAD + 500, 0 }, { 5 * PAYLOAD + 500, 2 },
    };
    struct wired t;
    struct srt_log_entry e = { 0 };

    (void)state;
    setup(&t, &settings);
    srt_wire_relay_begin(t.w);
    for (unsigned i = 0; i < 8; i++)
        srt_wire_relay_put(t.w, ts_message(i), i == 5 ? 500 : PAYLOAD, now + i);
    srt_wire_relay_put(t.w, message, 0, now);
    srt_wire_relay_key(t.w, 7 * PAYLOAD + 500 + 1, message, 2 * TS_PACKET); /* before all of it */
    srt_wire_relay_key(t.w, 0, message, 2 * TS_PACKET);                     /* behind it */
    assert_false(t.log->has_key);
    for (unsigned i = 0; i < COUNT(keys); i++) {
        srt_wire_relay_key(t.w, keys[i].back, message, 2 * TS_PACKET);
        assert_true(t.log->has_key);
        assert_int_equal(t.log->key, keys[i].number);
    }
    assert_int_equal(t.log->head, 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_true(srt_log_get(t.log, i, &e));
        assert_int_equal(e.size, i == 5 ? 500 : PAYLOAD);
        assert_int_equal(e.due, now + i);
        assert_memory_equal(e.data, ts_message(i), e.size);
    }
    assert_true(srt_log_lead_get(t.log, t.log->lead, &e));
    assert_int_equal(e.size, 2 * TS_PACKET);
    srt_wire_relay_put(t.w, message, PAYLOAD, now + CO_SECONDS(10));
    assert_int_equal(t.log->first, 2); /* for new players */
    srt_wire_relay_end(t.w);
    assert_int_equal(t.log->lead, 0);
    assert_int_equal(t.log->first, t.log->head);
    finish(&t);
}

static void players_are_told_that_a_relay_begins_and_ends(void **state)
{
    struct wired t;
    struct srt_log_entry e = { 0 };
    uint64_t at;

    (void)state;
    setup(&t, &settings);
    push_config(t.src, AV_H264);
    srt_wire_wanted(t.w, true);
    push_at(t.src, AV_H264, true, 0, 900);
    srt_wire_take(t.w, now);
    srt_wire_relay_begin(t.w);
    assert_false(t.log->has_key);
    at = t.log->head;
    for (unsigned i = 0; i < 4; i++)
        srt_wire_relay_put(t.w, ts_message(i), PAYLOAD, now);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(srt_log_get(t.log, at + i, &e));
        /* the first of that PID, and the first with a clock */
        assert_int_equal(e.data[5] & 0x80, i < 2 ? 0x80 : 0);
        assert_int_equal(e.data[6 * TS_PACKET + 5] & 0x80, i == 0 ? 0x80 : 0);
    }
    srt_wire_relay_key(t.w, 4 * PAYLOAD + 1, message, TS_PACKET); /* from the previous data */
    assert_false(t.log->has_key);
    srt_wire_relay_end(t.w);
    srt_wire_take(t.w, now);
    assert_true(t.log->has_key && begins_with_tables(t.log, t.log->key));
    see_all(t.log, t.log->key);
    assert_int_equal(seen.jumps, 1);
    finish(&t);
}

static void who_sends_too_much_loses_the_oldest(void **state)
{
    struct wired t;

    (void)state;
    setup(&t, &settings);
    srt_wire_relay_begin(t.w);
    srt_wire_relay_put(t.w, ts_message(0), PAYLOAD, now);
    srt_wire_relay_key(t.w, PAYLOAD, message, TS_PACKET);
    for (unsigned i = 0; i < 20000; i++)
        srt_wire_relay_put(t.w, message, PAYLOAD, now);
    assert_false(t.log->has_key);
    assert_in_range(t.log->bytes, 7 << 20, 10 << 20);
    srt_wire_relay_end(t.w);
    finish(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_who_comes_begins_at_the_newest_key_frame),
        TEST(the_rest_of_a_packet_goes_with_its_turn),
        TEST(frames_of_a_turn_share_packets_but_a_key_frame_begins_one),
        TEST(tables_and_clocks_come_often),
        TEST(players_stay_when_the_publisher_changes),
        TEST(audio_alone_has_places_to_start_at),
        TEST(it_keeps_what_may_be_asked_for_again),
        TEST(without_cache_nothing_is_kept_for_who_joins),
        TEST(what_is_relayed_stays_as_it_came),
        TEST(players_are_told_that_a_relay_begins_and_ends),
        TEST(who_sends_too_much_loses_the_oldest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
