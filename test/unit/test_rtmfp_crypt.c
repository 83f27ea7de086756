/* SPDX-License-Identifier: MIT */
/* test_rtmfp_crypt.c - datagrams: vectors, checksums of odd bytes, HMACs, numbers, invalid ones. */
#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/chunks.h"
#include "rtmfp_bytes.h"

/* Both ends of a direction, and a cipher. */
struct ends {
    struct rtmfp_cipher *cipher;
    struct rtmfp_sealer out;
    struct rtmfp_opener in;
};

static struct ends ends_of(uint8_t hmac, bool numbered, uint8_t first)
{
    struct ends e = { .cipher = rtmfp_cipher_new() };

    assert_non_null(e.cipher);
    for (int i = 0; i < RTMFP_KEY; i++)
        e.out.key.aes[i] = (uint8_t)(first + i);
    for (int i = 0; i < RTMFP_MAC_KEY; i++)
        e.out.key.mac[i] = (uint8_t)(first * 3 + i);
    e.out.key.hmac = hmac;
    e.out.key.numbered = numbered;
    e.in.key = e.out.key;
    return e;
}

static size_t seal(struct ends *e, uint32_t id, size_t size, uint8_t *datagram)
{
    struct wr w = rtmfp_seal_begin(&e->out, datagram, RTMFP_SEALED_MAX, RTMFP_PLAIN_MAX);

    for (size_t i = 0; i < size; i++)
        wr_u8(&w, (uint8_t)(i * 7 + size));
    return rtmfp_seal(e->cipher, &e->out, id, &w);
}

static const struct {
    uint8_t hmac;
    bool numbered;
} kinds[] = { { 0, false }, { 0, true }, { 4, false }, { 10, true }, { 32, true }, { 16, false } };

static void there_and_back(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct ends e = ends_of(kinds[k].hmac, kinds[k].numbered, (uint8_t)k);

        for (size_t size = 1; size <= RTMFP_PLAIN_MAX; size += size < 40 ? 1 : 97) {
            uint8_t datagram[RTMFP_SEALED_MAX], out[RTMFP_DATAGRAM_MAX];
            struct rtmfp_bytes plain;
            uint32_t id = 0;
            size_t n = seal(&e, 0x01020304 * (uint32_t)size, size, datagram);

            assert_int_equal((n - RTMFP_ID - kinds[k].hmac) % RTMFP_BLOCK, 0);
            assert_true(rtmfp_session_id(datagram, n, &id));
            assert_int_equal(id, 0x01020304 * (uint32_t)size);
            assert_int_equal(rtmfp_open(e.cipher, &e.in, datagram, n, out, &plain), RTMFP_OPENED);
            assert_in_range(plain.n, size, size + RTMFP_BLOCK - 1);
            for (size_t i = 0; i < plain.n; i++)
                assert_int_equal(plain.p[i], i < size ? (uint8_t)(i * 7 + size) : 0xff);
        }
        rtmfp_cipher_free(e.cipher);
    }
}

/* A datagram that is changed or cut anywhere is rejected. */
static void changed(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        struct ends e = ends_of(kinds[k].hmac, kinds[k].numbered, 9);
        uint8_t datagram[RTMFP_SEALED_MAX], out[RTMFP_DATAGRAM_MAX];
        struct rtmfp_bytes plain;
        size_t n = seal(&e, 5, 50, datagram);

        for (size_t at = RTMFP_ID; at < n; at++) {
            datagram[at] ^= 0x10;
            assert_int_equal(rtmfp_open(e.cipher, &e.in, datagram, n, out, &plain), RTMFP_BAD_SUM);
            datagram[at] ^= 0x10;
        }
        for (size_t size = 0; size < n; size++) {
            uint8_t *cut = exact(datagram, size);

            assert_int_not_equal(rtmfp_open(e.cipher, &e.in, cut, size, out, &plain), RTMFP_OPENED);
            free(cut);
        }
        assert_int_equal(rtmfp_open(e.cipher, &e.in, datagram, n, out, &plain), RTMFP_OPENED);
        rtmfp_cipher_free(e.cipher);
    }
}

/* One cipher serves many keys, in any order. */
static void borrowed(void **state)
{
    struct ends a = ends_of(0, false, 1), b = ends_of(0, false, 2);
    struct rtmfp_cipher *own = b.cipher;
    uint8_t datagram[RTMFP_SEALED_MAX], again[RTMFP_SEALED_MAX], out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;
    size_t n;

    (void)state;
    for (int i = 0; i < 5; i++) {
        b.cipher = own;
        n = seal(&b, 1, 33, again);
        b.cipher = a.cipher;
        assert_int_equal(seal(&b, 1, 33, datagram), n);
        assert_memory_equal(datagram, again, n);
        assert_int_equal(rtmfp_open(a.cipher, &b.in, datagram, n, out, &plain), RTMFP_OPENED);
        n = seal(&a, 1, 33, datagram);
        assert_int_equal(rtmfp_open(a.cipher, &b.in, datagram, n, out, &plain), RTMFP_BAD_SUM);
        assert_int_equal(rtmfp_open(own, &a.in, datagram, n, out, &plain), RTMFP_OPENED);
    }
    rtmfp_cipher_free(a.cipher);
    rtmfp_cipher_free(own);
}

/* ---- checksums */

static void checksums(void **state)
{
    static const struct {
        const char *hex;
        uint16_t low, high;
    } rows[] = {
        { "", 0xffff, 0xffff },
        { "0000", 0xffff, 0xffff },
        { "ffff", 0x0000, 0x0000 },
        { "0001 f203 f4f5 f6f7", 0x220d, 0x220d }, /* RFC 1071, section 3 */
        { "0001 f203 f4f5 f6f7 01", 0x220c, 0x210d },
        { "ff", 0xff00, 0x00ff },
        { "ffff 01", 0xfffe, 0xfeff },
        { "ffff ffff ffff ffff ffff ff", 0xff00, 0x00ff },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].hex);
        uint8_t *data = exact(h.data, h.size);

        assert_int_equal(rtmfp_checksum(data, h.size, false), rows[i].low);
        assert_int_equal(rtmfp_checksum(data, h.size, true), rows[i].high);
        free(data);
    }
}

/* ---- numbers */

static enum rtmfp_opened comes(struct ends *e, uint64_t number)
{
    uint8_t datagram[RTMFP_SEALED_MAX], out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;
    size_t n;

    e->out.next = number;
    n = seal(e, 1, 5, datagram);
    assert_true(n > 0);
    return rtmfp_open(e->cipher, &e->in, datagram, n, out, &plain);
}

static void numbers(void **state)
{
    static const struct {
        uint64_t number;
        enum rtmfp_opened how;
    } rows[] = {
        { 0, RTMFP_OPENED }, { 0, RTMFP_REPEATED }, { 1, RTMFP_OPENED }, { 5, RTMFP_OPENED },
        { 3, RTMFP_OPENED }, { 3, RTMFP_REPEATED }, { 5, RTMFP_REPEATED }, { 4, RTMFP_OPENED },
        { 5 + RTMFP_WINDOW, RTMFP_OPENED }, { 5, RTMFP_REPEATED }, { 6, RTMFP_OPENED },
        { 6, RTMFP_REPEATED }, { 2, RTMFP_REPEATED },
        { 1000000, RTMFP_OPENED }, { 6 + RTMFP_WINDOW, RTMFP_REPEATED },
        { 1000001 - RTMFP_WINDOW, RTMFP_OPENED }, { 1000000 - RTMFP_WINDOW, RTMFP_REPEATED },
        { UINT64_MAX - 2, RTMFP_OPENED }, { UINT64_MAX - 1, RTMFP_OPENED },
        { UINT64_MAX - 1, RTMFP_REPEATED }, { UINT64_MAX - RTMFP_WINDOW, RTMFP_OPENED },
        { UINT64_MAX - RTMFP_WINDOW - 1, RTMFP_REPEATED }, { 0, RTMFP_REPEATED },
    };

    (void)state;
    for (int hmac = 0; hmac <= 32; hmac += 32) {
        struct ends e = ends_of((uint8_t)hmac, true, 3);

        for (size_t i = 0; i < COUNT(rows); i++)
            if (comes(&e, rows[i].number) != rows[i].how)
                fail_msg("row %zu", i);
        rtmfp_cipher_free(e.cipher);
    }
}

/* The last number is not used: it has no successor. */
static void numbers_end(void **state)
{
    struct ends e = ends_of(4, true, 3);
    uint8_t datagram[RTMFP_SEALED_MAX];

    (void)state;
    e.out.next = UINT64_MAX - 1;
    assert_true(seal(&e, 1, 1, datagram) > 0);
    assert_int_equal(seal(&e, 1, 1, datagram), 0);
    rtmfp_cipher_free(e.cipher);
}

/* An invalid packet does not count as received. */
static void forged_number(void **state)
{
    struct ends e = ends_of(8, true, 3);
    uint8_t datagram[RTMFP_SEALED_MAX], out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;
    size_t n;

    (void)state;
    e.out.next = 1 << 20;
    n = seal(&e, 1, 5, datagram);
    datagram[n - 1] ^= 1;
    assert_int_equal(rtmfp_open(e.cipher, &e.in, datagram, n, out, &plain), RTMFP_BAD_SUM);
    assert_int_equal(comes(&e, 0), RTMFP_OPENED);
    rtmfp_cipher_free(e.cipher);
}

/* ---- room */

static void room_of_a_datagram(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        for (size_t room = 0; room < 120; room++) {
            struct ends e = ends_of(kinds[k].hmac, kinds[k].numbered, 1);
            uint8_t *datagram = malloc(room + 1);
            struct wr w = rtmfp_seal_begin(&e.out, datagram, room, RTMFP_PLAIN_MAX);

            while (w.len < w.limit)
                wr_u8(&w, 1);
            if (w.len > 0)
                assert_in_range(rtmfp_seal(e.cipher, &e.out, 1, &w), room - RTMFP_BLOCK + 1, room);
            else
                assert_int_equal(rtmfp_seal(e.cipher, &e.out, 1, &w), 0);
            free(datagram);
            rtmfp_cipher_free(e.cipher);
        }
    }
}

static void ids(void **state)
{
    static const struct {
        const char *hex;
        bool fine;
        uint32_t id;
    } rows[] = {
        { "00000001 00000002 00000004 0000000000000000", true, 7 },
        { "00000001 00000002 00000004 00000000000000", false, 0 },
        { "", false, 0 }, { "000000", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].hex);
        uint32_t id = 0;

        assert_int_equal(rtmfp_session_id(h.data, h.size, &id), rows[i].fine);
        assert_int_equal(id, rows[i].id);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(there_and_back), TEST(changed), TEST(borrowed), TEST(checksums), TEST(numbers),
        TEST(numbers_end), TEST(forged_number), TEST(room_of_a_datagram), TEST(ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
