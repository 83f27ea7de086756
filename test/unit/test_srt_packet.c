/* SPDX-License-Identifier: MIT */
/* test_srt_packet.c - packets of SRT: headers, sequences, ACK, NAK, drop requests. */
#include "hex.h"
#include "proto/srt/packet.h"

#include <stdlib.h>

/* ---- sequences */

static void sequences_wrap(void **state)
{
    static const struct {
        uint32_t a, b;
        int32_t distance;
    } rows[] = {
        { 0, 0, 0 }, { 0, 1, 1 }, { 1, 0, -1 }, { 0x7fffffff, 0, 1 }, { 0, 0x7fffffff, -1 },
        { 0x7fffff00, 0x100, 0x200 }, { 0x100, 0x7fffff00, -0x200 },
        { 0, 0x3fffffff, 0x3fffffff }, { 0, 0x40000000, -0x40000000 },
        { 0x40000000, 0x7fffffff, 0x3fffffff },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(srt_seq_distance(rows[i].a, rows[i].b), rows[i].distance);
        assert_int_equal(srt_seq_add(rows[i].a, rows[i].distance), rows[i].b);
    }
}

/* ---- headers */

#define REST " 00012345 89abcdef"

static const struct {
    const char *name, *bytes;
    struct srt_packet want;
} headers[] = {
    { "data", "00000001 c0000001" REST, { .seq = 1, .position = 3, .message = 1 } },
    { "data, all that can be said", "7fffffff ffffffff" REST,
      { .seq = 0x7fffffff, .position = 3, .in_order = true, .key = 3, .retransmitted = true,
        .message = 0x3ffffff } },
    { "even key", "00000000 c8000002" REST, { .position = 3, .key = SRT_EVEN, .message = 2 } },
    { "odd key, retransmitted", "00000000 d4000002" REST,
      { .position = 3, .key = SRT_ODD, .retransmitted = true, .message = 2 } },
    { "the first of several", "00000005 80000007" REST, { .seq = 5, .position = 2, .message = 7 } },
    { "in order", "00000005 e0000007" REST,
      { .seq = 5, .position = 3, .in_order = true, .message = 7 } },
    { "handshake", "80000000 00000000" REST, { .control = true, .type = SRT_HANDSHAKE } },
    { "ACK", "80020000 00000011" REST, { .control = true, .type = SRT_ACK, .info = 0x11 } },
    { "keys", "ffff0003 00000000" REST,
      { .control = true, .type = SRT_EXTENSION, .subtype = SRT_KM_REQUEST } },
    { "of no type that there is", "8fffffff ffffffff" REST,
      { .control = true, .type = 0xfff, .subtype = 0xffff, .info = 0xffffffff } },
};

static void assert_same(const struct srt_packet *a, const struct srt_packet *b)
{
    assert_true(a->control == b->control && a->type == b->type && a->subtype == b->subtype);
    assert_true(a->seq == b->seq && a->position == b->position && a->in_order == b->in_order);
    assert_true(a->key == b->key && a->retransmitted == b->retransmitted && a->message == b->message);
    assert_true(a->info == b->info && a->time == 0x12345 && a->to == 0x89abcdef);
}

static void headers_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(headers); i++) {
        uint8_t bytes[SRT_HEADER + 3], out[SRT_HEADER];
        struct srt_packet p;

        print_message("  %s\n", headers[i].name);
        assert_int_equal(hex_bytes(headers[i].bytes, bytes, sizeof(bytes)), SRT_HEADER);
        assert_true(srt_packet_read(&p, bytes, sizeof(bytes)));
        assert_same(&p, &headers[i].want);
        assert_true(p.body == bytes + SRT_HEADER && p.size == 3);
        srt_packet_write(&p, out);
        assert_hex(out, sizeof(out), headers[i].bytes);
    }
}

/* On the heap, so that AddressSanitizer detects reads after the end. */
static void headers_cut(void **state)
{
    (void)state;
    for (size_t size = 0; size <= SRT_HEADER; size++) {
        uint8_t *bytes = calloc(1, size + !size);
        struct srt_packet p;

        assert_int_equal(srt_packet_read(&p, bytes, size), size == SRT_HEADER);
        assert_int_equal(p.size, 0);
        free(bytes);
    }
}

/* ---- ACK */

#define ACK_HEAD "00000065 00000bb8 000005dc 00001fff"
#define ACK_ALL ACK_HEAD " 00000064 000003e8 0001e240"

static void acks(void **state)
{
    static const struct {
        const char *bytes;
        struct srt_ack want; /* words 0: invalid */
    } rows[] = {
        { ACK_ALL, { 7, 101, 3000, 1500, 8191, 100, 1000, 123456 } },
        { ACK_ALL " 00000001", { 7, 101, 3000, 1500, 8191, 100, 1000, 123456 } },
        { ACK_HEAD " 00000064 000003e8", { 4, 101, 3000, 1500, 8191, 0, 0, 0 } },
        { ACK_HEAD, { 4, 101, 3000, 1500, 8191, 0, 0, 0 } },
        { "00000065 00000bb8", { .words = 1, .next = 101 } },
        { "7fffffff", { .words = 1, .next = 0x7fffffff } },
        { "80000000", { 0 } }, { "ffffffff", { 0 } }, { "000000", { 0 } }, { "", { 0 } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[64], out[28];
        size_t n = hex_bytes(rows[i].bytes, bytes, sizeof(bytes));
        struct srt_ack a;

        assert_int_equal(srt_ack_read(&a, bytes, n), rows[i].want.words > 0);
        if (rows[i].want.words == 0)
            continue;
        assert_memory_equal(&a, &rows[i].want, sizeof(a));
        assert_int_equal(srt_ack_write(&a, out), 4 * a.words);
        assert_memory_equal(out, bytes, 4 * a.words);
    }
}

/* ---- lists of missing packets */

static void naks(void **state)
{
    static const struct {
        const char *bytes, *want;
        bool wrong; /* the bytes after those read */
    } rows[] = {
        { "", "", false },
        { "00000005", "5-5", false },
        { "80000005 00000007", "5-7", false },
        { "80000005 00000005", "5-5", false },
        { "00000001 80000005 00000007 0000000a", "1-1 5-7 10-10", false },
        { "0000000a 00000001 0000000a", "10-10 1-1 10-10", false },
        { "fffffffe 00000001", "2147483646-1", false },
        { "80000000 3fffffff", "0-1073741823", false },
        { "80000000 40000000", "", true },  /* the first is after the last */
        { "80000007 00000005", "", true },
        { "80000005 80000007", "", true },  /* no end of a range */
        { "00000001 80000005", "1-1", true },
        { "00000001 800000", "1-1", true },
        { "00000001 8000000500000007 00", "1-1 5-7", true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[64];
        size_t n = hex_bytes(rows[i].bytes, bytes, sizeof(bytes)), len = 0;
        struct srt_nak_reader r;
        struct srt_range range;
        char got[128] = "";

        srt_nak_begin(&r, bytes, n);
        while (srt_nak_next(&r, &range))
            len += (size_t)snprintf(got + len, sizeof(got) - len, "%s%u-%u", len ? " " : "",
                                    range.first, range.last);
        assert_string_equal(got, rows[i].want);
        assert_int_equal(r.at != r.end, rows[i].wrong);
        assert_false(srt_nak_next(&r, &range));
    }
}

static void naks_are_written(void **state)
{
    const struct srt_range one = { 5, 5 }, many = { 0x7ffffffe, 1 };
    uint8_t out[16];

    (void)state;
    assert_int_equal(srt_nak_put(&one, out, 3), 0);
    assert_int_equal(srt_nak_put(&one, out, 4), 4);
    assert_hex(out, 4, "00000005");
    assert_int_equal(srt_nak_put(&many, out, 7), 0);
    assert_int_equal(srt_nak_put(&many, out, 8), 8);
    assert_hex(out, 8, "fffffffe 00000001");
}

static void drop_requests(void **state)
{
    static const struct {
        const char *bytes;
        bool fine;
    } rows[] = {
        { "00000005 00000007", true }, { "00000005 00000005", true },
        { "7fffffff 00000001", true }, { "00000005 00000007 00000000", true },
        { "00000007 00000005", false }, { "80000005 00000007", false },
        { "00000005 80000007", false }, { "00000005 000000", false }, { "", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[16], out[8];
        size_t n = hex_bytes(rows[i].bytes, bytes, sizeof(bytes));
        struct srt_range r;

        assert_int_equal(srt_drop_read(&r, bytes, n), rows[i].fine);
        if (!rows[i].fine)
            continue;
        assert_int_equal(srt_drop_write(&r, out), 8);
        assert_memory_equal(out, bytes, 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sequences_wrap), TEST(headers_both_ways), TEST(headers_cut), TEST(acks), TEST(naks),
        TEST(naks_are_written), TEST(drop_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
