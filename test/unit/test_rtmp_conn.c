/* SPDX-License-Identifier: MIT */
/* test_rtmp_conn.c - a connection in memory: reading, answering, polling, sending. */
#include "io_mem.h"
#include "proto/rtmp/conn.h"
#include "rtmp_payloads.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rtmp_in_setup setup = {
    .alloc = count_alloc,
    .grow = count_grow,
    .release = count_release,
    .max_message_size = 1 << 20,
    .max_data_size = 1 << 20,
    .max_command_size = 1 << 20,
    .max_chunk_streams = 64,
    .max_inflight = 2 << 20,
    .at_once = 2 << 20,
};

/* Appends one message of `size` bytes 'x'. */
static void put_media(struct rtmp_conn *c, struct wr *w, uint8_t type, size_t size)
{
    struct wr body;

    wr_init(&body, 1 << 20);
    for (size_t i = 0; i < size; i++)
        wr_u8(&body, 'x');
    rtmp_conn_put(c, w, type, 1, &body);
    wr_free(&body);
}

/* Everything from a talkative peer in one piece. */
static void build_talk(struct wr *w)
{
    struct rtmp_conn peer = { .out_chunk_size = RTMP_CHUNK_SIZE };

    wr_init(w, 1 << 20);
    rtmp_conn_put_u32(&peer, w, RTMP_WINDOW_ACK_SIZE, 1000);
    rtmp_conn_put_event(&peer, w, RTMP_SET_BUFFER_LENGTH, 1, 2500);
    put_media(&peer, w, RTMP_AUDIO, 100);
    rtmp_conn_put_chunk_size(&peer, w, 4096);
    rtmp_conn_put_event(&peer, w, RTMP_PING_REQUEST, 77, 0);
    put_media(&peer, w, RTMP_VIDEO, 3000);
    rtmp_conn_put_bandwidth(&peer, w, 5000, RTMP_LIMIT_DYNAMIC);
    put_media(&peer, w, 99, 10);
    assert_ok(wr_err(w, "talk"));
}

static void test_read_answers_by_itself(void **state)
{
    static const size_t pieces[] = { 0, 1, 13, 1000 };
    struct wr talk;

    (void)state;
    build_talk(&talk);
    for (size_t i = 0; i < COUNT(pieces); i++) {
        static const uint8_t types[] = { RTMP_AUDIO, RTMP_VIDEO, 99 };
        uint8_t out[4096];
        struct rtmp_conn c;
        struct rtmp_msg m;
        struct rtmp_in in;
        struct io_mem io;
        bool acked;

        io_mem_init(&io, talk.buf, talk.len);
        io.piece = pieces[i];
        io.out = out;
        io.out_cap = sizeof(out);
        rtmp_conn_init(&c, &io.io, &setup);
        for (size_t k = 0; k < COUNT(types); k++) {
            assert_ok(rtmp_conn_read(&c, &m));
            assert_int_equal(m.type, types[k]);
            rtmp_conn_release(&c, &m);
            rtmp_conn_release(&c, &m);
        }
        assert_err(rtmp_conn_read(&c, &m), ERR_IO_CLOSED);
        assert_int_equal(c.in.window, 1000);
        assert_int_equal(c.in.chunk_size, 4096);
        rtmp_conn_fini(&c);

        rtmp_in_init(&in, &setup); /* its output */
        assert_ok(rtmp_in_feed(&in, out, io.out_size));
        assert_true(rtmp_in_next(&in, &m));
        assert_int_equal(m.type, RTMP_USER_CONTROL);
        assert_memory_equal(m.payload, "\x00\x07\x00\x00\x00\x4d", 6);
        count_release(m.payload);
        assert_false(rtmp_in_next(&in, &m));
        acked = in.peer_acked >= 500 && in.peer_acked <= talk.len;
        assert_true(acked);
        rtmp_in_fini(&in);
        assert_int_equal(payloads, 0);
    }
    wr_free(&talk);
}

static void test_cut_everywhere(void **state)
{
    struct wr talk;

    (void)state;
    build_talk(&talk);
    for (size_t cut = 0; cut < talk.len; cut++) {
        struct rtmp_conn c;
        struct rtmp_msg m;
        struct io_mem io;
        err_t err;

        io_mem_init(&io, talk.buf, cut);
        io.out_cap = SIZE_MAX;
        rtmp_conn_init(&c, &io.io, &setup);
        while (!(err = rtmp_conn_read(&c, &m)))
            rtmp_conn_release(&c, &m);
        assert_err(err, ERR_IO_CLOSED);
        rtmp_conn_fini(&c);
        assert_int_equal(payloads, 0);
    }
    wr_free(&talk);
}

static void test_a_failing_answer_ends_it(void **state)
{
    struct rtmp_conn c;
    struct rtmp_msg m;
    struct io_mem io;
    struct wr talk;
    err_t err;

    (void)state;
    build_talk(&talk);
    io_mem_init(&io, talk.buf, talk.len); /* out_cap is 0 */
    rtmp_conn_init(&c, &io.io, &setup);
    while (!(err = rtmp_conn_read(&c, &m)))
        rtmp_conn_release(&c, &m);
    assert_err(err, ERR_IO_RESET);
    rtmp_conn_fini(&c);
    assert_int_equal(payloads, 0);
    wr_free(&talk);
}

static void test_poll_sends_nothing_by_itself(void **state)
{
    struct rtmp_conn c;
    struct rtmp_msg m;
    struct io_mem io;
    struct wr talk;
    int n = 0;

    (void)state;
    build_talk(&talk);
    io_mem_init(&io, talk.buf, talk.len);
    io.piece = 700;
    io.out_cap = 1000;
    rtmp_conn_init(&c, &io.io, &setup);
    assert_false(rtmp_conn_pop(&c, &m));
    assert_false(rtmp_conn_has_replies(&c));
    while (io.in_size > 0) {
        assert_ok(rtmp_conn_poll(&c));
        while (rtmp_conn_pop(&c, &m)) {
            if (n++ == 1) { /* reads the returned bytes again */
                rtmp_conn_unread(&c, &m);
                assert_true(rtmp_conn_pop(&c, &m));
                assert_int_equal(m.type, RTMP_VIDEO);
            }
            rtmp_conn_release(&c, &m);
        }
    }
    assert_err(rtmp_conn_poll(&c), ERR_IO_CLOSED);
    assert_int_equal(n, 3);
    assert_int_equal(io.out_size, 0);
    assert_true(rtmp_conn_has_replies(&c));
    assert_ok(rtmp_conn_flush(&c));
    assert_int_equal(io.out_size, 16 + 18);
    assert_false(rtmp_conn_has_replies(&c));
    assert_ok(rtmp_conn_flush(&c));
    assert_int_equal(io.out_size, 16 + 18);
    rtmp_conn_fini(&c);
    assert_int_equal(payloads, 0);
    wr_free(&talk);
}

/* A player that stops at each `play` reads one message at a time. */
static void test_poll_reads_no_more_than_is_popped(void **state)
{
    enum { MESSAGES = 4000, SIZE = 40 };
    struct rtmp_conn peer = { .out_chunk_size = RTMP_CHUNK_SIZE }, c;
    struct rtmp_msg m;
    struct io_mem io;
    struct wr w;
    size_t most = 0;

    (void)state;
    wr_init(&w, 1 << 20);
    for (int i = 0; i < MESSAGES; i++)
        put_media(&peer, &w, RTMP_AUDIO, SIZE);
    io_mem_init(&io, w.buf, w.len);
    rtmp_conn_init(&c, &io.io, &setup);
    for (int i = 0; i < MESSAGES; i++) {
        size_t waiting;

        assert_ok(rtmp_conn_poll(&c));
        waiting = c.in.ready_end - c.in.ready_at;
        most = waiting > most ? waiting : most;
        assert_true(rtmp_conn_pop(&c, &m));
        rtmp_conn_release(&c, &m);
    }
    assert_err(rtmp_conn_poll(&c), ERR_IO_CLOSED);
    assert_in_range(most, 1, 65536 / SIZE);
    rtmp_conn_fini(&c);
    assert_int_equal(payloads, 0);
    wr_free(&w);
}

static void test_drain_takes_much_but_not_all(void **state)
{
    enum { MESSAGES = 1500, SIZE = 1000 };
    struct rtmp_conn peer = { .out_chunk_size = RTMP_CHUNK_SIZE }, c;
    struct rtmp_msg m;
    struct io_mem io;
    struct wr w;
    int n = 0, first;

    (void)state;
    wr_init(&w, 4 << 20);
    for (int i = 0; i < MESSAGES; i++)
        put_media(&peer, &w, RTMP_AUDIO, SIZE);
    io_mem_init(&io, w.buf, 65536); /* an end after a full read */
    rtmp_conn_init(&c, &io.io, &setup);
    assert_ok(rtmp_conn_drain(&c));
    assert_true(rtmp_conn_pop(&c, &m));
    rtmp_conn_release(&c, &m);
    assert_err(rtmp_conn_drain(&c), ERR_IO_CLOSED);
    rtmp_conn_fini(&c);

    io_mem_init(&io, w.buf, w.len);
    rtmp_conn_init(&c, &io.io, &setup);
    assert_ok(rtmp_conn_drain(&c));
    while (rtmp_conn_pop(&c, &m)) {
        n++;
        rtmp_conn_release(&c, &m);
    }
    first = n;
    assert_true(first > 900 && first < MESSAGES);
    assert_ok(rtmp_conn_drain(&c));
    while (rtmp_conn_pop(&c, &m)) {
        n++;
        rtmp_conn_release(&c, &m);
    }
    assert_int_equal(n, MESSAGES);
    assert_err(rtmp_conn_drain(&c), ERR_IO_CLOSED);
    rtmp_conn_fini(&c);
    assert_int_equal(payloads, 0);
    wr_free(&w);
}

static void test_forced_window(void **state)
{
    struct rtmp_conn c;
    struct io_mem io;

    (void)state;
    io_mem_init(&io, "", 0);
    rtmp_conn_init(&c, &io.io, &setup);
    c.in.bytes = 500;
    assert_false(rtmp_conn_has_replies(&c));
    rtmp_conn_force_window(&c, 1000);
    assert_true(rtmp_conn_has_replies(&c));
    c.in.window = 3000; /* the peer's own */
    rtmp_conn_force_window(&c, 1000);
    assert_false(rtmp_conn_has_replies(&c));
    rtmp_conn_fini(&c);
}

static void test_send_all_tells_what_went_wrong_before(void **state)
{
    struct wr out, body;
    struct rtmp_conn c;
    struct io_mem io;

    (void)state;
    io_mem_init(&io, "", 0);
    io.out_cap = 1000;
    rtmp_conn_init(&c, &io.io, &setup);
    wr_init(&out, 1000);
    wr_init(&body, 4);
    wr_bytes(&body, "12345", 5);
    rtmp_conn_put(&c, &out, RTMP_COMMAND, 0, &body);
    assert_err(rtmp_conn_send_all(&c, &out), ERR_TOO_LARGE);
    assert_int_equal(io.out_size, 0);
    wr_init(&out, 10);
    rtmp_conn_put_u32(&c, &out, RTMP_WINDOW_ACK_SIZE, 1);
    assert_err(rtmp_conn_send_all(&c, &out), ERR_TOO_LARGE);
    wr_init(&out, 10);
    assert_ok(rtmp_conn_send_all(&c, &out)); /* nothing to send */
    wr_free(&body);
    rtmp_conn_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_read_answers_by_itself), TEST(test_cut_everywhere),
        TEST(test_a_failing_answer_ends_it), TEST(test_poll_sends_nothing_by_itself),
        TEST(test_poll_reads_no_more_than_is_popped),
        TEST(test_drain_takes_much_but_not_all), TEST(test_forced_window),
        TEST(test_send_all_tells_what_went_wrong_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
