/* SPDX-License-Identifier: MIT */
/* test_rtmp_chunk.c - messages from chunks, cut anywhere, and back. */
#include "rtmp_chunks.h"

#define BYTES(s) (s), sizeof(s) - 1

/* Pops all: one "type csid/stream @time +size first-byte" per message. */
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

/* Feeds the row in two pieces, the first of `cut` bytes, or in pieces of 1 if cut is SIZE_MAX. */
static void run_row(const struct rtmp_in_setup *setup, size_t i, size_t cut)
{
    char got[1024] = "";
    struct rtmp_in in;
    err_t err = NULL;
    size_t at = 0, size = rows[i].size;

    rtmp_in_init(&in, setup);
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

static void cut_everywhere(const struct rtmp_in_setup *setup)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        run_row(setup, i, SIZE_MAX);
        for (size_t cut = 0; cut < rows[i].size; cut++)
            run_row(setup, i, cut);
    }
}

static void test_rows_cut_everywhere(void **state)
{
    struct rtmp_in_setup head = chunk_setup;

    (void)state;
    cut_everywhere(&chunk_setup);
    head.head = head.at_once = 1; /* for audio and video only the byte that is compared is kept */
    cut_everywhere(&head);
}

static void test_nothing_is_left_of_an_unfinished_stream(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t cut = 0; cut < rows[i].size; cut++) {
            struct rtmp_in in;
            err_t err;

            rtmp_in_init(&in, &chunk_setup);
            err = rtmp_in_feed(&in, (const uint8_t *)rows[i].bytes, cut);
            err_free(&err);
            rtmp_in_fini(&in); /* including unread messages */
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

    rtmp_in_init(&in, &chunk_setup);
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

/* ---- all connections together */

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
    rtmp_in_init(&in, &chunk_setup);
    assert_ok(rtmp_in_feed(&in, zeros, 64));
    assert_false(rtmp_in_take_ack(&in, &seq)); /* it was not requested */
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
        TEST(test_acknowledgements), TEST(test_csid_by_type),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
