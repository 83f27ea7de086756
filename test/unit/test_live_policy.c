/* SPDX-License-Identifier: MIT */
/* test_live_policy.c - what a stream keeps, where players start, and where late ones continue. */
#include "live/policy.h"
#include "unit.h"

#define CACHE { .gop_cache = true, .queue_length = CO_SECONDS(10), .max_bytes = 1000, \
                .gop_cache_max_frames = 100 }
static const struct live_settings cache = CACHE,
    no_cache = { .gop_cache = false, .queue_length = CO_SECONDS(10), .max_bytes = 1000 },
    any_group = { .gop_cache = true, .queue_length = CO_SECONDS(10), .max_bytes = 1000 };

static const struct {
    const char *name;
    const struct live_settings *set;
    struct live_kept log;
    bool drops, forgets;
} logs[] = {
    { "all seen, before the key frame", &cache,
      { .first = 1, .head = 9, .key = 5, .have_key = true, .unread = 9 }, true, false },
    { "the key frame is for who joins", &cache,
      { .first = 5, .head = 9, .key = 5, .have_key = true, .unread = 9 }, false, false },
    { "without cache it is not needed", &no_cache,
      { .first = 5, .head = 9, .key = 5, .have_key = true, .unread = 9 }, true, false },
    { "no key frame yet", &cache, { .first = 1, .head = 9, .unread = 9 }, true, false },
    { "nothing is there", &no_cache, { .first = 9, .head = 9, .unread = 9 }, false, false },
    { "a player has not seen it", &cache,
      { .first = 3, .head = 9, .key = 5, .have_key = true, .unread = 3 }, false, false },
    { "it has been seen, later ones have not", &cache,
      { .first = 2, .head = 9, .key = 5, .have_key = true, .unread = 3 }, true, false },
    { "queue_length is over", &cache,
      { .first = 3, .head = 9, .key = 5, .have_key = true, .unread = 3, .young = 4 }, true, false },
    { "it is as old as may be", &cache,
      { .first = 4, .head = 9, .key = 5, .have_key = true, .unread = 3, .young = 4 },
      false, false },
    { "too many bytes for who has not seen it", &cache,
      { .first = 3, .head = 9, .key = 5, .have_key = true, .unread = 3, .bytes = 1001 },
      true, true },
    { "as many bytes as may be", &cache,
      { .first = 3, .head = 9, .key = 5, .have_key = true, .unread = 3, .bytes = 1000 },
      false, false },
    { "too many bytes for the cache", &cache,
      { .first = 5, .head = 9, .key = 5, .have_key = true, .unread = 9, .bytes = 1001 },
      false, true },
    { "without cache there is nothing to forget", &no_cache,
      { .first = 9, .head = 9, .key = 5, .have_key = true, .unread = 9, .bytes = 1001 },
      false, false },
    { "a long GOP", &cache,
      { .first = 5, .head = 200, .key = 5, .have_key = true, .unread = 200, .gop_frames = 101 },
      false, true },
    { "as long as may be", &cache,
      { .first = 5, .head = 200, .key = 5, .have_key = true, .unread = 200, .gop_frames = 100 },
      false, false },
    { "of any length", &any_group,
      { .first = 5, .head = 9999, .key = 5, .have_key = true, .unread = 9999, .gop_frames = 9994 },
      false, false },
};

static void test_what_a_log_keeps(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(logs); i++) {
        print_message("  %s\n", logs[i].name);
        assert_int_equal(live_policy_drops(&logs[i].log, logs[i].set), logs[i].drops);
        assert_int_equal(live_policy_forgets(&logs[i].log, logs[i].set), logs[i].forgets);
    }
}

static const struct {
    const char *name;
    const struct live_settings *set;
    struct live_kept_block block;
    bool drops;
} blocks[] = {
    { "no player is in it", &cache, { .age = 0 }, true },
    { "a player is", &cache, { .in_use = true, .age = CO_SECONDS(10) }, false },
    { "for too long", &cache, { .in_use = true, .age = CO_SECONDS(10) + 1 }, true },
    { "there is too much of all", &cache, { .in_use = true, .bytes = 1001 }, true },
    { "who joins starts in it", &cache, { .has_key = true, .age = CO_SECONDS(99) }, false },
    { "but there is too much", &cache, { .has_key = true, .bytes = 1001 }, true },
    { "no player starts in the past", &no_cache, { .has_key = true }, true },
    { "no player starts, one is in it", &no_cache, { .has_key = true, .in_use = true }, false },
};

static void test_what_a_wire_keeps(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(blocks); i++) {
        print_message("  %s\n", blocks[i].name);
        assert_int_equal(live_policy_drops_block(&blocks[i].block, blocks[i].set), blocks[i].drops);
    }
}

static const struct {
    const char *name;
    struct live_span span;
    bool cached, at_key;
    uint64_t at;
} joins[] = {
    { "at the newest key frame", { 3, 5, true, 9 }, true, true, 5 },
    { "which is the oldest packet", { 5, 5, true, 9 }, true, true, 5 },
    { "without gop_cache at the next", { 3, 5, true, 9 }, false, false, 9 },
    { "no key frame yet", { 3, 0, false, 9 }, true, false, 9 },
    { "it was dropped", { 6, 5, true, 9 }, true, false, 9 },
};

static const struct {
    const char *name;
    struct live_span span;
    uint64_t at;
    enum live_position place;
} lates[] = {
    { "what is next is there", { 7, 9, true, 9 }, 7, LIVE_GO_ON },
    { "and is the key frame itself", { 7, 7, true, 9 }, 7, LIVE_GO_ON },
    { "to the newest key frame", { 7, 9, true, 9 }, 4, LIVE_AT_KEY },
    { "which is the next packet", { 3, 4, true, 9 }, 4, LIVE_AT_KEY },
    { "never back to an older one", { 3, 4, true, 9 }, 5, LIVE_WAIT },
    { "there is no key frame", { 7, 0, false, 9 }, 4, LIVE_WAIT },
};

static void test_where_a_cursor_goes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(joins); i++) {
        uint64_t at;

        print_message("  joins: %s\n", joins[i].name);
        assert_int_equal(live_policy_join(&joins[i].span, joins[i].cached, &at), joins[i].at_key);
        assert_int_equal(at, joins[i].at);
    }
    for (size_t i = 0; i < COUNT(lates); i++) {
        print_message("  is late: %s\n", lates[i].name);
        assert_int_equal(live_policy_late(&lates[i].span, lates[i].at), lates[i].place);
    }
}

/* One packet after the other, and the decision of the policy. */
struct step {
    enum av_kind kind;
    bool key, config;
    unsigned track;
    int64_t since_ms; /* since the last possible start; -1: there was none */
    bool starts;
};

static const struct {
    const char *name;
    int64_t audio_cache;
    struct step steps[6];
} starts[] = {
    { "key frames of video", 0,
      { { AV_VIDEO, false, false, 0, -1, false }, { AV_VIDEO, true, false, 0, -1, true },
        { AV_VIDEO, false, false, 0, 40, false }, { AV_AUDIO, false, false, 0, 5000, false },
        { AV_VIDEO, true, false, 0, 5000, true } } },
    { "configuration is none", 0,
      { { AV_VIDEO, true, true, 0, -1, false }, { AV_AUDIO, false, true, 0, -1, false },
        { AV_VIDEO, true, false, 0, -1, true } } },
    { "of the first track", 0,
      { { AV_VIDEO, true, false, 2, -1, true }, { AV_VIDEO, true, false, 1, 40, false },
        { AV_VIDEO, true, false, 2, 80, true } } },
    { "audio only, every half a second", 0,
      { { AV_AUDIO, false, false, 0, -1, true }, { AV_AUDIO, false, false, 0, 499, false },
        { AV_AUDIO, false, false, 0, 500, true }, { AV_DATA, false, false, 0, 9000, false } } },
    { "or every audio_cache", CO_SECONDS(2),
      { { AV_AUDIO, false, false, 0, -1, true }, { AV_AUDIO, false, false, 0, 1999, false },
        { AV_AUDIO, false, false, 0, 2000, true } } },
    { "time that goes back is no new place", 0,
      { { AV_AUDIO, false, false, 0, -1, true }, { AV_AUDIO, false, false, 0, -400, false } } },
    { "video that joins later", 0,
      { { AV_AUDIO, false, false, 0, -1, true }, { AV_VIDEO, false, false, 0, 600, false },
        { AV_AUDIO, false, false, 0, 700, false }, { AV_VIDEO, true, false, 0, 800, true } } },
    { "data alone", 0,
      { { AV_DATA, false, false, 0, -1, true }, { AV_DATA, false, false, 0, 100, false } } },
};

static void test_where_players_start(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(starts); i++) {
        struct live_settings set = CACHE;
        struct live_kinds seen = { 0 };

        print_message("  %s\n", starts[i].name);
        set.audio_cache = starts[i].audio_cache;
        for (const struct step *s = starts[i].steps; s < starts[i].steps + 6 && s->since_ms; s++) {
            struct av_packet pkt = { .kind = (uint8_t)s->kind, .key = s->key, .config = s->config,
                                     .track = (uint16_t)s->track };
            int64_t since = s->since_ms == -1 ? INT64_MAX : AV_MS(s->since_ms);

            assert_int_equal(live_policy_starts(&seen, &pkt, since, &set), s->starts);
        }
    }
}

/* In any order of arrival: young means younger than queue_length and a quarter of it. */
static void test_ages(void **state)
{
    static const co_usec steps[] = { 1, CO_MS(40), CO_SECONDS(1), CO_SECONDS(7), CO_SECONDS(60) };
    const co_usec queue = CO_SECONDS(10);

    (void)state;
    for (size_t i = 0; i < COUNT(steps); i++) {
        struct live_ages a = { 0 };
        co_usec begin = CO_SECONDS(1000), now = begin;

        for (uint64_t seq = 0; seq < 3000; seq++, now += steps[i]) {
            uint64_t young;

            live_ages_mark(&a, seq, now, queue);
            young = live_ages_young(&a, now, queue);
            assert_true(young <= seq);
            if (young > 0) /* the one before it came so long ago */
                assert_true(now - (begin + (co_usec)(young - 1) * steps[i]) > queue);
            /* and a much older one does not count */
            assert_true(now - (begin + (co_usec)young * steps[i]) <=
                        queue + queue / 4 + 2 * steps[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_a_log_keeps),
        TEST(test_what_a_wire_keeps),
        TEST(test_where_a_cursor_goes),
        TEST(test_where_players_start),
        TEST(test_ages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
