/* SPDX-License-Identifier: MIT */
/* test_live_reader.c - readers of packets, and formats with state. */
#include "live_players.h"

/* ---- counters of a sender */

static void test_format_that_remembers(void **state)
{
    struct live_source *src = source_begin(&live_defaults);
    struct live_consumer one = { 0 }, two = { 0 };
    struct iovec iov[4];

    (void)state;
    push_numbered(src, AV_VIDEO, false, true, 1, 44, 0);
    push_numbered(src, AV_VIDEO, true, false, 2, 500, 0);
    live_consumer_open(&one, src, &counting_format, no_param); /* knows the earlier configuration */
    push_numbered(src, AV_VIDEO, false, false, 3, 500, 40);
    push_numbered(src, AV_VIDEO, false, true, 4, 55, 80);
    push_numbered(src, AV_VIDEO, true, false, 5, 500, 80);
    live_consumer_open(&two, src, &counting_format, no_param); /* shares the wire */
    push_numbered(src, AV_VIDEO, false, false, 6, 500, 120);
    assert_int_equal(live_consumer_ranges(&one, iov, 4, false), 1);
    assert_int_equal(iov[0].iov_len, 8);
    assert_memory_equal(iov[0].iov_base, "\x00\x2c\x01\x00\x02\x37\x03\x00", 8);
    assert_int_equal(live_consumer_ranges(&two, iov, 4, false), 1);
    assert_int_equal(iov[0].iov_len, 4);
    assert_memory_equal(iov[0].iov_base, "\x02\x37\x03\x00", 4);
    live_consumer_close(&one);
    live_consumer_close(&two);
    source_end(src);
}

static unsigned read_all(struct live_reader *r, uint32_t *last)
{
    const struct av_packet *pkt;
    unsigned n = 0;

    while ((pkt = live_reader_next(r))) {
        memcpy(last, pkt->data, 4);
        n++;
    }
    return n;
}

static void test_reader(void **state)
{
    const struct av_packet *configs[LIVE_CONFIGS];
    struct live_settings set = live_defaults;
    struct live_source_stat stat;
    struct live_reader r = { 0 }, idle = { 0 };
    struct live_source *src;
    uint32_t last = 0;
    co_usec waited;

    (void)state;
    set.max_bytes = 100000;
    src = source_begin(&set);
    push_numbered(src, AV_VIDEO, false, true, 1, 50, 0);
    push_numbered(src, AV_VIDEO, true, false, 2, 500, 0);
    live_reader_open(&r, src);
    live_reader_open(&idle, src);
    assert_int_equal(live_reader_configs(&r, configs, LIVE_CONFIGS), 1);
    push_numbered(src, AV_VIDEO, false, false, 3, 500, 40);
    assert_int_equal(read_all(&r, &last), 2);
    waited = co_now();
    assert_ok(live_reader_wait(&r, CO_MS(5)));
    assert_true(co_now() - waited >= CO_MS(4));
    for (uint32_t i = 4; i < 100; i++) /* new GOPs: unread packets stay */
        push_numbered(src, AV_VIDEO, i % 10 == 0, false, i, 500, i * 40);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 98);
    assert_int_equal(read_all(&r, &last), 96);
    for (uint32_t i = 100; i < 1000; i++) {
        push_numbered(src, AV_VIDEO, i % 10 == 0, false, i, 500, i * 40);
        live_source_stat(src, &stat);
        assert_true(stat.log_bytes <= set.max_bytes + 500);
    }
    live_source_end(src, &the_publisher); /* the publisher's end takes nothing from a reader */
    assert_true(read_all(&r, &last) > 150); /* 200 fit, except those before its possible start */
    assert_int_equal(last, 999);
    assert_true(r.dropped > 0 && idle.dropped == 0);
    (void)read_all(&idle, &last);
    assert_true(idle.dropped > 0);
    assert_true(live_reader_done(&r) && live_reader_done(&idle));
    live_reader_close(&r);
    live_reader_close(&idle);
    source_end(src);
}

/* The publisher ends, the next one begins at once, and the reader is slow. */
static void test_a_reader_reads_to_the_end_of_its_publisher(void **state)
{
    const struct av_packet *configs[LIVE_CONFIGS];
    struct live_source *src = source_begin(&live_defaults);
    struct live_reader slow = { 0 }, next = { 0 }, moved = { 0 };
    struct live_source_stat stat;
    uint32_t last = 0;

    (void)state;
    push_numbered(src, AV_VIDEO, false, true, 1, 50, 0);
    push_numbered(src, AV_VIDEO, true, false, 2, 500, 0);
    live_reader_open(&slow, src);
    for (uint32_t i = 3; i < 10; i++)
        push_numbered(src, AV_VIDEO, i == 8, false, i, 500, i * 40);
    push_numbered(src, AV_VIDEO, false, true, 10, 60, 400);
    push_numbered(src, AV_VIDEO, true, false, 11, 500, 400);
    live_source_end(src, &the_publisher);
    assert_true(live_reader_ended(&slow) && !live_reader_done(&slow));
    assert_ok(live_reader_wait(&slow, CO_FOREVER)); /* no more are collected */

    assert_ok(live_source_begin(src, &the_publisher, &takeover_stale));
    live_reader_open(&next, src);
    push_numbered(src, AV_VIDEO, false, true, 21, 70, 0);
    for (uint32_t i = 22; i < 30; i++)
        push_numbered(src, AV_VIDEO, i == 22, false, i, 500, i * 40);
    live_reader_move(&moved, &next);
    live_reader_close(&next);

    assert_ptr_not_equal(live_reader_next(&slow), NULL);
    assert_int_equal(live_reader_configs(&slow, configs, LIVE_CONFIGS), 1);
    assert_int_equal(configs[0]->size, 60); /* as far as known, and never the next publisher's */
    assert_int_equal(read_all(&slow, &last), 9);
    assert_int_equal(last, 11);
    assert_true(live_reader_done(&slow) && slow.dropped == 0);
    (void)live_reader_configs(&slow, configs, LIVE_CONFIGS);
    assert_int_equal(configs[0]->size, 60);
    assert_int_equal(read_all(&moved, &last), 8);
    assert_int_equal(last, 29);
    (void)live_reader_configs(&moved, configs, LIVE_CONFIGS);
    assert_int_equal(configs[0]->size, 70);

    push_numbered(src, AV_VIDEO, true, false, 30, 500, 1200); /* a finished reader keeps nothing */
    push_numbered(src, AV_VIDEO, true, false, 31, 500, 1240);
    (void)read_all(&moved, &last);
    push_numbered(src, AV_VIDEO, true, false, 32, 500, 1280);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 1);
    live_reader_close(&slow);
    live_reader_close(&moved);
    source_end(src);
}

/* Packets kept for a slow reader are freed when it has read them, even without a publisher. */
static void test_the_log_goes_with_its_last_reader(void **state)
{
    struct live_registry *r = live_registry_new();
    const struct live_memory *memory = live_registry_memory(r);
    struct live_source *src = source_registered(r, "a");
    struct live_reader slow = { 0 };
    struct live_source_stat stat;
    uint32_t last = 0;

    (void)state;
    live_reader_open(&slow, src);
    for (uint32_t i = 0; i < 40; i++)
        push_numbered(src, AV_VIDEO, i % 10 == 0, false, i, LIVE_DEFERRED_BYTES / 20, i * 40);
    live_source_end(src, &the_publisher);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 40);
    assert_int_equal(read_all(&slow, &last), 40);
    live_reader_close(&slow);
    live_source_stat(src, &stat);
    assert_int_equal(stat.log_packets, 0);
    assert_int_equal(memory->used, 0);
    (void)live_source_unref(src);
    live_registry_free(r);
    assert_int_equal(live_source_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_format_that_remembers), TEST(test_reader),
        TEST(test_a_reader_reads_to_the_end_of_its_publisher),
        TEST(test_the_log_goes_with_its_last_reader),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
