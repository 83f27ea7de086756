/* SPDX-License-Identifier: MIT */
/* test_wire_rtmfp.c - a live stream as RTMFP messages: their bytes, where players begin and
 * with what, what is kept for them, and changes of the publisher. */
#include "wire/rtmfp.h"

#include "publisher.h"

enum { AUDIO = 8, VIDEO = 9, DATA = 18, HEAD = 5 };

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_OFF, .gop_cache_max_frames = 100000,
    .queue_length = CO_SECONDS(30), .max_bytes = 64 << 20,
};
static co_usec now;
static size_t counted;

struct wired {
    struct live_source *src;
    struct rtmfp_wire *w;
};

static void setup(struct wired *t, const struct live_settings *set, size_t max_bytes)
{
    const struct rtmfp_wire_opts opts = { .max_bytes = max_bytes, .counter = &counted };

    now = co_now();
    t->src = live_begin(set);
    t->w = rtmfp_wire_new(t->src, &opts);
}

static void finish(struct wired *t)
{
    rtmfp_wire_free(t->w);
    assert_int_equal(counted, 0);
    live_end(t->src);
}

/* A message as it came over RTMP. */
static void push_origin(struct wired *t, uint8_t type, bool config, const void *body, size_t size,
                        int64_t ms)
{
    struct av_packet *pkt = av_packet_new(size);

    pkt->kind = type == AUDIO ? AV_AUDIO : type == VIDEO ? AV_VIDEO : AV_DATA;
    pkt->origin = type;
    pkt->config = config;
    memcpy(pkt->data, body, size);
    live_source_push(t->src, pkt, AV_MS(ms));
    (void)av_packet_unref(pkt);
}

static const struct rtmfp_message *message(struct wired *t, uint64_t number)
{
    assert_true(number >= rtmfp_wire_first(t->w) && number < rtmfp_wire_head(t->w));
    return rtmfp_wire_at(t->w, number)->message;
}

static uint32_t time_of(const struct rtmfp_message *m)
{
    return (uint32_t)m->bytes[1] << 24 | (uint32_t)m->bytes[2] << 16 | (uint32_t)m->bytes[3] << 8 |
           m->bytes[4];
}

/* ---- the tests */

static void bodies_of_rtmp_are_sent_as_they_came(void **state)
{
    static const struct {
        uint8_t type, kind;
        bool config, keep;
        const char *body;
        size_t size;
        int64_t ms;
    } rows[] = {
        { DATA, RTMFP_WIRE_DATA, true, true, "\x02\x00\x0aonMetaData", 13, 0 },
        { VIDEO, RTMFP_WIRE_VIDEO, true, true, "\x90hvc1abc", 8, 0 }, /* enhanced */
        { VIDEO, RTMFP_WIRE_VIDEO, false, false, "\x91hvc1....", 9, 40 },
        { AUDIO, RTMFP_WIRE_AUDIO, false, false, "\xaf\x01x", 3, 41 },
        { DATA, RTMFP_WIRE_DATA, false, true, "\x02\x00\x0aonCuePoint", 13, 50 },
        { AUDIO, RTMFP_WIRE_AUDIO, false, false, "", 0, 0x1234567 },
    };
    struct wired t;

    (void)state;
    setup(&t, &settings, 8 << 20);
    rtmfp_wire_wanted(t.w, true);
    rtmfp_wire_take(t.w, now);
    push_at(t.src, AV_H264, true, 0, 100); /* a reader begins at a key frame */
    for (size_t i = 0; i < COUNT(rows); i++)
        push_origin(&t, rows[i].type, rows[i].config, rows[i].body, rows[i].size, rows[i].ms);
    rtmfp_wire_take(t.w, now);
    assert_int_equal(rtmfp_wire_head(t.w), 1 + COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct rtmfp_wire_entry *e = rtmfp_wire_at(t.w, i + 1);

        assert_int_equal(e->message->bytes[0], rows[i].type);
        assert_int_equal(time_of(e->message), rows[i].ms);
        assert_int_equal(e->message->size, HEAD + rows[i].size);
        assert_memory_equal(e->message->bytes + HEAD, rows[i].body, rows[i].size);
        assert_int_equal(e->kind, rows[i].kind);
        assert_int_equal(e->keep, rows[i].keep);
        assert_false(e->key);
    }
    finish(&t);
}

static void frames_of_others_have_what_flv_puts_in_front(void **state)
{
    struct wired t;

    (void)state;
    setup(&t, &settings, 8 << 20);
    push_configs(t.src);
    rtmfp_wire_wanted(t.w, true);
    push_at(t.src, AV_H264, true, 40, 100);
    push_at(t.src, AV_AAC, false, 60, 50);
    rtmfp_wire_take(t.w, now);
    assert_int_equal(rtmfp_wire_head(t.w), 4);
    assert_memory_equal(message(&t, 0)->bytes + HEAD, "\x17\x00", 2); /* configurations first */
    assert_memory_equal(message(&t, 1)->bytes + HEAD, "\xaf\x00", 2);
    assert_memory_equal(message(&t, 2)->bytes, "\x09\x00\x00\x00\x28\x17\x01", 7);
    assert_memory_equal(message(&t, 3)->bytes, "\x08\x00\x00\x00\x3c\xaf\x01", 7);
    assert_true(rtmfp_wire_at(t.w, 2)->key && !rtmfp_wire_at(t.w, 3)->key);
    finish(&t);
}

/* Metadata twice: unchanged for players that announce Opus, without it for others. */
static void opus_is_for_who_announces_it(void **state)
{
    static const char metadata[] = "\2\0\012onMetaData\010\0\0\0\1"
                                   "\0\014audiocodecid\0\x41\xd3\xdc\x1d\x5c\xc0\0\0\0\0\011";
    static const struct { uint8_t player; size_t size; } rows[] = {
        { RTMFP_WIRE_ALL, 0 }, /* the key frame */
        { RTMFP_WIRE_NO_OPUS, sizeof(metadata) - 1 - 23 },
        { RTMFP_WIRE_OPUS, sizeof(metadata) - 1 },
        { RTMFP_WIRE_OPUS, 0 },
        { RTMFP_WIRE_ALL, 0 },
    };
    struct rtmfp_wire_entry v[8];
    struct wired t;

    (void)state;
    setup(&t, &settings, 8 << 20);
    rtmfp_wire_wanted(t.w, true);
    rtmfp_wire_take(t.w, now);
    push_at(t.src, AV_H264, true, 0, 100);
    push_origin(&t, DATA, true, metadata, sizeof(metadata) - 1, 0);
    push_at(t.src, AV_OPUS, false, 20, 50);
    push_at(t.src, AV_AAC, false, 40, 50);
    rtmfp_wire_take(t.w, now);
    assert_int_equal(rtmfp_wire_head(t.w), COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(rtmfp_wire_at(t.w, i)->player, rows[i].player);
        if (rows[i].size > 0)
            assert_int_equal(message(&t, i)->size, HEAD + rows[i].size);
    }
    assert_int_equal(rtmfp_wire_configs(t.w, COUNT(rows), v, COUNT(v)), 2); /* both metadata */
    assert_true(v[0].player == RTMFP_WIRE_NO_OPUS && v[1].player == RTMFP_WIRE_OPUS);
    finish(&t);
}

static void one_who_comes_begins_at_the_newest_key_frame(void **state)
{
    struct rtmfp_wire_entry v[8];
    struct wired t;
    uint64_t key = 99;

    (void)state;
    setup(&t, &settings, 8 << 20);
    push_configs(t.src);
    for (int i = 0; i < 25; i++)
        push_at(t.src, AV_H264, i % 10 == 0, i * 40, 900);
    rtmfp_wire_take(t.w, now);
    assert_int_equal(rtmfp_wire_head(t.w), 0); /* no player wanted it */
    assert_false(rtmfp_wire_join(t.w, &key));
    rtmfp_wire_wanted(t.w, true);
    rtmfp_wire_take(t.w, now);
    assert_true(rtmfp_wire_join(t.w, &key));
    assert_int_equal(key, 2);
    assert_int_equal(time_of(message(&t, key)), 800);
    assert_int_equal(rtmfp_wire_head(t.w), 2 + 5);
    assert_int_equal(rtmfp_wire_configs(t.w, key, v, COUNT(v)), 2);
    assert_int_equal(v[0].message->bytes[0], VIDEO);
    assert_int_equal(v[1].message->bytes[0], AUDIO);
    assert_int_equal(rtmfp_wire_configs(t.w, key, v, 1), 1);
    assert_int_equal(rtmfp_wire_configs(t.w, 0, v, COUNT(v)), 0);
    finish(&t);
}

static void a_key_frame_is_newer_than_all_before_it(void **state)
{
    struct wired t;
    uint64_t key = 0;

    (void)state;
    setup(&t, &settings, 8 << 20);
    push_configs(t.src);
    rtmfp_wire_wanted(t.w, true);
    for (int i = 0; i < 20; i++)
        push_at(t.src, AV_H264, i % 10 == 0, i * 40, 900);
    push_at(t.src, AV_H264, true, 760, 900); /* at the time of the last one */
    rtmfp_wire_take(t.w, now);
    assert_true(rtmfp_wire_join(t.w, &key));
    for (uint64_t n = 0; n + 1 < rtmfp_wire_head(t.w); n++)
        assert_true(message(&t, n)->created_at <= message(&t, n + 1)->created_at);
    assert_true(message(&t, key - 1)->created_at < message(&t, key)->created_at);
    finish(&t);
}

static void it_keeps_the_gop_and_the_current_configuration(void **state)
{
    struct rtmfp_wire_entry v[8];
    struct wired t;
    uint64_t key = 0;

    (void)state;
    setup(&t, &settings, 8 << 20);
    push_configs(t.src);
    rtmfp_wire_wanted(t.w, true);
    for (int i = 0; i < 205; i++) {
        if (i == 193) /* in the middle of the last GOP but one */
            push_config_at(t.src, AV_AAC, i * 40);
        push_at(t.src, AV_H264, i % 10 == 0, i * 40, 900);
        rtmfp_wire_take(t.w, now);
        assert_true(counted > 0);
        assert_true(rtmfp_wire_head(t.w) - rtmfp_wire_first(t.w) <= 13);
    }
    assert_true(rtmfp_wire_join(t.w, &key));
    assert_int_equal(key, rtmfp_wire_first(t.w));
    assert_int_equal(time_of(message(&t, key)), 8000);
    assert_int_equal(rtmfp_wire_configs(t.w, key, v, COUNT(v)), 2);
    assert_int_equal(time_of(v[1].message), 193 * 40); /* the newest one of its kind */
    rtmfp_wire_wanted(t.w, false);
    assert_int_equal(counted, 0);
    assert_int_equal(rtmfp_wire_first(t.w), rtmfp_wire_head(t.w));
    push_at(t.src, AV_H264, false, 8200, 900);
    rtmfp_wire_take(t.w, now);
    assert_int_equal(rtmfp_wire_first(t.w), rtmfp_wire_head(t.w));
    rtmfp_wire_wanted(t.w, true);
    rtmfp_wire_take(t.w, now);
    assert_true(rtmfp_wire_join(t.w, &key));
    assert_int_equal(time_of(message(&t, key)), 8000);
    assert_int_equal(rtmfp_wire_configs(t.w, key, v, COUNT(v)), 2);
    finish(&t);
}

static void without_cache_nothing_is_kept_for_who_joins(void **state)
{
    struct live_settings set = settings;
    struct wired t;
    uint64_t key;

    (void)state;
    set.gop_cache = false;
    setup(&t, &set, 8 << 20);
    push_configs(t.src);
    rtmfp_wire_wanted(t.w, true);
    for (int i = 0; i < 5; i++) {
        push_at(t.src, AV_H264, i == 0, i * 40, 900);
        rtmfp_wire_take(t.w, now);
    }
    assert_false(rtmfp_wire_join(t.w, &key));
    assert_int_equal(rtmfp_wire_first(t.w) + 1, rtmfp_wire_head(t.w)); /* data of this turn */
    finish(&t);
}

static void bytes_are_bounded(void **state)
{
    struct rtmfp_wire_entry v[8];
    struct wired t;
    uint64_t key;

    (void)state;
    setup(&t, &settings, 20000);
    push_configs(t.src);
    rtmfp_wire_wanted(t.w, true);
    for (int i = 0; i < 100; i++) { /* one long GOP */
        push_at(t.src, AV_H264, i == 0, i * 40, 900);
        rtmfp_wire_take(t.w, now);
        assert_in_range(counted, 1, 20000 + 300); /* 300: the current one */
    }
    assert_false(rtmfp_wire_join(t.w, &key));
    assert_int_equal(rtmfp_wire_first(t.w) + 1, rtmfp_wire_head(t.w)); /* useless without a key frame */
    push_at(t.src, AV_H264, true, 4000, 900);
    rtmfp_wire_take(t.w, now);
    assert_true(rtmfp_wire_join(t.w, &key));
    assert_int_equal(rtmfp_wire_configs(t.w, key, v, COUNT(v)), 2); /* long gone from the ring */
    push_at(t.src, AV_H264, false, 4040, 30000); /* alone more than that */
    rtmfp_wire_take(t.w, now);
    assert_int_equal(rtmfp_wire_first(t.w), rtmfp_wire_head(t.w));
    assert_in_range(counted, 1, 300);
    finish(&t);
}

static void players_stay_when_the_publisher_changes(void **state)
{
    struct rtmfp_wire_entry v[8];
    struct wired t;
    uint64_t key, before;

    (void)state;
    setup(&t, &settings, 8 << 20);
    push_configs(t.src);
    rtmfp_wire_wanted(t.w, true);
    push_at(t.src, AV_H264, true, 0, 500);
    rtmfp_wire_take(t.w, now);
    assert_int_equal(rtmfp_wire_began(t.w), 0);
    push_at(t.src, AV_H264, false, 40, 500); /* is still sent */
    live_source_end(t.src, &me);
    rtmfp_wire_take(t.w, now);
    rtmfp_wire_take(t.w, now);
    before = rtmfp_wire_head(t.w);
    assert_int_equal(before, 4);
    assert_false(rtmfp_wire_join(t.w, &key));
    assert_int_equal(rtmfp_wire_began(t.w), before);
    assert_ok(live_source_begin(t.src, &me, &rule));
    push_config(t.src, AV_H264);
    push_at(t.src, AV_H264, true, 80, 500);
    for (int i = 0; i < 3; i++) {
        rtmfp_wire_take(t.w, now);
        assert_true(rtmfp_wire_join(t.w, &key));
        assert_int_equal(key, before + 1);
        assert_int_equal(rtmfp_wire_configs(t.w, key, v, COUNT(v)), 1); /* no audio any more */
        assert_int_equal(v[0].message->bytes[0], VIDEO);
    }
    finish(&t);
}

static void a_turn_is_bounded(void **state)
{
    struct wired t;
    uint64_t head = 0;

    (void)state;
    setup(&t, &settings, 64 << 20);
    push_configs(t.src);
    rtmfp_wire_wanted(t.w, true);
    for (int i = 0; i < 300; i++)
        push_at(t.src, AV_H264, i == 0, i * 40, 10000);
    rtmfp_wire_take(t.w, now);
    assert_in_range(rtmfp_wire_head(t.w), 50, 200);
    for (int i = 0; i < 10 && head != rtmfp_wire_head(t.w); i++) {
        head = rtmfp_wire_head(t.w);
        rtmfp_wire_take(t.w, now);
    }
    assert_int_equal(head, 302);
    assert_int_equal(time_of(message(&t, 301)), 299 * 40);
    finish(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bodies_of_rtmp_are_sent_as_they_came),
        TEST(frames_of_others_have_what_flv_puts_in_front),
        TEST(opus_is_for_who_announces_it),
        TEST(one_who_comes_begins_at_the_newest_key_frame),
        TEST(a_key_frame_is_newer_than_all_before_it),
        TEST(it_keeps_the_gop_and_the_current_configuration),
        TEST(without_cache_nothing_is_kept_for_who_joins),
        TEST(bytes_are_bounded),
        TEST(players_stay_when_the_publisher_changes),
        TEST(a_turn_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
