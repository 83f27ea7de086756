/* SPDX-License-Identifier: MIT */
/* test_rtp_feedback.c - feedback and extended reports, header extensions, retransmissions. */
#include "hex.h"
#include "proto/rtp/extensions.h"
#include "rtcp_reader.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { OURS = 0x01020304, THEIRS = 0x0a0b0c0d };

static struct rtcp_packet packet_of(const uint8_t *data, size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet p;

    rtcp_begin(&r, data, size);
    assert_true(rtcp_next(&r, &p));
    return p;
}

/* ---- NACK */

static const struct {
    const char *name;
    unsigned n;
    uint16_t seqs[8];
    const char *bytes; /* after the two sources */
} nacks[] = {
    { "one", 1, { 7 }, "00070000" },
    { "two neighbours", 2, { 7, 8 }, "00070001" },
    { "17 apart share a word no more", 3, { 7, 23, 24 }, "00078000 00180000" },
    { "over the wrap", 3, { 65535, 0, 15 }, "ffff8001" },
    { "two words", 4, { 1, 2, 100, 102 }, "00010001 00640002" },
    { "the same again", 2, { 5, 5 }, "00050000 00050000" },
};

static void test_nack(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(nacks); i++) {
        struct rtcp_packet p;
        struct rtcp_feedback f;
        struct wr w;
        uint16_t seq, more, got[64];
        unsigned n = 0;

        print_message("  %s\n", nacks[i].name);
        wr_init(&w, 200);
        rtcp_put_nack(&w, OURS, THEIRS, nacks[i].seqs, nacks[i].n);
        assert_hex(w.buf + 12, w.len - 12, nacks[i].bytes);
        p = packet_of(w.buf, w.len);
        assert_int_equal(p.ssrc, OURS);
        assert_true(rtcp_feedback(&p, &f));
        assert_true(f.kind == RTCP_NACK && f.media == THEIRS);
        while (rtcp_next_nack(&f, &seq, &more)) {
            got[n++] = seq;
            for (unsigned b = 0; b < 16; b++) {
                if (more >> b & 1)
                    got[n++] = (uint16_t)(seq + b + 1);
            }
        }
        assert_int_equal(n, nacks[i].n);
        assert_memory_equal(got, nacks[i].seqs, n * sizeof(got[0]));
        wr_free(&w);
    }
}

static void test_many_nacks(void **state)
{
    uint16_t seqs[400];
    struct wr w;

    (void)state;
    for (unsigned i = 0; i < COUNT(seqs); i++)
        seqs[i] = (uint16_t)(i * 20);
    wr_init(&w, 2000);
    rtcp_put_nack(&w, OURS, THEIRS, seqs, 0);
    assert_int_equal(w.len, 0);
    rtcp_put_nack(&w, OURS, THEIRS, seqs, COUNT(seqs));
    assert_int_equal(w.bad, 0);
    assert_int_equal(w.len, 12 + 250 * 4);
    (void)packet_of(w.buf, w.len);
    wr_free(&w);
}

/* ---- the others */

static void test_key_frames(void **state)
{
    struct rtcp_reader r;
    struct rtcp_packet p;
    struct rtcp_feedback f;
    struct wr w;
    uint32_t ssrc = 0;
    uint8_t number;

    (void)state;
    wr_init(&w, 200);
    rtcp_put_pli(&w, OURS, THEIRS);
    rtcp_put_fir(&w, OURS, THEIRS, 9);
    assert_hex(w.buf, w.len, "81ce0002 01020304 0a0b0c0d  84ce0004 01020304 00000000 0a0b0c0d "
               "09000000");
    rtcp_begin(&r, w.buf, w.len);
    assert_true(rtcp_next(&r, &p) && rtcp_feedback(&p, &f));
    assert_true(f.kind == RTCP_PLI && f.media == THEIRS);
    assert_true(rtcp_next(&r, &p) && rtcp_feedback(&p, &f));
    assert_true(f.kind == RTCP_FIR && rtcp_next_fir(&f, &ssrc, &number));
    assert_true(ssrc == THEIRS && number == 9 && !rtcp_next_fir(&f, &ssrc, &number));
    assert_false(rtcp_next(&r, &p));
    wr_free(&w);
}

static const struct {
    uint64_t bps, read;
    const char *bytes; /* encoded number */
} rembs[] = {
    { 0, 0, "01000000" },
    { 262143, 262143, "0103ffff" },
    { 262144, 262144, "01060000" },
    { 3000001, 3000000, "0112dc6c" },
    { UINT64_MAX, 0xffffc00000000000, "01bbffff" },
};

static void test_remb(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rembs); i++) {
        const uint32_t media = THEIRS;
        struct rtcp_packet p;
        struct rtcp_feedback f;
        struct wr w;
        uint64_t bps;

        wr_init(&w, 200);
        rtcp_put_remb(&w, OURS, rembs[i].bps, &media, 1);
        p = packet_of(w.buf, w.len);
        assert_true(rtcp_feedback(&p, &f) && f.kind == RTCP_REMB);
        assert_true(rtcp_remb(&f, &bps));
        assert_int_equal(bps, rembs[i].read);
        assert_hex(w.buf + 16, 4, rembs[i].bytes);
        wr_free(&w);
    }
}

static void test_remb_of_others(void **state)
{
    uint8_t bytes[32];
    size_t n = hex_bytes("8fce0004 01020304 00000000 52454d43 01020304", bytes, sizeof(bytes));
    struct rtcp_packet p = packet_of(bytes, n);
    struct rtcp_feedback f;
    uint64_t bps;

    (void)state;
    assert_true(rtcp_feedback(&p, &f));
    assert_false(rtcp_remb(&f, &bps));
    n = hex_bytes("8fce0004 01020304 00000000 52454d42 01ffffff", bytes, sizeof(bytes));
    p = packet_of(bytes, n);
    assert_true(rtcp_feedback(&p, &f) && rtcp_remb(&f, &bps));
    assert_true(bps == UINT64_MAX);
}

static void test_extended(void **state)
{
    struct rtcp_reader r;
    struct rtcp_packet p;
    struct wr w;
    uint64_t ntp = 0;
    uint32_t last = 0, delay = 0;

    (void)state;
    wr_init(&w, 200);
    rtcp_put_rrtr(&w, OURS, 0x1122334455667788);
    rtcp_put_dlrr(&w, OURS, THEIRS, 0x33445566, 65536);
    rtcp_begin(&r, w.buf, w.len);
    assert_true(rtcp_next(&r, &p));
    assert_true(rtcp_rrtr(&p, &ntp) && !rtcp_dlrr(&p, THEIRS, &last, &delay));
    assert_true(ntp == 0x1122334455667788);
    assert_true(rtcp_next(&r, &p));
    assert_false(rtcp_rrtr(&p, &ntp));
    assert_false(rtcp_dlrr(&p, OURS, &last, &delay));
    assert_true(rtcp_dlrr(&p, THEIRS, &last, &delay));
    assert_true(last == 0x33445566 && delay == 65536);
    wr_free(&w);
}

static void test_round_trip(void **state)
{
    const int64_t then = 1700000000000000, now = then + 1120000;
    const uint32_t sent = (uint32_t)(rtcp_ntp(then) >> 16);

    (void)state;
    assert_in_range(rtcp_round_trip(now, sent, 65536), 119900, 120100);
    assert_int_equal(rtcp_round_trip(now, 0, 0), 0);
    assert_int_equal(rtcp_round_trip(now, sent, 2 * 65536), 0); /* before it was sent */
}

/* Each cut at every byte: nothing is read past the end. */
static void read_all(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct rtcp_reader r;
    struct rtcp_packet p;
    struct rtcp_feedback f;
    struct rtcp_twcc t;
    uint32_t ssrc, a, b;
    uint16_t seq, more;
    uint8_t number;
    uint64_t v;
    int64_t at;
    bool came;

    memcpy(copy, data, size);
    rtcp_begin(&r, copy, size);
    while (rtcp_next(&r, &p)) {
        (void)rtcp_rrtr(&p, &v);
        (void)rtcp_dlrr(&p, 0, &a, &b);
        if (!rtcp_feedback(&p, &f))
            continue;
        (void)rtcp_remb(&f, &v);
        for (unsigned n = 0; rtcp_twcc_begin(&t, &f) && rtcp_twcc_next(&t, &seq, &came, &at); n++)
            if (n == 70000)
                break;
        while (rtcp_next_nack(&f, &seq, &more))
            ;
        while (rtcp_next_fir(&f, &ssrc, &number))
            ;
    }
    free(copy);
}

static const char *const compounds[] = {
    "81cd0004 01020304 0a0b0c0d 00010001 00640002", "84ce0004 01020304 00000000 0a0b0c0d 09000000",
    "8fce0005 01020304 00000000 52454d42 01030000 0a0b0c0d",
    "80cf0004 01020304 04000002 1122334455667788", "80cf0005 01020304 05000003 0a0b0c0d 33445566 00000000",
    "8fcd0005 01020304 0a0b0c0d 00640003 00000107 20030404 04000000",
    "8fcd0005 01020304 0a0b0c0d 0064ffff 00000107 00000000 00000000",
    "80cf0003 01020304 0400ffff 11223344",
};

static void test_cut(void **state)
{
    uint8_t bytes[64];

    (void)state;
    for (size_t i = 0; i < COUNT(compounds); i++) {
        size_t n = hex_bytes(compounds[i], bytes, sizeof(bytes));

        for (size_t cut = 0; cut <= n; cut++) {
            read_all(bytes, cut);
            if (cut >= 8) { /* the length is the size of the data */
                uint8_t short_one[64];

                memcpy(short_one, bytes, cut / 4 * 4);
                short_one[3] = (uint8_t)(cut / 4 - 1);
                read_all(short_one, cut / 4 * 4);
            }
        }
    }
}

/* ---- TWCC written by others */

static const struct {
    const char *name, *bytes; /* after the sources */
    bool fine;
    const char *want; /* "-" missing, else milliseconds after the reference */
} twccs[] = {
    { "a run", "0064 0003 000002 07 2003 040404 00", true, "1 2 3" },
    { "a run of missing ones", "0064 0002 000002 07 0002 0000", true, "- -" },
    { "one bit each", "0064 0004 000002 07 a800 0404 0000", true, "1 - 2 -" },
    { "two bits each", "0064 0003 000002 07 d200 04 0fa0 00", true, "1 - 1001" },
    { "two bits, back", "0064 0002 000002 07 d800 28 fff8", true, "10 8" },
    { "reserved", "0064 0002 000002 07 6002 0000", true, "- -" },
    { "a run of nothing", "0064 0002 000002 07 2000 0000", false, "" },
    { "more than chunks say", "0064 0009 000002 07 2003 0000", false, "" },
    { "times cut off", "0064 0008 000002 07 2008 0404", true, "1 2" },
};

static void test_twcc(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(twccs); i++) {
        uint8_t bytes[64];
        struct rtcp_feedback f = { .kind = RTCP_TWCC };
        struct rtcp_twcc t;
        char got[64] = "";
        uint16_t seq, next = 100;
        bool came;
        int64_t at;
        size_t n = hex_bytes(twccs[i].bytes, bytes, sizeof(bytes));

        print_message("  %s\n", twccs[i].name);
        f.rest = rd_init(bytes, n);
        assert_int_equal(rtcp_twcc_begin(&t, &f), twccs[i].fine);
        if (!twccs[i].fine)
            continue;
        while (rtcp_twcc_next(&t, &seq, &came, &at)) {
            char one[32] = "-";

            assert_int_equal(seq, next++);
            if (came)
                (void)snprintf(one, sizeof(one), "%d", (int)((at - 128000) / 1000));
            (void)strcat(got, *got ? " " : "");
            (void)strcat(got, one);
        }
        assert_string_equal(got, twccs[i].want);
    }
}

static void test_twcc_before_origin(void **state)
{
    uint8_t bytes[16];
    struct rtcp_feedback f = { .kind = RTCP_TWCC };
    struct rtcp_twcc t;
    size_t n = hex_bytes("0064 0001 ffffff 07 2001 0400", bytes, sizeof(bytes));

    (void)state;
    f.rest = rd_init(bytes, n);
    assert_true(rtcp_twcc_begin(&t, &f) && t.reference == -1 && t.number == 7);
}

/* ---- header extensions */

static const struct {
    const char *name;
    uint16_t profile;
    const char *bytes, *want; /* "id:size" */
    bool bad;
} extensions[] = {
    { "none", 0xbede, "", "", false },
    { "one", 0xbede, "30616263", "3:1", true }, /* 6 is of seven bytes */
    { "two and padding", 0xbede, "10aa 00 51bbcc 0000", "1:1 5:2", false },
    { "sixteen bytes", 0xbede, "1f 000102030405060708090a0b0c0d0e0f 000000", "1:16", false },
    { "past the end", 0xbede, "10aa 25bb", "1:1", true },
    { "15 ends it", 0xbede, "10aa f0bb 20cc 0000", "1:1", false },
    { "0 with a length", 0xbede, "02aabbcc", "", false },
    { "two bytes", 0x1000, "1001aa 0f00 00 1102bbcc", "16:1 15:0 17:2", false },
    { "two bytes, with flags", 0x100f, "1001aa 00", "16:1", false },
    { "two bytes, past the end", 0x1000, "1001aa 11 ff bbcc", "16:1", true },
    { "two bytes, no length", 0x1000, "1001aa 11", "16:1", true },
    { "another profile", 0x1234, "10aa0000", "", false },
};

static void test_extensions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(extensions); i++) {
        uint8_t bytes[64];
        char got[64] = "";
        struct rtp_packet p = { .profile = extensions[i].profile, .extension = bytes,
                                .payload = bytes };
        struct rtp_ext_reader r;
        struct rtp_ext e;

        print_message("  %s\n", extensions[i].name);
        p.extension_size = hex_bytes(extensions[i].bytes, bytes, sizeof(bytes));
        rtp_ext_begin(&r, &p);
        while (rtp_ext_next(&r, &e)) {
            char one[16];

            (void)snprintf(one, sizeof(one), "%s%u:%u", *got ? " " : "", e.id, e.size);
            (void)strcat(got, one);
        }
        assert_string_equal(got, extensions[i].want);
        assert_int_equal(r.r.bad, extensions[i].bad);
    }
}

static void test_no_extension(void **state)
{
    uint8_t bytes[RTP_HEADER];
    struct rtp_packet p;
    struct rtp_ext_reader r;
    struct rtp_ext e;

    (void)state;
    rtp_build(bytes, false, 96, 1, 2, 3);
    assert_true(rtp_parse(&p, bytes, sizeof(bytes)));
    rtp_ext_begin(&r, &p);
    assert_false(rtp_ext_next(&r, &e));
}

static const struct {
    const char *name;
    struct rtp_ext e[3];
    unsigned n;
    size_t room;
    const char *bytes;
} built[] = {
#define D(s) (const uint8_t *)(s)
    { "none", { { 0 } }, 0, 64, "" },
    { "one", { { 3, 1, D("a") } }, 1, 64, "bede0001 30610000" },
    { "two", { { 3, 2, D("ab") }, { 14, 1, D("c") } }, 2, 64, "bede0002 316162e0 63000000" },
    { "a large number", { { 15, 2, D("ab") } }, 1, 64, "10000001 0f026162" },
    { "a large one", { { 1, 17, D("0123456789abcdefg") } }, 1, 64,
      "10000005 0111 3031323334353637383961626364656667 00" },
    { "an empty one", { { 1, 0, D("") }, { 2, 1, D("x") } }, 2, 64, "10000002 0100 020178 000000" },
    { "no room", { { 3, 1, D("a") } }, 1, 7, "" },
    { "just room", { { 3, 1, D("a") } }, 1, 8, "bede0001 30610000" },
};

static void test_extensions_built(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(built); i++) {
        uint8_t out[64];
        size_t n = rtp_ext_build(out, built[i].room, built[i].e, built[i].n);
        struct rtp_packet p = { .extension = out + 4, .payload = out };
        struct rtp_ext_reader r;
        struct rtp_ext e;

        print_message("  %s\n", built[i].name);
        assert_hex(out, n, built[i].bytes);
        if (n == 0)
            continue;
        p.profile = (uint16_t)(out[0] << 8 | out[1]);
        p.extension_size = n - 4;
        rtp_ext_begin(&r, &p);
        for (unsigned k = 0; k < built[i].n; k++) {
            assert_true(rtp_ext_next(&r, &e) && e.id == built[i].e[k].id);
            assert_int_equal(e.size, built[i].e[k].size);
            assert_memory_equal(e.data, built[i].e[k].data, e.size);
        }
        assert_false(rtp_ext_next(&r, &e));
    }
}

/* ---- RTX */

static const struct {
    const char *name, *in, *out;
    size_t room;
} repeats[] = {
    { "plain", "80e10001 00000002 00000003 1234 616263", "80e01234 00000002 0a0b0c0d 616263", 64 },
    { "with an extension", "90610001 00000002 00000003 bede0001 10aa0000 1234 61",
      "90601234 00000002 0a0b0c0d bede0001 10aa0000 61", 64 },
    { "padded", "a0610001 00000002 00000003 1234 61 0002",
      "a0601234 00000002 0a0b0c0d 61 0002", 64 },
    { "of nothing", "80610001 00000002 00000003 1234", "80601234 00000002 0a0b0c0d", 64 },
    { "no number", "80610001 00000002 00000003 12", "", 64 },
    { "all padding", "a0610001 00000002 00000003 000003", "", 64 },
    { "no RTP", "80610001 00000002 000000", "", 64 },
    { "no room", "80610001 00000002 00000003 1234 616263", "", 14 },
    { "just room", "80610001 00000002 00000003 1234 616263",
      "80601234 00000002 0a0b0c0d 616263", 15 },
};

static void test_rtx(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(repeats); i++) {
        uint8_t in[64], out[64];
        size_t n = hex_bytes(repeats[i].in, in, sizeof(in));

        print_message("  %s\n", repeats[i].name);
        n = rtp_rtx_unwrap(out, repeats[i].room, in, n, 96, THEIRS);
        assert_hex(out, n, repeats[i].out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nack), TEST(test_many_nacks), TEST(test_key_frames), TEST(test_remb),
        TEST(test_remb_of_others), TEST(test_extended), TEST(test_round_trip), TEST(test_cut),
        TEST(test_twcc), TEST(test_twcc_before_origin), TEST(test_extensions),
        TEST(test_no_extension), TEST(test_extensions_built), TEST(test_rtx),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
