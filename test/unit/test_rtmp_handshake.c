/* SPDX-License-Identifier: MIT */
/* test_rtmp_handshake.c - the handshake: all schemes against each other, cut at every byte. */
#include "io_mem.h"
#include "proto/rtmp/handshake.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static uint8_t c0c1[RTMP_HANDSHAKE_C0C1], s0s1s2[RTMP_HANDSHAKE_S0S1S2], c2[RTMP_HANDSHAKE_PART];

static const enum rtmp_scheme schemes[] = {
    RTMP_SCHEME_SIMPLE, RTMP_SCHEME_KEY_FIRST, RTMP_SCHEME_DIGEST_FIRST,
};

/* The digest's position depends on random bytes: many rounds cover all positions. */
static void test_server_answers_as_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(schemes) * 200; i++) {
        enum rtmp_scheme want = schemes[i % COUNT(schemes)], got;

        assert_ok(rtmp_handshake_c0c1(want, c0c1));
        assert_int_equal(c0c1[0], 3);
        assert_int_equal(rtmp_handshake_scheme(c0c1 + 1, false), want);
        assert_ok(rtmp_handshake_s0s1s2(c0c1, s0s1s2, &got));
        assert_int_equal(got, want);
        assert_int_equal(s0s1s2[0], 3);
        assert_int_equal(rtmp_handshake_scheme(s0s1s2 + 1, true), want);
        assert_true(rtmp_handshake_s2_ok(c0c1 + 1, s0s1s2 + 1 + RTMP_HANDSHAKE_PART));
        s0s1s2[RTMP_HANDSHAKE_S0S1S2 - 1] ^= 1;
        assert_false(rtmp_handshake_s2_ok(c0c1 + 1, s0s1s2 + 1 + RTMP_HANDSHAKE_PART));
    }
}

static void test_damaged_digest_falls_back_to_simple(void **state)
{
    (void)state;
    assert_ok(rtmp_handshake_c0c1(RTMP_SCHEME_DIGEST_FIRST, c0c1));
    c0c1[RTMP_HANDSHAKE_C0C1 - 1] ^= 1;
    assert_ok(rtmp_handshake_s0s1s2(c0c1, s0s1s2, NULL));
    assert_memory_equal(s0s1s2 + 1 + RTMP_HANDSHAKE_PART, c0c1 + 1, RTMP_HANDSHAKE_PART);
    assert_memory_equal(s0s1s2 + 5, "\0\0\0\0", 4);
}

static void test_extreme_places(void **state)
{
    (void)state;
    memset(c0c1, 0xff, sizeof(c0c1)); /* sums of 1020 mod 728 */
    c0c1[0] = 3;
    assert_ok(rtmp_handshake_s0s1s2(c0c1, s0s1s2, NULL));
    memset(c0c1 + 1, 0, sizeof(c0c1) - 1);
    c0c1[5] = 9;
    assert_ok(rtmp_handshake_s0s1s2(c0c1, s0s1s2, NULL));
    c0c1[9] = c0c1[773] = 0xff; /* 727: the last place */
    c0c1[10] = c0c1[774] = 0xff;
    c0c1[11] = c0c1[775] = 0xd9;
    assert_ok(rtmp_handshake_s0s1s2(c0c1, s0s1s2, NULL));
}

static const struct {
    uint8_t c0;
    enum err_code code;
} version_rows[] = {
    { 3, ERR_OK }, { 6, ERR_RTMP_PLAIN }, { 0, ERR_RTMP_HANDSHAKE }, { 'G', ERR_RTMP_HANDSHAKE },
    { 0x16, ERR_RTMP_HANDSHAKE }, { 32, ERR_RTMP_HANDSHAKE }, { 255, ERR_RTMP_HANDSHAKE },
};

static void test_versions(void **state)
{
    (void)state;
    assert_ok(rtmp_handshake_c0c1(RTMP_SCHEME_SIMPLE, c0c1));
    for (size_t i = 0; i < COUNT(version_rows); i++) {
        c0c1[0] = version_rows[i].c0;
        assert_err(rtmp_handshake_s0s1s2(c0c1, s0s1s2, NULL), version_rows[i].code);
    }
}

static void test_server_over_io(void **state)
{
    static const size_t pieces[] = { 0, 1, 7, 1000, 1536, 1537 };
    uint8_t in[RTMP_HANDSHAKE_C0C1 + RTMP_HANDSHAKE_PART + 5];

    (void)state;
    for (size_t i = 0; i < COUNT(pieces) * COUNT(schemes); i++) {
        enum rtmp_scheme scheme = schemes[i % COUNT(schemes)];
        struct io_mem m;

        assert_ok(rtmp_handshake_c0c1(scheme, in));
        memset(in + RTMP_HANDSHAKE_C0C1, 7, sizeof(in) - RTMP_HANDSHAKE_C0C1);
        io_mem_init(&m, in, sizeof(in));
        m.piece = pieces[i / COUNT(schemes)];
        m.out = s0s1s2;
        m.out_cap = sizeof(s0s1s2);
        assert_ok(rtmp_handshake_server(&m.io));
        assert_int_equal(m.out_size, RTMP_HANDSHAKE_S0S1S2);
        assert_int_equal(m.in_size, 5); /* bytes after C2 are left */
        assert_true(rtmp_handshake_s2_ok(in + 1, s0s1s2 + 1 + RTMP_HANDSHAKE_PART));
        assert_ok(rtmp_handshake_c2(s0s1s2 + 1, scheme, c2));
    }
}

static void test_server_cut_at_every_byte(void **state)
{
    uint8_t in[RTMP_HANDSHAKE_C0C1 + RTMP_HANDSHAKE_PART] = { 3 };
    struct io_mem m;

    (void)state;
    for (size_t cut = 0; cut < sizeof(in); cut++) {
        uint8_t *exact = malloc(cut ? cut : 1);

        memcpy(exact, in, cut);
        io_mem_init(&m, exact, cut);
        m.out_cap = RTMP_HANDSHAKE_S0S1S2;
        assert_err(rtmp_handshake_server(&m.io), ERR_IO_CLOSED);
        assert_int_equal(m.out_size, cut < RTMP_HANDSHAKE_C0C1 ? 0 : RTMP_HANDSHAKE_S0S1S2);
        free(exact);
    }
    io_mem_init(&m, in, sizeof(in));
    m.out_cap = RTMP_HANDSHAKE_S0S1S2 - 1;
    assert_err(rtmp_handshake_server(&m.io), ERR_IO_RESET);
    io_mem_init(&m, "GET / HTTP/1.1\r\n\r\n", 18); /* recognized by its first bytes */
    assert_err(rtmp_handshake_server(&m.io), ERR_RTMP_HANDSHAKE);
    io_mem_init(&m, "\x06", 1);
    assert_err(rtmp_handshake_server(&m.io), ERR_RTMP_PLAIN);
}

static void test_client_over_io(void **state)
{
    uint8_t out[RTMP_HANDSHAKE_C0C1 + RTMP_HANDSHAKE_PART];
    struct io_mem m;

    (void)state;
    assert_ok(rtmp_handshake_c0c1(RTMP_SCHEME_SIMPLE, c0c1));
    assert_ok(rtmp_handshake_s0s1s2(c0c1, s0s1s2, NULL));
    for (size_t cut = 0; cut <= sizeof(s0s1s2); cut += cut < 3000 ? 100 : 1) {
        io_mem_init(&m, s0s1s2, cut);
        m.out = out;
        m.out_cap = sizeof(out);
        assert_err(rtmp_handshake_client(&m.io), cut < sizeof(s0s1s2) ? ERR_IO_CLOSED : ERR_OK);
    }
    assert_int_equal(m.out_size, sizeof(out));
    assert_memory_equal(out + RTMP_HANDSHAKE_C0C1, s0s1s2 + 1, RTMP_HANDSHAKE_PART);
    s0s1s2[0] = 'H';
    io_mem_init(&m, s0s1s2, sizeof(s0s1s2));
    m.out_cap = sizeof(out);
    assert_err(rtmp_handshake_client(&m.io), ERR_RTMP_HANDSHAKE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_server_answers_as_asked), TEST(test_damaged_digest_falls_back_to_simple),
        TEST(test_extreme_places), TEST(test_versions), TEST(test_server_over_io),
        TEST(test_server_cut_at_every_byte), TEST(test_client_over_io),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
