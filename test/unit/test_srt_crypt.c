/* SPDX-License-Identifier: MIT */
/* test_srt_crypt.c - key messages, keys and encryption of SRT.
 *
 * The vectors were computed independently with Python's `cryptography`: salt a0..af, passphrase
 * "correct horse battery", even key 00, 01, ..., odd key 40, 41, ... The tests have hashlib.sha256() of
 * packets with the even key and sequence 0x7fffffff, and with the odd key and sequence 0.
 *
 * - `kek = PBKDF2HMAC(SHA1(), size, salt[-8:], 2048).derive(passphrase)`
 * - `aes_key_wrap(kek, even), (kek, odd), (kek, even + odd)`
 * - `b = bytes(10) + seq.to_bytes(4, "big") + bytes(2)`
 * - `block = bytes(x ^ y for x, y in zip(b[:14], salt[:14])) + b[14:]`
 * - `payload = bytes((i * 7) & 255 for i in range(1316))`
 * - `Cipher(AES(key), CTR(block)).encryptor().update(payload)`
 */
#include "hex.h"
#include "proto/srt/crypt.h"

#include <openssl/sha.h>
#include <stdlib.h>

#define PASSPHRASE "correct horse battery"
#define KEK "fbc508c51222761eb1f11787950d761c5c30ae8e4c5adcbee393c9b78bddcaa8"

static const struct {
    uint8_t size;
    const char *wrapped[3]; /* even, odd, both */
    const char *even, *odd; /* digests of encrypted packets */
} vectors[] = {
    { 16, { "10f94ec13443e3bdff4e17cdc6d29731d84a571a77b8d772",
            "c5c5fefeed75081ea24f3f8d7e3b6e52384b137bc1062e4c",
            "315e6cda727bdd67f712723a564447ed36ecaf370e30f609546a64086a55b8b8"
            "41ad65e7dfd92004" },
      "d57833a0f8f749e8377c3c00bf3f507197b19543015b6010a415a429b8d58dfe",
      "f20413a5df651fc10179f62f267487374d5a993aaa636f982d165c5e1d4444a9" },
    { 24, { "30ee795ca46bb5d1d8c44c679f186fcbb368b1bb777cc78be0962f5bcd994075",
            "e1d92b5140ef04fd02c47e88b6bb424447555f08cc4e4d9b0de7b5609c93379d",
            "e9dd87cea1ffc018698938ef43ce08820049e376d3e06bb3c794d4ea0dd6bc62"
            "389411ad5341a366ac7dc20347473cd9aee28726fca497d4" },
      "6adf8c9aafb51f23537f8161c53911c7734a124acc38f51deb32e5358c18936a",
      "9bc7d845d3a626768e73e87179129e8918cd5d441033137e0424f6e852ce729b" },
    { 32, { "7007431619747bedf18f836dae217b2208a0033f6c36075f1b21c008e000f0eb"
            "606099a662ff58b0",
            "7b7f069cf574e79da42d7cb6ab01e5694a6f98ef5fe8c4713fb2e92752d0fcdd"
            "f18acaec6d26bf3a",
            "7858d71881fc9b9f81af0bdb7da801f8dfb11f43e5a91179938a89c25de3116b"
            "fbfdbca86bad2b363f6133d7223097f48bdfef249ed094dba2f8ed213f631725"
            "dfa9554c67377e6d" },
      "ebf9e5b7dc99a93f10a58c5d99732d1a5ac64c97252dc954fe5750d1ac654c5c",
      "b2bcf6afa8bc9e4228fa02c57a464231a15156524b1c8a65125245910ca32c9c" },
};

/* Made by libsrt 1.5.1 from the passphrase "0123456789". */
#define OF_LIBSRT_24 "12202901 00000000 02000200 00000406 f5609850807e9fe1f7bc77d51fd6e3d3" \
    "0c62aac5e380fa37ab71273a33c081fafa5c8336d2e14d27aa0fdbde8b05494f"
#define OF_LIBSRT_16 "12202901 00000000 02000200 00000404 6687350bcea506d79a632ba49a8bf3ea" \
    "1db74b2ba90774996baf508a7026bd3e1532e4ed935e53bd"

static struct srt_km message(unsigned row, unsigned which)
{
    struct srt_km km = { .which = (uint8_t)which, .key_size = vectors[row].size };

    for (int i = 0; i < SRT_SALT; i++)
        km.salt[i] = (uint8_t)(0xa0 + i);
    km.wrapped_size = hex_bytes(vectors[row].wrapped[which - 1], km.wrapped, sizeof(km.wrapped));
    return km;
}

static void assert_key(const struct srt_secret *s, enum srt_key which)
{
    for (int i = 0; i < s->key_size; i++)
        assert_int_equal(s->key[which - 1][i], (which == SRT_EVEN ? 0 : 0x40) + i);
}

/* ---- key messages */

static void messages_both_ways(void **state)
{
    (void)state;
    for (unsigned row = 0; row < COUNT(vectors); row++) {
        for (unsigned which = 1; which <= 3; which++) {
            struct srt_km km = message(row, which), got;
            uint8_t out[SRT_KM_MAX];
            size_t size = srt_km_write(&km, out);
            char head[64];

            (void)snprintf(head, sizeof(head), "122029%02x 00000000 02000200 000004%02x", which,
                           vectors[row].size / 4);
            assert_hex(out, 16, head);
            assert_int_equal(size, 32 + vectors[row].size * (which == 3 ? 2 : 1) + 8);
            for (size_t cut = 0; cut < size; cut++) {
                uint8_t *part = malloc(cut + !cut);

                memcpy(part, out, cut);
                assert_false(srt_km_read(&got, part, cut));
                free(part);
            }
            assert_true(srt_km_read(&got, out, size));
            assert_memory_equal(&got, &km, sizeof(km));
            if (size < sizeof(out))
                assert_false(srt_km_read(&got, out, size + 1));
        }
    }
}

static void messages_are_checked(void **state)
{
    static const struct {
        size_t at;
        uint8_t byte;
    } rows[] = {
        { 0, 0x11 }, { 0, 0x22 }, { 0, 0x92 }, { 1, 0x21 }, { 2, 0x28 }, { 3, 0 }, { 3, 2 | 4 },
        { 3, 3 }, /* both, although there is only one */
        { 4, 1 }, { 7, 1 }, { 8, 1 }, { 8, 4 /* GCM */ }, { 9, 1 }, { 10, 1 }, { 14, 3 }, { 14, 8 },
        { 15, 0 }, { 15, 4 }, { 15, 5 }, { 15, 8 }, { 15, 12 }, { 15, 0x46 }, { 15, 255 },
    };
    struct srt_km km = message(1, SRT_EVEN);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t out[SRT_KM_MAX];
        size_t size = srt_km_write(&km, out);
        struct srt_km got;

        out[rows[i].at] = rows[i].byte;
        assert_false(srt_km_read(&got, out, size));
    }
}

/* ---- keys */

static void keys_are_unwrapped(void **state)
{
    (void)state;
    for (unsigned row = 0; row < COUNT(vectors); row++) {
        for (unsigned which = 1; which <= 3; which++) {
            struct srt_km km = message(row, which), again;
            struct srt_secret s;
            uint8_t kek[SRT_KEY_MAX];

            (void)hex_bytes(KEK, kek, sizeof(kek));
            assert_true(srt_km_unwrap(&s, &km, PASSPHRASE));
            assert_memory_equal(s.kek, kek, vectors[row].size);
            assert_true(s.which == which && s.key_size == vectors[row].size);
            if (which & SRT_EVEN)
                assert_key(&s, SRT_EVEN);
            if (which & SRT_ODD)
                assert_key(&s, SRT_ODD);
            assert_true(srt_secret_wrap(&s, &again));
            assert_memory_equal(&again, &km, sizeof(km));
        }
    }
}

static void other_passphrases_are_seen(void **state)
{
    struct srt_km km = message(0, SRT_EVEN);
    struct srt_secret s;

    (void)state;
    assert_false(srt_km_unwrap(&s, &km, "correct horse batterY"));
    assert_false(srt_km_unwrap(&s, &km, ""));
    for (size_t i = 0; i < km.wrapped_size; i++) {
        km.wrapped[i] ^= 0x10;
        assert_false(srt_km_unwrap(&s, &km, PASSPHRASE));
        km.wrapped[i] ^= 0x10;
    }
    assert_true(srt_km_unwrap(&s, &km, PASSPHRASE));
}

static void keys_of_libsrt(void **state)
{
    static const char *const rows[] = { OF_LIBSRT_16, OF_LIBSRT_24 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[SRT_KM_MAX];
        struct srt_km km;
        struct srt_secret s;

        assert_true(srt_km_read(&km, bytes, hex_bytes(rows[i], bytes, sizeof(bytes))));
        assert_true(srt_km_unwrap(&s, &km, "0123456789"));
        assert_false(srt_km_unwrap(&s, &km, "0123456788"));
    }
}

static void new_keys_need_no_passphrase(void **state)
{
    struct srt_km even = message(2, SRT_EVEN), odd = message(2, SRT_ODD), other = message(1, SRT_ODD);
    struct srt_secret s;

    (void)state;
    assert_true(srt_km_unwrap(&s, &even, PASSPHRASE));
    assert_false(srt_km_unwrap_known(&s, &other)); /* another length */
    odd.salt[3] ^= 1;
    assert_false(srt_km_unwrap_known(&s, &odd));
    odd.salt[3] ^= 1;
    odd.wrapped[5] ^= 1;
    assert_false(srt_km_unwrap_known(&s, &odd));
    assert_int_equal(s.which, SRT_EVEN);
    odd.wrapped[5] ^= 1;
    assert_true(srt_km_unwrap_known(&s, &odd));
    assert_int_equal(s.which, SRT_EVEN | SRT_ODD);
    assert_key(&s, SRT_EVEN);
    assert_key(&s, SRT_ODD);
}

static void secrets_are_made(void **state)
{
    (void)state;
    for (unsigned row = 0; row < COUNT(vectors); row++) {
        struct srt_secret s, other, peer;
        struct srt_km km;

        assert_true(srt_secret_new(&s, vectors[row].size, PASSPHRASE));
        assert_true(srt_secret_new(&other, vectors[row].size, PASSPHRASE));
        assert_memory_not_equal(s.key[0], other.key[0], vectors[row].size);
        assert_memory_not_equal(s.salt, other.salt, SRT_SALT);
        assert_int_equal(s.which, SRT_EVEN);
        assert_true(srt_secret_wrap(&s, &km) && srt_km_unwrap(&peer, &km, PASSPHRASE));
        assert_memory_equal(peer.key[0], s.key[0], vectors[row].size);
        assert_true(srt_secret_renew(&s, SRT_ODD) && s.which == (SRT_EVEN | SRT_ODD));
        assert_true(srt_secret_wrap(&s, &km) && srt_km_unwrap_known(&peer, &km));
        assert_memory_equal(peer.key[0], s.key[0], vectors[row].size);
        assert_memory_equal(peer.key[1], s.key[1], vectors[row].size);
        assert_memory_not_equal(s.key[0], s.key[1], vectors[row].size);
    }
}

/* ---- packets */

enum { SIZE = 1316 };

static void assert_digest(const uint8_t *data, const char *want)
{
    uint8_t digest[32];

    (void)SHA256(data, SIZE, digest);
    assert_hex(digest, 32, want);
}

static void packets_are_encrypted(void **state)
{
    uint8_t clear[SIZE], out[SIZE];

    (void)state;
    for (int i = 0; i < SIZE; i++)
        clear[i] = (uint8_t)(i * 7);
    for (unsigned row = 0; row < COUNT(vectors); row++) {
        struct srt_km km = message(row, 3);
        struct srt_secret s;
        struct srt_cipher *c;

        assert_true(srt_km_unwrap(&s, &km, PASSPHRASE));
        c = srt_cipher_new(&s);
        assert_true(c && srt_cipher_has(c, SRT_EVEN) && srt_cipher_has(c, SRT_ODD));
        srt_cipher_run(c, SRT_EVEN, 0x7fffffff, clear, out, SIZE);
        assert_digest(out, vectors[row].even);
        srt_cipher_run(c, SRT_ODD, 0, clear, out, SIZE);
        assert_digest(out, vectors[row].odd);
        srt_cipher_run(c, SRT_ODD, 0, out, out, SIZE); /* back, and in its place */
        assert_memory_equal(out, clear, SIZE);
        srt_cipher_free(c);
    }
}

/* Each size gives the same bytes, up to its end; none is written after it. */
static void packets_of_all_sizes(void **state)
{
    struct srt_km km = message(0, SRT_EVEN);
    uint8_t clear[64] = { 0 }, whole[64], out[64];
    struct srt_secret s;
    struct srt_cipher *c;

    (void)state;
    assert_true(srt_km_unwrap(&s, &km, PASSPHRASE));
    c = srt_cipher_new(&s);
    srt_cipher_run(c, SRT_EVEN, 77, clear, whole, sizeof(whole));
    for (size_t size = 0; size < sizeof(out); size++) {
        memset(out, 0xee, sizeof(out));
        srt_cipher_run(c, SRT_EVEN, 77, clear, out, size);
        assert_memory_equal(out, whole, size);
        assert_int_equal(out[size], 0xee);
    }
    srt_cipher_free(c);
}

static void ciphers_get_new_keys(void **state)
{
    struct srt_km km = message(0, SRT_EVEN), odd = message(0, SRT_ODD);
    uint8_t clear[32] = { 0 }, before[32], after[32];
    struct srt_secret s;
    struct srt_cipher *c;

    (void)state;
    assert_true(srt_km_unwrap(&s, &km, PASSPHRASE));
    c = srt_cipher_new(&s);
    assert_false(srt_cipher_has(c, SRT_ODD) || srt_cipher_has(c, SRT_CLEAR));
    assert_false(srt_cipher_has(c, 3));
    srt_cipher_run(c, SRT_EVEN, 1, clear, before, sizeof(before));
    assert_true(srt_km_unwrap_known(&s, &odd) && srt_cipher_set(c, &s));
    assert_true(srt_cipher_has(c, SRT_ODD));
    srt_cipher_run(c, SRT_EVEN, 1, clear, after, sizeof(after));
    assert_memory_equal(before, after, sizeof(before));
    srt_cipher_run(c, SRT_ODD, 1, clear, after, sizeof(after));
    assert_memory_not_equal(before, after, sizeof(before));
    assert_true(srt_secret_renew(&s, SRT_EVEN) && srt_cipher_set(c, &s));
    srt_cipher_run(c, SRT_EVEN, 1, clear, after, sizeof(after));
    assert_memory_not_equal(before, after, sizeof(before));
    srt_cipher_free(c);
    srt_cipher_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(messages_both_ways), TEST(messages_are_checked), TEST(keys_are_unwrapped),
        TEST(other_passphrases_are_seen), TEST(keys_of_libsrt), TEST(new_keys_need_no_passphrase),
        TEST(secrets_are_made), TEST(packets_are_encrypted), TEST(packets_of_all_sizes),
        TEST(ciphers_get_new_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
