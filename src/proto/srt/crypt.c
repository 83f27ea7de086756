/* SPDX-License-Identifier: MIT */
/* crypt.c - key exchange and encryption of payloads: "Key Material", "Encryption", RFC 3394, RFC
 * 8018.
 */
#include "proto/srt/crypt.h"

#include "base/be.h"
#include "base/must.h"
#include "base/rd.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

enum { ROUNDS = 2048, SALT_OF_KEK = 8, BLOCK = 16, NONCE = 14,
       WRAP = 8 /* RFC 3394: bytes that wrapping adds */ };

/* ---- keys */

static bool make_kek(const char *passphrase, const uint8_t salt[SRT_SALT], unsigned key_size,
                     uint8_t kek[SRT_KEY_MAX])
{
    return PKCS5_PBKDF2_HMAC_SHA1(passphrase, (int)strlen(passphrase),
                                  salt + SRT_SALT - SALT_OF_KEK, SALT_OF_KEK, ROUNDS,
                                  (int)key_size, kek) == 1;
}

static const EVP_CIPHER *wrapping(unsigned key_size)
{
    return key_size == 16 ? EVP_aes_128_wrap() : key_size == 24 ? EVP_aes_192_wrap()
                                                                : EVP_aes_256_wrap();
}

/* RFC 3394: wraps or unwraps. Returns false if the result is invalid. */
static bool wrap(bool in, const uint8_t *kek, unsigned key_size, const uint8_t *from, size_t size,
                 uint8_t *to)
{
    EVP_CIPHER_CTX *ctx = must(EVP_CIPHER_CTX_new());
    size_t want = in ? size + WRAP : size - WRAP;
    int written = 0;
    bool done;

    EVP_CIPHER_CTX_set_flags(ctx, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    done = EVP_CipherInit_ex(ctx, wrapping(key_size), NULL, kek, NULL, in) == 1 &&
           EVP_CipherUpdate(ctx, to, &written, from, (int)size) == 1 && (size_t)written == want;
    EVP_CIPHER_CTX_free(ctx);
    return done;
}

/* Unwraps the keys of the message with the key encrypting key of `out`. */
static bool unwrap_keys(struct srt_secret *out, const struct srt_km *km)
{
    uint8_t keys[sizeof(km->wrapped)], *at = keys;
    bool done = wrap(false, out->kek, km->key_size, km->wrapped, km->wrapped_size, keys);

    for (int i = 0; done && i < 2; i++) {
        if (!(km->which & (i == 0 ? SRT_EVEN : SRT_ODD)))
            continue;
        memcpy(out->key[i], at, km->key_size);
        at += km->key_size;
    }
    OPENSSL_cleanse(keys, sizeof(keys));
    return done;
}

bool srt_km_unwrap(struct srt_secret *out, const struct srt_km *km, const char *passphrase)
{
    *out = (struct srt_secret){ .which = km->which, .key_size = km->key_size };
    memcpy(out->salt, km->salt, SRT_SALT);
    if (make_kek(passphrase, km->salt, km->key_size, out->kek) && unwrap_keys(out, km))
        return true;
    OPENSSL_cleanse(out, sizeof(*out));
    return false;
}

bool srt_km_unwrap_known(struct srt_secret *inout, const struct srt_km *km)
{
    if (km->key_size != inout->key_size || memcmp(km->salt, inout->salt, SRT_SALT) != 0 ||
        !unwrap_keys(inout, km))
        return false;
    inout->which |= km->which;
    return true;
}

bool srt_secret_new(struct srt_secret *out, unsigned key_size, const char *passphrase)
{
    *out = (struct srt_secret){ .which = SRT_EVEN, .key_size = (uint8_t)key_size };
    return RAND_bytes(out->salt, SRT_SALT) == 1 && RAND_bytes(out->key[0], (int)key_size) == 1 &&
           make_kek(passphrase, out->salt, key_size, out->kek);
}

bool srt_secret_wrap(const struct srt_secret *s, struct srt_km *out)
{
    uint8_t keys[2 * SRT_KEY_MAX];
    size_t size = 0;
    bool done;

    *out = (struct srt_km){ .which = s->which, .key_size = s->key_size };
    memcpy(out->salt, s->salt, SRT_SALT);
    for (int i = 0; i < 2; i++) {
        if (!(s->which & (i == 0 ? SRT_EVEN : SRT_ODD)))
            continue;
        memcpy(keys + size, s->key[i], s->key_size);
        size += s->key_size;
    }
    out->wrapped_size = size + WRAP;
    done = wrap(true, s->kek, s->key_size, keys, size, out->wrapped);
    OPENSSL_cleanse(keys, sizeof(keys));
    return done;
}

bool srt_secret_renew(struct srt_secret *s, enum srt_key which)
{
    assert(which == SRT_EVEN || which == SRT_ODD);
    if (RAND_bytes(s->key[which - 1], s->key_size) != 1)
        return false;
    s->which |= (uint8_t)which;
    return true;
}

/* ---- packets */

struct srt_cipher {
    uint8_t salt[SRT_SALT];
    EVP_CIPHER_CTX *key[2]; /* even, odd; NULL: unknown */
};

struct srt_cipher *srt_cipher_new(const struct srt_secret *s)
{
    struct srt_cipher *c = calloc(1, sizeof(*c));

    if (c && srt_cipher_set(c, s))
        return c;
    srt_cipher_free(c);
    return NULL;
}

void srt_cipher_free(struct srt_cipher *c)
{
    if (!c)
        return;
    EVP_CIPHER_CTX_free(c->key[0]);
    EVP_CIPHER_CTX_free(c->key[1]);
    free(c);
}

static const EVP_CIPHER *counting(unsigned key_size)
{
    return key_size == 16 ? EVP_aes_128_ctr() : key_size == 24 ? EVP_aes_192_ctr()
                                                               : EVP_aes_256_ctr();
}

bool srt_cipher_set(struct srt_cipher *c, const struct srt_secret *s)
{
    memcpy(c->salt, s->salt, SRT_SALT);
    for (int i = 0; i < 2; i++) {
        if (!(s->which & (i == 0 ? SRT_EVEN : SRT_ODD)))
            continue;
        if (!c->key[i])
            c->key[i] = EVP_CIPHER_CTX_new();
        if (!c->key[i] ||
            EVP_EncryptInit_ex(c->key[i], counting(s->key_size), NULL, s->key[i], NULL) != 1)
            return false;
    }
    return true;
}

bool srt_cipher_has(const struct srt_cipher *c, enum srt_key key)
{
    return (key == SRT_EVEN || key == SRT_ODD) && c->key[key - 1];
}

/* Builds the counter block: ten zeros, the sequence number and two bytes that count blocks; the
 * first fourteen bytes are mixed with those of the salt. */
static void counter_of(const struct srt_cipher *c, uint32_t seq, uint8_t block[BLOCK])
{
    memset(block, 0, BLOCK);
    (void)be_put32(block + 10, seq);
    for (int i = 0; i < NONCE; i++)
        block[i] ^= c->salt[i];
}

void srt_cipher_run(struct srt_cipher *c, enum srt_key key, uint32_t seq, const uint8_t *in,
                    uint8_t *out, size_t size)
{
    uint8_t block[BLOCK];
    int written = 0;

    assert(srt_cipher_has(c, key));
    counter_of(c, seq, block);
    must_be(EVP_EncryptInit_ex(c->key[key - 1], NULL, NULL, NULL, block) == 1 &&
            EVP_EncryptUpdate(c->key[key - 1], out, &written, in, (int)size) == 1 &&
            (size_t)written == size);
}

/* ---- key messages */

enum {
    HEAD = 0x12, SIGNATURE = 0x2029, /* version 1, key message; signature of Haivision */
    AES_CTR = 2, SRT_TS = 2,         /* cipher; content type: TS over SRT */
};

static size_t wrapped_size(const struct srt_km *km)
{
    return (size_t)km->key_size * (km->which == (SRT_EVEN | SRT_ODD) ? 2 : 1) + WRAP;
}

/* Reads the fields before salt and keys. */
static bool read_head(struct srt_km *km, struct rd *r)
{
    uint8_t head = rd_u8(r), salt, words;
    uint16_t signature = rd_u16(r), cipher, transport;
    uint32_t id;

    km->which = rd_u8(r);
    id = rd_u32(r);
    cipher = rd_u16(r);      /* cipher, authentication */
    transport = rd_u16(r);   /* encapsulation, reserved */
    (void)rd_u16(r);
    salt = rd_u8(r);
    words = rd_u8(r);
    km->key_size = (uint8_t)(words * 4);
    return head == HEAD && signature == SIGNATURE && id == 0 && cipher == AES_CTR << 8 &&
           transport >> 8 == SRT_TS && salt == SRT_SALT / 4 &&
           (words == 4 || words == 6 || words == 8);
}

bool srt_km_read(struct srt_km *km, const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    const uint8_t *salt, *keys;

    *km = (struct srt_km){ 0 };
    if (!read_head(km, &r) || km->which < SRT_EVEN || km->which > (SRT_EVEN | SRT_ODD))
        return false;
    km->wrapped_size = wrapped_size(km);
    salt = rd_take(&r, SRT_SALT);
    keys = rd_take(&r, km->wrapped_size);
    if (r.bad || rd_left(&r) > 0)
        return false;
    memcpy(km->salt, salt, SRT_SALT);
    memcpy(km->wrapped, keys, km->wrapped_size);
    return true;
}

size_t srt_km_write(const struct srt_km *km, uint8_t out[SRT_KM_MAX])
{
    memset(out, 0, 16);
    out[0] = HEAD;
    (void)be_put16(out + 1, SIGNATURE);
    out[3] = km->which;
    out[8] = AES_CTR;
    out[10] = SRT_TS;
    out[14] = SRT_SALT / 4;
    out[15] = (uint8_t)(km->key_size / 4);
    memcpy(out + 16, km->salt, SRT_SALT);
    memcpy(out + 16 + SRT_SALT, km->wrapped, km->wrapped_size);
    return 16 + SRT_SALT + km->wrapped_size;
}
