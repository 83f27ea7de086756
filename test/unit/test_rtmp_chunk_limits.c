/* SPDX-License-Identifier: MIT */
/* test_rtmp_chunk_limits.c - limits of chunk streams, messages and aggregates. */
#include "rtmp_chunks.h"

/* Begins a message of `size` on this chunk stream: its header and one byte. */
static err_t begin(struct rtmp_in *in, uint32_t csid, uint32_t size)
{
    struct rtmp_msg msg = { .type = RTMP_VIDEO, .csid = csid, .size = size };
    uint8_t head[RTMP_OUT_FIRST + 1] = { 0 };
    size_t n = rtmp_out_first(head, &msg);

    return rtmp_in_feed(in, head, n + 1);
}

static void test_count_of_chunk_streams_is_bounded(void **state)
{
    struct rtmp_in in;
    err_t err = NULL;
    uint32_t i;

    (void)state;
    rtmp_in_init(&in, &chunk_setup);
    in.chunk_size = 1;
    for (i = 0; i < 10000 && !err; i++)
        err = begin(&in, 100 + (i * 7919) % 10000, 10);
    assert_int_equal(i - 1, chunk_setup.max_chunk_streams - RTMP_IN_LOW);
    assert_err(err, ERR_TOO_MANY);
    rtmp_in_fini(&in);
    assert_int_equal(payloads, 0);
}

static void test_many_chunk_streams_work(void **state)
{
    struct rtmp_in_setup many = chunk_setup;
    struct rtmp_msg m;
    struct rtmp_in in;
    long left = 1000;

    (void)state;
    many.max_chunk_streams = 2000;
    rtmp_in_init(&in, &many);
    in.chunk_size = 1;
    for (uint32_t i = 0; i < 1000; i++)
        assert_ok(begin(&in, 8 + (i * 61) % 1000, 2));
    assert_int_equal(payloads, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        uint8_t next[RTMP_OUT_NEXT + 1] = { 0 };
        size_t n = rtmp_out_next(next, 8 + i, 0);

        assert_ok(rtmp_in_feed(&in, next, n + 1));
    }
    for (; rtmp_in_next(&in, &m); left--)
        count_release(m.payload);
    assert_int_equal(left, 0);
    assert_int_equal(in.ready_cap, 0); /* a large queue is freed */
    rtmp_in_fini(&in);
    assert_int_equal(payloads, 0);
}

static void test_sum_of_unfinished_messages_is_bounded(void **state)
{
    struct rtmp_in in;

    (void)state;
    rtmp_in_init(&in, &chunk_setup);
    in.chunk_size = 1;
    assert_ok(begin(&in, 3, 100000));
    assert_ok(begin(&in, 4, 99990));
    assert_ok(begin(&in, 5, 10));
    assert_int_equal(in.inflight, 200000);
    assert_err(begin(&in, 6, 2), ERR_TOO_LARGE);
    rtmp_in_fini(&in);
    assert_int_equal(payloads, 0);
}

/* A header's size is a claim: memory is allocated for received bytes only, and may be refused. */
static long refuse_from = LONG_MAX; /* bytes of one payload */

static size_t asked_most;

static uint8_t *picky_alloc(void *memory, size_t size)
{
    asked_most = size > asked_most ? size : asked_most;
    return (long)size >= refuse_from ? NULL : count_alloc(memory, size);
}

static uint8_t *picky_grow(uint8_t *payload, size_t size)
{
    asked_most = size > asked_most ? size : asked_most;
    return (long)size >= refuse_from ? NULL : count_grow(payload, size);
}

static err_t feed_claim(struct rtmp_in *in, uint32_t csid, uint32_t claim, size_t send)
{
    struct rtmp_msg msg = { .type = RTMP_VIDEO, .csid = csid, .size = claim };
    uint8_t *wire = calloc(1, RTMP_OUT_FIRST + send);
    size_t n = rtmp_out_first(wire, &msg);
    err_t err;

    in->chunk_size = RTMP_CHUNK_SIZE_MAX;
    for (size_t i = 0; i < send; i++)
        wire[n + i] = (uint8_t)(i * 7);
    err = rtmp_in_feed(in, wire, n);
    for (size_t at = 0; at < send && !err; at += 500)
        err = rtmp_in_feed(in, wire + n + at, send - at < 500 ? send - at : 500);
    free(wire);
    return err;
}

static void test_memory_comes_with_the_bytes(void **state)
{
    static const struct { uint32_t claim; size_t send, most; } rows_of_claims[] = {
        { 100, 10, 100 }, { 100000, 1, 1000 }, { 100000, 3000, 4000 }, { 100000, 99999, 100000 },
        { 100000, 100000, 100000 },
    };
    struct rtmp_in_setup little = chunk_setup;

    (void)state;
    little.alloc = picky_alloc;
    little.grow = picky_grow;
    little.at_once = 1000;
    for (size_t i = 0; i < COUNT(rows_of_claims); i++) {
        struct rtmp_msg m;
        struct rtmp_in in;

        asked_most = 0;
        rtmp_in_init(&in, &little);
        assert_ok(feed_claim(&in, 6, rows_of_claims[i].claim, rows_of_claims[i].send));
        assert_int_equal(asked_most, rows_of_claims[i].most);
        if (rtmp_in_next(&in, &m)) {
            assert_int_equal(in.inflight, 0);
            for (size_t k = 0; k < m.size; k++)
                assert_int_equal(m.payload[k], (uint8_t)(k * 7));
            count_release(m.payload);
        } else {
            assert_int_equal(in.inflight, asked_most);
        }
        rtmp_in_fini(&in);
        assert_int_equal(payloads, 0);
    }
}

static void test_no_memory_is_an_error(void **state)
{
    struct rtmp_in_setup little = chunk_setup;

    (void)state;
    little.alloc = picky_alloc;
    little.grow = picky_grow;
    little.at_once = 1000;
    for (refuse_from = 1; refuse_from < 200000; refuse_from *= 10) {
        struct rtmp_in in;

        rtmp_in_init(&in, &little);
        assert_err(feed_claim(&in, 6, 100000, 100000),
                   refuse_from > 100000 ? ERR_OK : ERR_NO_MEMORY);
        rtmp_in_fini(&in);
        assert_int_equal(payloads, 0);
    }
    refuse_from = LONG_MAX;
}

/* ---- all connections together */

enum { HOARDERS = 10, HOARD = 400 * 1000 };

static void count_eviction(struct rtmp_in *in)
{
    assert_true(in->evicted && in->inflight == 0);
}

static void test_who_holds_the_most_for_the_longest_loses(void **state)
{
    struct rtmp_in_pool pool = { .limit = HOARDERS * (HOARD - RTMP_IN_FREE) };
    struct rtmp_in_setup shared = chunk_setup;
    struct rtmp_in hoarder[HOARDERS], innocent, small;
    struct rtmp_msg m;

    (void)state;
    shared.pool = &pool;
    shared.at_once = 1000;
    shared.max_message_size = shared.max_inflight = 1 << 20;
    rtmp_in_init(&small, &shared);
    rtmp_in_init(&innocent, &shared);
    assert_ok(feed_claim(&small, 6, RTMP_IN_FREE, RTMP_IN_FREE - 1));
    for (int i = 0; i < HOARDERS; i++) {
        rtmp_in_init(&hoarder[i], &shared);
        hoarder[i].on_evict = count_eviction;
        assert_ok(feed_claim(&hoarder[i], 6, HOARD, HOARD - 1));
        hoarder[i].pooled_since -= CO_SECONDS(i + 1);
    }
    assert_int_equal(pool.used, pool.limit);
    assert_ok(feed_claim(&innocent, 6, HOARD, HOARD)); /* the last one existed longest */
    assert_true(hoarder[HOARDERS - 1].evicted && !hoarder[0].evicted);
    assert_int_equal(pool.evicted, 1);
    assert_err(rtmp_in_feed(&hoarder[HOARDERS - 1], (const uint8_t *)"x", 1), ERR_TOO_LARGE);
    assert_true(rtmp_in_next(&innocent, &m)); /* it holds nothing any more */
    count_release(m.payload);
    assert_int_equal(pool.used, pool.limit - (HOARD - RTMP_IN_FREE));
    assert_false(small.evicted);
    assert_ok(rtmp_in_feed(&small, (const uint8_t *)"x", 1)); /* small ones are never evicted */
    for (int i = 0; i < HOARDERS; i++)
        rtmp_in_fini(&hoarder[i]);
    rtmp_in_fini(&small);
    rtmp_in_fini(&innocent);
    assert_int_equal(pool.used, 0);
    assert_null(pool.members);
    assert_int_equal(payloads, 0);
}

static void test_who_asks_for_all_loses(void **state)
{
    struct rtmp_in_pool pool = { .limit = 10000 };
    struct rtmp_in_setup shared = chunk_setup;
    struct rtmp_in in;

    (void)state;
    shared.pool = &pool;
    shared.at_once = 1000;
    rtmp_in_init(&in, &shared);
    assert_err(feed_claim(&in, 6, 100000, 100000), ERR_TOO_LARGE);
    assert_int_equal(pool.evicted, 1);
    rtmp_in_fini(&in);
    assert_int_equal(pool.used, 0);
    assert_int_equal(payloads, 0);
}

static void test_metadata_and_commands_are_smaller(void **state)
{
    static const struct { uint8_t type; uint32_t limit; } limits[] = {
        { RTMP_COMMAND, 70000 }, { RTMP_COMMAND_AMF3, 70000 }, { RTMP_SHARED_OBJECT, 70000 },
        { RTMP_USER_CONTROL, 70000 }, { 99, 70000 }, { RTMP_DATA, 50000 },
        { RTMP_DATA_AMF3, 50000 }, { RTMP_AUDIO, 100000 }, { RTMP_VIDEO, 100000 },
        { RTMP_AGGREGATE, 100000 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(limits); i++) {
        for (uint32_t more = 0; more < 2; more++) {
            struct rtmp_msg msg = { .type = limits[i].type, .csid = 6,
                                    .size = limits[i].limit + more };
            uint8_t head[RTMP_OUT_FIRST];
            struct rtmp_in in;

            rtmp_in_init(&in, &chunk_setup);
            assert_err(rtmp_in_feed(&in, head, rtmp_out_first(head, &msg)),
                       more ? ERR_TOO_LARGE : ERR_OK);
            rtmp_in_fini(&in);
        }
    }
    assert_int_equal(payloads, 0);
}

static void test_large_metadata_in_an_aggregate(void **state)
{
    struct rtmp_msg msg = { .type = RTMP_AGGREGATE, .csid = 6, .size = 11 + 50001 + 4 };
    uint8_t *wire = malloc(msg.size + 1000);
    struct rtmp_in in;

    (void)state;
    msg.payload = calloc(1, msg.size);
    memcpy(msg.payload, "\x12\x00\xc3\x51", 4);
    rtmp_in_init(&in, &chunk_setup);
    in.chunk_size = RTMP_CHUNK_SIZE_MAX;
    assert_err(rtmp_in_feed(&in, wire, rtmp_out_render(wire, &msg, in.chunk_size)), ERR_TOO_LARGE);
    rtmp_in_fini(&in);
    assert_int_equal(payloads, 0);
    free(msg.payload);
    free(wire);
}

static void test_aggregate_cannot_make_a_flood(void **state)
{
    enum { TAGS = 65537, TAG = 11 + 1 + 4 };
    struct rtmp_in_setup large = chunk_setup;
    struct rtmp_msg msg = { .type = RTMP_AGGREGATE, .csid = 4, .size = TAGS * TAG };
    uint8_t *wire = malloc(TAGS * TAG + 100);
    struct rtmp_in in;

    (void)state;
    large.max_message_size = large.max_inflight = TAGS * TAG;
    msg.payload = calloc(TAGS, TAG);
    for (size_t i = 0; i < TAGS; i++)
        memcpy(msg.payload + i * TAG, "\x08\x00\x00\x01", 4);
    rtmp_in_init(&in, &large);
    in.chunk_size = RTMP_CHUNK_SIZE_MAX;
    assert_err(rtmp_in_feed(&in, wire, rtmp_out_render(wire, &msg, in.chunk_size)), ERR_TOO_MANY);
    rtmp_in_fini(&in);
    assert_int_equal(payloads, 0);
    free(msg.payload);
    free(wire);
}

/* The maximum number is not made at once, but on request; and in order with what
 * follows. */
static void test_aggregate_is_split_as_it_is_popped(void **state)
{
    enum { TAGS = 65536, TAG = 11 + 1 + 4 };
    struct rtmp_in_setup large = chunk_setup;
    struct rtmp_msg msg = { .type = RTMP_AGGREGATE, .csid = 4, .time = 5000, .size = TAGS * TAG };
    struct rtmp_msg behind = { .type = RTMP_VIDEO, .csid = 6, .size = 1 }, out;
    uint8_t *wire = malloc(TAGS * TAG + 200), byte = 0;
    size_t size;
    struct rtmp_in in;

    (void)state;
    large.max_message_size = large.max_inflight = TAGS * TAG;
    msg.payload = calloc(TAGS, TAG);
    for (size_t i = 0; i < TAGS; i++)
        memcpy(msg.payload + i * TAG, (uint8_t[]){ 8, 0, 0, 1, 0, (uint8_t)(i >> 8), (uint8_t)i }, 7);
    rtmp_in_init(&in, &large);
    in.chunk_size = RTMP_CHUNK_SIZE_MAX;
    size = rtmp_out_render(wire, &msg, in.chunk_size);
    behind.payload = &byte;
    size += rtmp_out_render(wire + size, &behind, in.chunk_size);
    for (unsigned all = 0; all < 2; all++) {
        assert_ok(rtmp_in_feed(&in, wire, size));
        assert_int_equal(payloads, 2);
        for (unsigned i = 0; i < (all ? TAGS : TAGS / 2); i++) {
            assert_true(rtmp_in_next(&in, &out));
            assert_int_equal(payloads, 3);
            assert_int_equal(out.time, 5000 + i);
            assert_int_equal(out.type, RTMP_AUDIO);
            large.release(out.payload);
        }
        if (!all) { /* it is closed in the middle */
            rtmp_in_fini(&in);
            assert_int_equal(payloads, 0);
            rtmp_in_init(&in, &large);
            in.chunk_size = RTMP_CHUNK_SIZE_MAX;
        }
    }
    assert_true(rtmp_in_next(&in, &out));
    assert_int_equal(out.type, RTMP_VIDEO);
    large.release(out.payload);
    assert_false(rtmp_in_next(&in, &out));
    assert_int_equal(payloads, 0);
    rtmp_in_fini(&in);
    free(msg.payload);
    free(wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_count_of_chunk_streams_is_bounded), TEST(test_many_chunk_streams_work),
        TEST(test_sum_of_unfinished_messages_is_bounded),
        TEST(test_memory_comes_with_the_bytes), TEST(test_no_memory_is_an_error),
        TEST(test_who_holds_the_most_for_the_longest_loses),
        TEST(test_who_asks_for_all_loses), TEST(test_metadata_and_commands_are_smaller),
        TEST(test_large_metadata_in_an_aggregate), TEST(test_aggregate_cannot_make_a_flood),
        TEST(test_aggregate_is_split_as_it_is_popped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
