/* SPDX-License-Identifier: MIT */
/* test_rtmp_chunk.c - chunks to messages and back: rows, cut everywhere, limits, round trips. */
#include "proto/rtmp/chunk_in.h"
#include "proto/rtmp/chunk_out.h"
#include "rtmp_payloads.h"
#include "unit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(s) (s), sizeof(s) - 1

static const struct rtmp_in_setup setup = {
    .alloc = count_alloc,
    .grow = count_grow,
    .release = count_release,
    .max_message_size = 100000,
    .max_data_size = 50000,
    .max_command_size = 70000,
    .max_chunk_streams = 16,
    .max_inflight = 200000,
    .at_once = 200000,
};

/* Pop all: one "type csid/stream @time +size first-byte" per message. */
static size_t drain(struct rtmp_in *in, char *out, size_t at, size_t cap)
{
    struct rtmp_msg m;

    while (rtmp_in_next(in, &m)) {
        at += (size_t)snprintf(out + at, cap - at, "%u %u/%u @%u +%u %c|", m.type, m.csid,
                               m.stream_id, m.time, m.size, m.payload[0]);
        count_release(m.payload);
    }
    return at;
}

#define SIZE1 "\x02\x00\x00\x00\x00\x00\x04\x01\x00\x00\x00\x00" /* Set Chunk Size: then 4 bytes */
#define PAY4 "abcd"

static const struct {
    const char *name, *bytes;
    size_t size;
    enum err_code code;
    const char *want;
} rows[] = {
    { "fmt 0", BYTES("\x04\x00\x00\x64\x00\x00\x04\x08\x01\x00\x00\x00" PAY4), ERR_OK,
      "8 4/1 @100 +4 a|" },
    { "stream id is little-endian", BYTES("\x04\x00\x00\x00\x00\x00\x04\x08\x04\x03\x02\x01" PAY4),
      ERR_OK, "8 4/16909060 @0 +4 a|" },
    { "csid 2", BYTES("\x02\x00\x00\x00\x00\x00\x04\x63\x01\x00\x00\x00" PAY4), ERR_OK,
      "99 2/1 @0 +4 a|" },
    { "csid 63", BYTES("\x3f\x00\x00\x00\x00\x00\x04\x08\x01\x00\x00\x00" PAY4), ERR_OK,
      "8 63/1 @0 +4 a|" },
    { "csid 64", BYTES("\x00\x00\x00\x00\x00\x00\x00\x04\x08\x01\x00\x00\x00" PAY4), ERR_OK,
      "8 64/1 @0 +4 a|" },
    { "csid 64 in 3 bytes", BYTES("\x01\x00\x00\x00\x00\x00\x00\x00\x04\x08\x01\x00\x00\x00" PAY4),
      ERR_OK, "8 64/1 @0 +4 a|" },
    { "csid 319", BYTES("\x00\xff\x00\x00\x00\x00\x00\x04\x08\x01\x00\x00\x00" PAY4), ERR_OK,
      "8 319/1 @0 +4 a|" },
    { "csid 320", BYTES("\x01\x00\x01\x00\x00\x00\x00\x00\x04\x08\x01\x00\x00\x00" PAY4), ERR_OK,
      "8 320/1 @0 +4 a|" },
    { "csid 65599", BYTES("\x01\xff\xff\x00\x00\x00\x00\x00\x04\x08\x01\x00\x00\x00" PAY4), ERR_OK,
      "8 65599/1 @0 +4 a|" },
    { "fmt 1, 2, 3 after fmt 0",
      BYTES("\x04\x00\x00\x64\x00\x00\x04\x08\x01\x00\x00\x00" PAY4
            "\x44\x00\x00\x0a\x00\x00\x02\x09" "ef" "\x84\x00\x00\x14" "gh" "\xc4" "ij"), ERR_OK,
      "8 4/1 @100 +4 a|9 4/1 @110 +2 e|9 4/1 @130 +2 g|9 4/1 @150 +2 i|" },
    { "fmt 3 after fmt 0 has its time as delta",
      BYTES("\x04\x00\x00\x64\x00\x00\x04\x08\x01\x00\x00\x00" PAY4 "\xc4" "efgh\xc4" "ijkl"),
      ERR_OK, "8 4/1 @100 +4 a|8 4/1 @200 +4 e|8 4/1 @300 +4 i|" },
    { "fresh fmt 1, as a ping", BYTES("\x42\x00\x00\x00\x00\x00\x06\x04\x00\x07\x00\x00\x00\x01"),
      ERR_OK, "4 2/0 @0 +6 \0|" },
    { "fresh fmt 2", BYTES("\x84\x00\x00\x00"), ERR_RTMP_CHUNK, "" },
    { "fresh fmt 3", BYTES("\xc4\x00"), ERR_RTMP_CHUNK, "" },
    { "two chunks", BYTES(SIZE1 "\x00\x00\x00\x02"
      "\x04\x00\x00\x64\x00\x00\x03\x08\x01\x00\x00\x00" "ab\xc4" "c"), ERR_OK,
      "8 4/1 @100 +3 a|" },
    { "chunks of 1", BYTES(SIZE1 "\x00\x00\x00\x01"
      "\x04\x00\x00\x64\x00\x00\x03\x08\x01\x00\x00\x00" "a\xc4" "b\xc4" "c"), ERR_OK,
      "8 4/1 @100 +3 a|" },
    { "interleaved, chunk size changes in the middle", BYTES(SIZE1 "\x00\x00\x00\x02"
      "\x04\x00\x00\x64\x00\x00\x06\x08\x01\x00\x00\x00" "ab"
      "\x06\x00\x00\x65\x00\x00\x06\x09\x01\x00\x00\x00" "AB" "\xc4" "cd"
      "\x42\x00\x00\x00\x00\x00\x04\x01\x00\x00" "\xc2\x00\x04" "\xc6" "CDEF" "\xc4" "ef"), ERR_OK,
      "9 6/1 @101 +6 A|8 4/1 @100 +6 a|" },
    { "the same header again goes on", BYTES(SIZE1 "\x00\x00\x00\x02"
      "\x04\x00\x00\x64\x00\x00\x03\x08\x01\x00\x00\x00" "ab"
      "\x04\x00\x00\x64\x00\x00\x03\x08\x01\x00\x00\x00" "c"), ERR_OK, "8 4/1 @100 +3 a|" },
    { "length changes in the middle", BYTES(SIZE1 "\x00\x00\x00\x02"
      "\x04\x00\x00\x64\x00\x00\x03\x08\x01\x00\x00\x00" "ab"
      "\x04\x00\x00\x64\x00\x00\x04\x08\x01\x00\x00\x00" "cd"), ERR_RTMP_CHUNK, "" },
    { "length changes in the middle by fmt 1", BYTES(SIZE1 "\x00\x00\x00\x02"
      "\x04\x00\x00\x64\x00\x00\x03\x08\x01\x00\x00\x00" "ab"
      "\x44\x00\x00\x64\x00\x00\x01\x08" "c"), ERR_RTMP_CHUNK, "" },
    { "extended", BYTES("\x04\xff\xff\xff\x00\x00\x04\x08\x01\x00\x00\x00\x01\x00\x00\x00" PAY4),
      ERR_OK, "8 4/1 @16777216 +4 a|" },
    { "extended of exactly ffffff",
      BYTES("\x04\xff\xff\xff\x00\x00\x04\x08\x01\x00\x00\x00\x00\xff\xff\xff" PAY4), ERR_OK,
      "8 4/1 @16777215 +4 a|" },
    { "extended, 32 bits",
      BYTES("\x04\xff\xff\xff\x00\x00\x04\x08\x01\x00\x00\x00\xff\xff\xff\xff" PAY4), ERR_OK,
      "8 4/1 @4294967295 +4 a|" },
    { "extended, repeated in fmt 3", BYTES(SIZE1 "\x00\x00\x00\x02"
      "\x04\xff\xff\xff\x00\x00\x05\x08\x01\x00\x00\x00\x01\x00\x00\x00" "ab"
      "\xc4\x01\x00\x00\x00" "cd" "\xc4\x01\x00\x00\x00" "e"
      "\x44\x00\x00\x05\x00\x00\x01\x08" "f"),
      ERR_OK, "8 4/1 @16777216 +5 a|8 4/1 @16777221 +1 f|" },
    { "extended, 31 bits of it repeated", BYTES(SIZE1 "\x00\x00\x00\x02"
      "\x04\xff\xff\xff\x00\x00\x03\x08\x01\x00\x00\x00\x81\x00\x00\x00" "ab"
      "\xc4\x01\x00\x00\x00" "c" "\x04\x00\x00\x05\x00\x00\x01\x08\x01\x00\x00\x00" "f"),
      ERR_OK, "8 4/1 @2164260864 +3 a|8 4/1 @5 +1 f|" },
    { "extended, not repeated in fmt 3", BYTES(SIZE1 "\x00\x00\x00\x02"
      "\x04\xff\xff\xff\x00\x00\x07\x08\x01\x00\x00\x00\x01\x00\x00\x00" "ab"
      "\xc4" "cd" "\xc4" "ef" "\xc4" "g" "\x44\x00\x00\x05\x00\x00\x01\x08" "h"),
      ERR_OK, "8 4/1 @16777216 +7 a|8 4/1 @16777221 +1 h|" },
    { "extended, not repeated, payload begins like it", BYTES(SIZE1 "\x00\x00\x00\x02"
      "\x04\xff\xff\xff\x00\x00\x09\x08\x01\x00\x00\x00\x01\x00\x00\x00" "ab"
      "\xc4\x01\x00\xc4\x00\x00\xc4\x01\x00\xc4" "c" "\x44\x00\x00\x05\x00\x00\x01\x08" "h"),
      ERR_OK, "8 4/1 @16777216 +9 a|8 4/1 @16777221 +1 h|" },
    { "extended delta wraps backwards",
      BYTES("\x04\x00\x00\x64\x00\x00\x04\x08\x01\x00\x00\x00" PAY4
            "\x84\xff\xff\xff\xff\xff\xff\xf6" "efgh"), ERR_OK,
      "8 4/1 @100 +4 a|8 4/1 @90 +4 e|" },
    { "extended delta, fmt 3 repeats it",
      BYTES("\x04\x00\x00\x64\x00\x00\x04\x08\x01\x00\x00\x00" PAY4
            "\x84\xff\xff\xff\x01\x00\x00\x00" "efgh\xc4\x01\x00\x00\x00" "ijkl"), ERR_OK,
      "8 4/1 @100 +4 a|8 4/1 @16777316 +4 e|8 4/1 @33554532 +4 i|" },
    { "extended, fmt 3 begins a message at a time of its own",
      BYTES("\x04\xff\xff\xff\x00\x00\x04\x08\x01\x00\x00\x00\x01\x00\x00\x00" PAY4
            "\xc4\x01\x00\x00\x28" "efgh"), ERR_OK,
      "8 4/1 @16777216 +4 a|8 4/1 @16777256 +4 e|" },
    { "extended and not any more",
      BYTES("\x04\xff\xff\xff\x00\x00\x04\x08\x01\x00\x00\x00\x01\x00\x00\x00" PAY4
            "\x84\x00\x00\x28" "efgh\xc4" "ijkl"), ERR_OK,
      "8 4/1 @16777216 +4 a|8 4/1 @16777256 +4 e|8 4/1 @16777296 +4 i|" },
    { "time wraps at 32 bits",
      BYTES("\x04\xff\xff\xff\x00\x00\x01\x08\x01\x00\x00\x00\xff\xff\xff\xff" "a"
            "\x84\x00\x00\x28" "b"), ERR_OK, "8 4/1 @4294967295 +1 a|8 4/1 @39 +1 b|" },
    { "no bytes are no message",
      BYTES("\x04\x00\x00\x64\x00\x00\x00\x08\x01\x00\x00\x00"
            "\x44\x00\x00\x0a\x00\x00\x02\x09" "ef" "\x44\x00\x00\x0a\x00\x00\x00\x09\xc4\xc4"),
      ERR_OK, "9 4/1 @110 +2 e|" },
    { "aborted", BYTES(SIZE1 "\x00\x00\x00\x02"
      "\x04\x00\x00\x64\x00\x00\x04\x08\x01\x00\x00\x00" "ab"
      "\x02\x00\x00\x00\x00\x00\x04\x02\x00\x00\x00\x00\x00\x00" "\xc2\x00\x04"
      "\x04\x00\x00\x65\x00\x00\x01\x08\x01\x00\x00\x00" "c"), ERR_OK, "8 4/1 @101 +1 c|" },
    { "aborts what is not there", BYTES(
      "\x02\x00\x00\x00\x00\x00\x04\x02\x00\x00\x00\x00\x00\x00\x00\x09"
      "\x04\x00\x00\x65\x00\x00\x01\x08\x01\x00\x00\x00" "c"), ERR_OK, "8 4/1 @101 +1 c|" },
    { "chunk size 0", BYTES(SIZE1 "\x00\x00\x00\x00"), ERR_RTMP_CHUNK, "" },
    { "chunk size 0 and the first bit", BYTES(SIZE1 "\x80\x00\x00\x00"), ERR_RTMP_CHUNK, "" },
    { "chunk size of 2 GB", BYTES(SIZE1 "\x7f\xff\xff\xff"
      "\x04\x00\x00\x64\x00\x00\x04\x08\x01\x00\x00\x00" PAY4), ERR_OK, "8 4/1 @100 +4 a|" },
    { "chunk size of 3 bytes",
      BYTES("\x02\x00\x00\x00\x00\x00\x03\x01\x00\x00\x00\x00\x00\x00\x01"),
      ERR_RTMP_MSG_SIZE, "" },
    { "too large", BYTES("\x04\x00\x00\x64\x0f\xff\xff\x09\x01\x00\x00\x00" PAY4), ERR_TOO_LARGE,
      "" },
    { "an error behind a message", BYTES("\x04\x00\x00\x64\x00\x00\x04\x08\x01\x00\x00\x00" PAY4
      "\xc5\x00"), ERR_RTMP_CHUNK, "8 4/1 @100 +4 a|" },
    { "aggregate", BYTES("\x04\x00\x03\xe8\x00\x00\x20\x16\x01\x00\x00\x00"
      "\x08\x00\x00\x01\x00\x00\x0a\x00\x00\x00\x00" "a\x00\x00\x00\x0c"
      "\x09\x00\x00\x01\x00\x00\x1e\x00\x00\x00\x00" "b\x00\x00\x00\x0c"), ERR_OK,
      "8 4/1 @1000 +1 a|9 4/1 @1020 +1 b|" },
    { "aggregate with an empty and a foreign message",
      BYTES("\x04\x00\x03\xe8\x00\x00\x2f\x16\x01\x00\x00\x00"
      "\x08\x00\x00\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x0b"
      "\x01\x00\x00\x01\x00\x00\x0a\x00\x00\x00\x00" "a\x00\x00\x00\x0c"
      "\x09\x00\x00\x01\x00\x00\x1e\x00\x00\x00\x00" "b\x00\x00\x00\x0c"), ERR_OK,
      "9 4/1 @1020 +1 b|" },
    { "aggregate that lies", BYTES("\x04\x00\x03\xe8\x00\x00\x10\x16\x01\x00\x00\x00"
      "\x08\x00\x00\x02\x00\x00\x0a\x00\x00\x00\x00" "a\x00\x00\x00\x0c"), ERR_RTMP_CHUNK, "" },
};

/* Feed the row in two pieces, the first of `cut` bytes, or in pieces of 1 when cut is SIZE_MAX. */
static void run_row(size_t i, size_t cut)
{
    char got[1024] = "";
    struct rtmp_in in;
    err_t err = NULL;
    size_t at = 0, size = rows[i].size;

    rtmp_in_init(&in, &setup);
    for (size_t from = 0; from < size && !err;) {
        size_t n = cut == SIZE_MAX ? 1 : from == 0 && cut > 0 ? cut : size - from;
        uint8_t *exact = malloc(n);

        memcpy(exact, rows[i].bytes + from, n);
        err = rtmp_in_feed(&in, exact, n);
        free(exact);
        at = drain(&in, got, at, sizeof(got));
        from += n;
    }
    if (strcmp(got, rows[i].want) != 0)
        fail_msg("%s, cut %zd: %s, want %s", rows[i].name, (ssize_t)cut, got, rows[i].want);
    if (err_code(err) != rows[i].code)
        fail_msg("%s, cut %zd: error %d", rows[i].name, (ssize_t)cut, err_code(err));
    if (err)
        assert_err(rtmp_in_feed(&in, (const uint8_t *)"", 1), ERR_RTMP_CHUNK);
    else
        assert_int_equal(in.inflight, 0);
    err_free(&err);
    rtmp_in_fini(&in);
    assert_int_equal(payloads, 0);
}

static void test_rows_cut_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        run_row(i, SIZE_MAX);
        for (size_t cut = 0; cut < rows[i].size; cut++)
            run_row(i, cut);
    }
}

static void test_nothing_is_left_of_an_unfinished_stream(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t cut = 0; cut < rows[i].size; cut++) {
            struct rtmp_in in;
            err_t err;

            rtmp_in_init(&in, &setup);
            err = rtmp_in_feed(&in, (const uint8_t *)rows[i].bytes, cut);
            err_free(&err);
            rtmp_in_fini(&in); /* with messages that nobody popped, too */
            assert_int_equal(payloads, 0);
        }
    }
}

static uint8_t *random_payload(size_t size)
{
    uint8_t *p = malloc(size ? size : 1);

    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)rand();
    return p;
}

static const uint32_t sizes[] = {
    1, 2, 127, 128, 129, 255, 256, 257, 4095, 4096, 4097, 60000, 99999,
};
static const uint32_t chunk_sizes[] = { 1, 2, 128, 129, 4096, 60000, RTMP_CHUNK_SIZE_MAX };
static const uint32_t times[] = {
    0, 1, 0xfffffe, 0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xffffffff,
};
static const uint32_t csids[] = { 2, 3, 63, 64, 319, 320, 65599 };

static void round_trip(const struct rtmp_msg *msg, uint32_t chunk_size, size_t piece)
{
    size_t n = rtmp_out_size(msg->csid, msg->time, msg->size, chunk_size);
    uint8_t *wire = malloc(n);
    struct rtmp_msg got;
    struct rtmp_in in;
    struct wr w;

    assert_int_equal(rtmp_out_render(wire, msg, chunk_size), n);
    wr_init(&w, n);
    rtmp_out_put(&w, msg, chunk_size);
    assert_int_equal(w.len, n);
    assert_memory_equal(w.buf, wire, n);
    wr_free(&w);

    rtmp_in_init(&in, &setup);
    in.chunk_size = chunk_size;
    for (size_t at = 0; at < n; at += piece)
        assert_ok(rtmp_in_feed(&in, wire + at, n - at < piece ? n - at : piece));
    assert_true(rtmp_in_next(&in, &got));
    assert_int_equal(got.type, msg->type);
    assert_int_equal(got.csid, msg->csid);
    assert_int_equal(got.stream_id, msg->stream_id);
    assert_int_equal(got.time, msg->time);
    assert_int_equal(got.size, msg->size);
    assert_memory_equal(got.payload, msg->payload, got.size);
    count_release(got.payload);
    assert_false(rtmp_in_next(&in, &got));
    rtmp_in_fini(&in);
    free(wire);
}

static void test_out_and_in_again(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        struct rtmp_msg msg = { .type = RTMP_VIDEO, .stream_id = 1, .size = sizes[s] };

        msg.payload = random_payload(msg.size);
        for (size_t k = 0; k < COUNT(chunk_sizes) * COUNT(times) * COUNT(csids); k++) {
            uint32_t chunk_size = chunk_sizes[k % COUNT(chunk_sizes)];

            if (msg.size / chunk_size > 4096)
                continue;
            msg.time = times[k / COUNT(chunk_sizes) % COUNT(times)];
            msg.csid = csids[k / COUNT(chunk_sizes) / COUNT(times)];
            round_trip(&msg, chunk_size, k % 3 == 0 && msg.size < 5000 ? 1 : 1000 + k);
        }
        free(msg.payload);
    }
    assert_int_equal(payloads, 0);
}

static void test_gathered_headers_are_the_same(void **state)
{
    struct rtmp_msg msg = { .type = RTMP_AUDIO, .csid = 7, .stream_id = 1, .time = 1 << 24,
                            .size = 300, .payload = random_payload(300) };
    uint8_t wire[400], head[RTMP_OUT_FIRST], next[RTMP_OUT_NEXT];
    size_t n = rtmp_out_render(wire, &msg, 128);

    (void)state;
    assert_int_equal(n, 12 + 4 + 300 + 2 * 5);
    assert_int_equal(rtmp_out_first(head, &msg), 16);
    assert_memory_equal(wire, head, 16);
    assert_int_equal(rtmp_out_next(next, 7, 1 << 24), 5);
    assert_memory_equal(wire + 16 + 128, next, 5);
    assert_memory_equal(wire + 16 + 128 + 5 + 128, next, 5);
    free(msg.payload);
    msg.size = 0;
    msg.payload = NULL;
    assert_int_equal(rtmp_out_render(wire, &msg, 128), rtmp_out_size(7, 1 << 24, 0, 128));
}

/* Begin a message of `size` on this chunk stream: its header and one byte. */
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
    rtmp_in_init(&in, &setup);
    in.chunk_size = 1;
    for (i = 0; i < 10000 && !err; i++)
        err = begin(&in, 100 + (i * 7919) % 10000, 10);
    assert_int_equal(i - 1, setup.max_chunk_streams - RTMP_IN_LOW);
    assert_err(err, ERR_TOO_MANY);
    rtmp_in_fini(&in);
    assert_int_equal(payloads, 0);
}

static void test_many_chunk_streams_work(void **state)
{
    struct rtmp_in_setup many = setup;
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
    assert_int_equal(in.ready_cap, 0); /* a large queue is given back */
    rtmp_in_fini(&in);
    assert_int_equal(payloads, 0);
}

static void test_sum_of_unfinished_messages_is_bounded(void **state)
{
    struct rtmp_in in;

    (void)state;
    rtmp_in_init(&in, &setup);
    in.chunk_size = 1;
    assert_ok(begin(&in, 3, 100000));
    assert_ok(begin(&in, 4, 99990));
    assert_ok(begin(&in, 5, 10));
    assert_int_equal(in.inflight, 200000);
    assert_err(begin(&in, 6, 2), ERR_TOO_LARGE);
    rtmp_in_fini(&in);
    assert_int_equal(payloads, 0);
}

/* What a header says is a claim: memory comes with the bytes, and none at all may be had. */
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
    struct rtmp_in_setup little = setup;

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
    struct rtmp_in_setup little = setup;

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
    struct rtmp_in_setup shared = setup;
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
    assert_ok(feed_claim(&innocent, 6, HOARD, HOARD)); /* the last one was there for the longest */
    assert_true(hoarder[HOARDERS - 1].evicted && !hoarder[0].evicted);
    assert_int_equal(pool.evicted, 1);
    assert_err(rtmp_in_feed(&hoarder[HOARDERS - 1], (const uint8_t *)"x", 1), ERR_TOO_LARGE);
    assert_true(rtmp_in_next(&innocent, &m)); /* it holds nothing any more */
    count_release(m.payload);
    assert_int_equal(pool.used, pool.limit - (HOARD - RTMP_IN_FREE));
    assert_false(small.evicted);
    assert_ok(rtmp_in_feed(&small, (const uint8_t *)"x", 1)); /* who is small is never asked */
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
    struct rtmp_in_setup shared = setup;
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

            rtmp_in_init(&in, &setup);
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
    rtmp_in_init(&in, &setup);
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
    struct rtmp_in_setup large = setup;
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

/* As many as there may be are not made at once, but as each is asked for; and in order with what
 * comes behind. */
static void test_aggregate_is_split_as_it_is_popped(void **state)
{
    enum { TAGS = 65536, TAG = 11 + 1 + 4 };
    struct rtmp_in_setup large = setup;
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

static void test_acknowledgements(void **state)
{
    static const uint8_t window[] =
        "\x02\x00\x00\x00\x00\x00\x04\x05\x00\x00\x00\x00\x00\x00\x00\x40"
        "\x42\x00\x00\x00\x00\x00\x04\x03\x00\x01\x00\x00";
    uint8_t zeros[64] = "\x04\x00\x00\x00\x00\x00\x34\x08\x00\x00\x00\x00";
    char text[1024];
    struct rtmp_in in;
    uint32_t seq = 0;

    (void)state;
    rtmp_in_init(&in, &setup);
    assert_ok(rtmp_in_feed(&in, zeros, 64));
    assert_false(rtmp_in_take_ack(&in, &seq)); /* nobody asked for it */
    assert_ok(rtmp_in_feed(&in, window, sizeof(window) - 1));
    assert_int_equal(in.window, 64);
    assert_int_equal(in.peer_acked, 65536);
    assert_true(rtmp_in_take_ack(&in, &seq));
    assert_int_equal(seq, 64 + sizeof(window) - 1);
    assert_false(rtmp_in_take_ack(&in, &seq));
    assert_ok(rtmp_in_feed(&in, zeros, 31));
    assert_false(rtmp_in_take_ack(&in, &seq));
    assert_ok(rtmp_in_feed(&in, zeros + 31, 1));
    assert_true(rtmp_in_take_ack(&in, &seq));
    in.bytes += UINT32_MAX;
    assert_true(rtmp_in_take_ack(&in, &seq));
    assert_int_equal(seq, (uint32_t)in.bytes);
    drain(&in, text, 0, sizeof(text));
    rtmp_in_fini(&in);
    assert_int_equal(payloads, 0);
}

static void test_csid_by_type(void **state)
{
    (void)state;
    assert_int_equal(rtmp_out_csid(RTMP_SET_CHUNK_SIZE), 2);
    assert_int_equal(rtmp_out_csid(RTMP_USER_CONTROL), 2);
    assert_int_equal(rtmp_out_csid(RTMP_COMMAND), 3);
    assert_int_not_equal(rtmp_out_csid(RTMP_AUDIO), rtmp_out_csid(RTMP_VIDEO));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows_cut_everywhere), TEST(test_nothing_is_left_of_an_unfinished_stream),
        TEST(test_out_and_in_again), TEST(test_gathered_headers_are_the_same),
        TEST(test_count_of_chunk_streams_is_bounded), TEST(test_many_chunk_streams_work),
        TEST(test_sum_of_unfinished_messages_is_bounded),
        TEST(test_memory_comes_with_the_bytes), TEST(test_no_memory_is_an_error),
        TEST(test_who_holds_the_most_for_the_longest_loses), TEST(test_who_asks_for_all_loses),
        TEST(test_metadata_and_commands_are_smaller), TEST(test_large_metadata_in_an_aggregate),
        TEST(test_aggregate_cannot_make_a_flood),
        TEST(test_aggregate_is_split_as_it_is_popped), TEST(test_acknowledgements),
        TEST(test_csid_by_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
