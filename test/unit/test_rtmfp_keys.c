/* SPDX-License-Identifier: MIT */
/* test_rtmfp_keys.c - groups, keys and datagrams against independently computed vectors
 * (rtmfp_vectors.py); invalid public keys. */
#include "proto/rtmfp/group.h"
#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/chunks.h"
#include "rtmfp_bytes.h"
#include "rtmfp_vectors.h"

#include <openssl/bn.h>

/* Two of them are too large for a stack: allocated. */
struct large {
    uint8_t data[1400];
    size_t size;
};

static struct rtmfp_bytes large_of(struct large *l, const char *hex)
{
    l->size = hex_bytes(hex, l->data, sizeof(l->data));
    return rtmfp_bytes(l->data, l->size);
}

/* ---- groups */

static struct rtmfp_pair pair_of(unsigned id, const char *secret)
{
    struct rtmfp_pair pair = { .group = rtmfp_group_of(id) };

    (void)hex_bytes(secret, pair.secret, sizeof(pair.secret));
    return pair;
}

static void secrets(void **state)
{
    struct rtmfp_dh *dh = rtmfp_dh_new();
    uint8_t z[RTMFP_PUBLIC_MAX];
    struct large key;

    (void)state;
    for (size_t i = 0; i < COUNT(vector_secrets); i++) {
        struct rtmfp_pair x = pair_of(vector_secrets[i].group, vector_secrets[i].x);
        struct rtmfp_pair y = pair_of(vector_secrets[i].group, vector_secrets[i].y);
        size_t n = rtmfp_secret(dh, &x, large_of(&key, vector_secrets[i].public_y), z);

        assert_hex(z, n, vector_secrets[i].z);
        n = rtmfp_secret(dh, &y, large_of(&key, vector_secrets[i].public_x), z);
        assert_hex(z, n, vector_secrets[i].z);
    }
    rtmfp_dh_free(dh);
}

/* With zeros in front, and without its own. */
static void public_key_of_another_length(void **state)
{
    struct rtmfp_dh *dh = rtmfp_dh_new();
    struct rtmfp_pair x = pair_of(2, vector_secrets[0].x);
    uint8_t z[RTMFP_PUBLIC_MAX], key[140] = { 0 };
    size_t n = hex_bytes(vector_secrets[0].public_y, key + 12, 128);

    (void)state;
    assert_int_equal(n, 128);
    n = rtmfp_secret(dh, &x, rtmfp_bytes(key, sizeof(key)), z);
    assert_hex(z, n, vector_secrets[0].z);
    rtmfp_dh_free(dh);
}

/* A generated pair is valid: its secret with a known one is the same from both sides. */
static void pairs(void **state)
{
    struct rtmfp_dh *dh = rtmfp_dh_new();
    uint8_t a[RTMFP_PUBLIC_MAX], b[RTMFP_PUBLIC_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT(vector_secrets); i++) {
        struct rtmfp_pair x = pair_of(vector_secrets[i].group, vector_secrets[i].x), made, other;
        struct large key;
        size_t n;

        rtmfp_pair_make(dh, &made, x.group);
        for (int step = 0; step < 3; step++) {
            n = rtmfp_secret(dh, &made, large_of(&key, vector_secrets[i].public_x), a);
            assert_true(n > 0);
            assert_int_equal(rtmfp_secret(dh, &x, rtmfp_pair_public(&made), b), n);
            assert_memory_equal(a, b, n);
            rtmfp_pair_step(dh, &made);
        }
        rtmfp_pair_make(dh, &other, x.group);
        assert_memory_not_equal(other.public, made.public, rtmfp_group_size(x.group));
        rtmfp_pair_wipe(&made);
        for (size_t k = 0; k < sizeof(made); k++)
            assert_int_equal(((uint8_t *)&made)[k], 0);
    }
    rtmfp_dh_free(dh);
}

/* 2 ^ this, with the table and without. */
static void one_power(struct rtmfp_comb *c, const uint8_t *exponent, size_t size,
                      const BIGNUM *prime, BN_MONT_CTX *mont, BN_CTX *ctx)
{
    BIGNUM *e = BN_bin2bn(exponent, (int)size, NULL), *two = BN_new(), *want = BN_new(),
           *out = BN_new();

    assert_true(BN_set_word(two, 2) == 1 && BN_mod_exp(want, two, e, prime, ctx) == 1);
    rtmfp_comb_power(c, out, exponent, size, mont, ctx);
    assert_int_equal(BN_cmp(out, want), 0);
    BN_free(e);
    BN_free(two);
    BN_free(want);
    BN_free(out);
}

/* Exponents with one bit set, with all, with all but one. */
static void powers_of_two(void **state)
{
    static const size_t sizes[RTMFP_GROUPS] = { 28, 30, 40 };
    BIGNUM *primes[RTMFP_GROUPS] = { BN_get_rfc2409_prime_1024(NULL),
                                     BN_get_rfc3526_prime_1536(NULL),
                                     BN_get_rfc3526_prime_2048(NULL) };
    BN_CTX *ctx = BN_CTX_new();

    (void)state;
    for (int g = 0; g < RTMFP_GROUPS; g++) {
        BN_MONT_CTX *mont = BN_MONT_CTX_new();
        struct rtmfp_comb c = { .table = NULL };

        assert_int_equal(BN_MONT_CTX_set(mont, primes[g], ctx), 1);
        rtmfp_comb_init(&c, (unsigned)sizes[g] * 8, mont, primes[g], ctx);
        for (size_t bit = 0; bit <= sizes[g] * 8; bit += 1 + bit / 5) {
            uint8_t one[RTMFP_EXPONENT_MAX] = { 0 }, others[RTMFP_EXPONENT_MAX];

            memset(others, 0xff, sizeof(others));
            if (bit < sizes[g] * 8) {
                one[bit / 8] = (uint8_t)(1 << bit % 8);
                others[bit / 8] ^= one[bit / 8];
            }
            one_power(&c, one, sizes[g], primes[g], mont, ctx);
            one_power(&c, others, sizes[g], primes[g], mont, ctx);
        }
        rtmfp_comb_fini(&c);
        BN_MONT_CTX_free(mont);
        BN_free(primes[g]);
    }
    BN_CTX_free(ctx);
}

/* One more carries over all bytes of the exponent. */
static void step_that_carries(void **state)
{
    struct rtmfp_dh *dh = rtmfp_dh_new();
    struct rtmfp_pair pair = pair_of(2, "");

    (void)state;
    memset(pair.secret, 0xff, 28);
    pair.secret[0] = 1;
    rtmfp_pair_step(dh, &pair);
    assert_hex(pair.secret, 28, "02 000000 00000000 00000000 00000000 00000000 00000000 00000000");
    rtmfp_dh_free(dh);
}

/* p plus or minus 2^n, as a key. */
static size_t near_prime(enum rtmfp_group g, int bit, int more, uint8_t *out)
{
    BIGNUM *p = g == RTMFP_GROUP_2   ? BN_get_rfc2409_prime_1024(NULL)
                : g == RTMFP_GROUP_5 ? BN_get_rfc3526_prime_1536(NULL)
                                     : BN_get_rfc3526_prime_2048(NULL);
    BIGNUM *n = BN_new();
    int size;

    assert_true(bit < 0 || (BN_set_bit(n, bit) == 1 && BN_sub(p, p, n) == 1));
    assert_true(more < 0 ? BN_sub_word(p, (BN_ULONG)-more) : BN_add_word(p, (BN_ULONG)more));
    size = BN_bn2bin(p, out);
    BN_free(p);
    BN_free(n);
    return (size_t)size;
}

static void public_keys_near_the_ends(void **state)
{
    static const struct {
        int bit, more;
        bool fine;
    } rows[] = {
        { -1, 0, false }, { -1, -1, false }, { -1, -2, false }, { -1, 1, false },
        { 24, 1, false }, { 24, 0, true }, { 24, -1, true }, { 23, 0, false },
    };
    struct rtmfp_dh *dh = rtmfp_dh_new();
    uint8_t key[RTMFP_PUBLIC_MAX + 1];

    (void)state;
    for (int g = 0; g < RTMFP_GROUPS; g++) {
        for (size_t i = 0; i < COUNT(rows); i++) {
            size_t n = near_prime((enum rtmfp_group)g, rows[i].bit, rows[i].more, key);

            assert_int_equal(n, rtmfp_group_size((enum rtmfp_group)g));
            if (rtmfp_public_is_valid(dh, (enum rtmfp_group)g, rtmfp_bytes(key, n)) != rows[i].fine)
                fail_msg("group %d row %zu", g, i);
        }
    }
    rtmfp_dh_free(dh);
}

static void public_keys_that_are_none(void **state)
{
    static const struct {
        const char *hex;
        bool fine;
    } rows[] = {
        { "", false }, { "00", false }, { "01", false }, { "00000000 00000000", false },
        { "ffffff", false }, { "01000000", false },  /* 2^24: too few ones */
        { "ffff 0000", true }, { "fffe 0000", false }, { "01 fffe 0000", true },
        { "7fff8000", false },      /* 16 ones and 15 zeros */
        { "ffff8000", false },      /* 17 ones and 15 zeros */
        { "00 ffff0000", true },
        { "00000000 ffffffff", false },
    };
    struct rtmfp_dh *dh = rtmfp_dh_new();
    struct rtmfp_pair x = pair_of(2, vector_secrets[0].x);
    uint8_t z[RTMFP_PUBLIC_MAX], *all = malloc(300);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].hex);

        if (rtmfp_public_is_valid(dh, RTMFP_GROUP_2, bytes_of(&h)) != rows[i].fine)
            fail_msg("row %zu", i);
        assert_int_equal(rtmfp_secret(dh, &x, bytes_of(&h), z) > 0, rows[i].fine);
    }
    memset(all, 0x5a, 300);
    assert_true(rtmfp_public_is_valid(dh, RTMFP_GROUP_2, rtmfp_bytes(all, 128)));
    assert_false(rtmfp_public_is_valid(dh, RTMFP_GROUP_2, rtmfp_bytes(all, 129)));
    assert_false(rtmfp_public_is_valid(dh, RTMFP_GROUP_14, rtmfp_bytes(all, 300)));
    assert_false(rtmfp_public_is_valid(dh, RTMFP_GROUPS, rtmfp_bytes(all, 128)));
    free(all);
    rtmfp_dh_free(dh);
}

static void group_numbers(void **state)
{
    (void)state;
    assert_int_equal(rtmfp_group_of(2), RTMFP_GROUP_2);
    assert_int_equal(rtmfp_group_of(5), RTMFP_GROUP_5);
    assert_int_equal(rtmfp_group_of(14), RTMFP_GROUP_14);
    assert_int_equal(rtmfp_group_of(16), RTMFP_GROUPS);
    assert_int_equal(rtmfp_group_of(UINT64_MAX), RTMFP_GROUPS);
    assert_int_equal(rtmfp_group_of(0x100000002), RTMFP_GROUPS);
}

/* A pair taken out of the pool is no longer in it. */
static void pool(void **state)
{
    struct rtmfp_pool p;
    struct rtmfp_pair pair, out;

    (void)state;
    rtmfp_pool_init(&p, 3);
    assert_false(rtmfp_pool_take(&p, &out));
    for (uint8_t i = 1; i <= 4; i++) {
        assert_int_equal(rtmfp_pool_wants(&p), i <= 3);
        pair = (struct rtmfp_pair){ .secret = { i } };
        rtmfp_pool_put(&p, &pair);
        assert_int_equal(pair.secret[0], 0);
    }
    for (uint8_t i = 3; i >= 1; i--) {
        assert_true(rtmfp_pool_take(&p, &out));
        assert_int_equal(out.secret[0], i);
        assert_int_equal(p.pairs[p.n].secret[0], 0);
    }
    assert_false(rtmfp_pool_take(&p, &out));
    rtmfp_pool_fini(&p);
    rtmfp_pool_init(&p, 0);
    assert_false(rtmfp_pool_wants(&p) || rtmfp_pool_take(&p, &out));
    rtmfp_pool_fini(&p);
    rtmfp_pool_init(&p, SIZE_MAX);
    assert_int_equal(p.most, RTMFP_POOL_MAX);
    rtmfp_pool_fini(&p);
}

/* ---- keys */

static void hmacs(void **state)
{
    /* RFC 4231, test cases 1, 2 and 6 */
    uint8_t key[131], out[RTMFP_HASH];

    (void)state;
    memset(key, 0x0b, 20);
    rtmfp_hmac(rtmfp_bytes(key, 20), text_bytes("Hi There"), out);
    assert_hex(out, 32, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    rtmfp_hmac(text_bytes("Jefe"), text_bytes("what do ya want for nothing?"), out);
    assert_hex(out, 32, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, 131);
    rtmfp_hmac(rtmfp_bytes(key, 131),
               text_bytes("Test Using Larger Than Block-Size Key - Hash Key First"), out);
    assert_hex(out, 32, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    rtmfp_sha256(rtmfp_bytes(NULL, 0), out);
    assert_hex(out, 32, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void keys_of(size_t row, struct rtmfp_keys *keys)
{
    struct large z, skic, skrc;

    rtmfp_keys_derive(keys, large_of(&z, vector_keys[row].z),
                      large_of(&skic, vector_keys[row].skic),
                      large_of(&skrc, vector_keys[row].skrc));
}

static void derivation(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(vector_keys); i++) {
        struct rtmfp_keys keys;

        keys_of(i, &keys);
        for (int side = 0; side < RTMFP_SIDES; side++) {
            assert_hex(keys.of[side].aes, RTMFP_KEY, vector_keys[i].aes[side]);
            assert_hex(keys.of[side].mac, RTMFP_MAC_KEY, vector_keys[i].mac[side]);
            assert_hex(keys.of[side].nonce, RTMFP_HASH, vector_keys[i].nonce[side]);
        }
    }
}

/* ---- datagrams */

static struct rtmfp_key key_of(size_t row)
{
    struct rtmfp_key key = { .hmac = vector_datagrams[row].hmac,
                             .numbered = vector_datagrams[row].numbered };
    struct rtmfp_keys keys;

    keys_of(0, &keys);
    if (vector_datagrams[row].side < 0)
        memcpy(key.aes, rtmfp_default_key, RTMFP_KEY);
    else
        rtmfp_keys_set(&key, &keys, (enum rtmfp_side)vector_datagrams[row].side);
    return key;
}

static void datagram_opened(struct rtmfp_cipher *cipher, size_t row, struct rtmfp_bytes datagram,
                            struct rtmfp_bytes want)
{
    struct rtmfp_opener in = { .key = key_of(row) };
    uint8_t out[RTMFP_DATAGRAM_MAX];
    struct rtmfp_bytes plain;
    uint32_t id = 0;

    assert_true(rtmfp_session_id(datagram.p, datagram.n, &id));
    assert_int_equal(id, vector_datagrams[row].id);
    assert_int_equal(rtmfp_open(cipher, &in, datagram.p, datagram.n, out, &plain), RTMFP_OPENED);
    assert_in_range(plain.n, want.n, want.n + RTMFP_BLOCK - 1);
    assert_memory_equal(plain.p, want.p, want.n);
    if (vector_datagrams[row].numbered)
        assert_int_equal(in.top, vector_datagrams[row].number);
}

static void datagram_sealed(struct rtmfp_cipher *cipher, size_t row, struct rtmfp_bytes plain)
{
    struct rtmfp_sealer out = { .key = key_of(row), .next = vector_datagrams[row].number };
    uint8_t datagram[RTMFP_SEALED_MAX];
    struct wr w = rtmfp_seal_begin(&out, datagram, sizeof(datagram), RTMFP_PLAIN_MAX);
    size_t n;

    wr_bytes(&w, plain.p, plain.n);
    n = rtmfp_seal(cipher, &out, vector_datagrams[row].id, &w);
    assert_hex(datagram, n, vector_datagrams[row].datagram);
}

static void datagrams(void **state)
{
    struct rtmfp_cipher *cipher = rtmfp_cipher_new();

    (void)state;
    for (size_t i = 0; i < COUNT(vector_datagrams); i++) {
        struct large datagram, plain;

        (void)large_of(&datagram, vector_datagrams[i].datagram);
        (void)large_of(&plain, vector_datagrams[i].plain);
        datagram_opened(cipher, i, rtmfp_bytes(datagram.data, datagram.size),
                        rtmfp_bytes(plain.data, plain.size));
        if (!vector_datagrams[i].odd_is_high)
            datagram_sealed(cipher, i, rtmfp_bytes(plain.data, plain.size));
    }
    rtmfp_cipher_free(cipher);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(secrets), TEST(public_key_of_another_length), TEST(pairs), TEST(powers_of_two),
        TEST(step_that_carries), TEST(public_keys_near_the_ends), TEST(public_keys_that_are_none),
        TEST(group_numbers), TEST(pool), TEST(hmacs), TEST(derivation), TEST(datagrams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
