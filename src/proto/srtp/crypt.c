/* SPDX-License-Identifier: MIT */
/* crypt.c - one packet under its keys: AES-CM with HMAC-SHA1-80 ([SRTP] 4.1, 4.2), AES-128-GCM
 * ([GCM] 8, 9). Nothing is allocated for a packet. */
/* SHA1_Update() and the like: a state of EVP can only be copied with an allocation. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "proto/srtp/crypt.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <string.h>

enum { BLOCK = 16, HMAC_BLOCK = 64, GCM_IV = 12 };

/* ---- keys of packets out of those that a handshake gives: [SRTP] 4.3, [GCM] 11 */

enum { LABEL_AT = 7 /* of a key id, behind which are 48 bits of 0 */ };

void srtp_keys_wipe(struct srtp_keys *k)
{
    OPENSSL_cleanse(k, sizeof(*k));
}

/* The key stream of the master key, from a salt that is changed by its label alone: we derive
 * once for a connection. Salts of GCM are 12 bytes, with two of 0 behind them. */
static bool stream(EVP_CIPHER_CTX *aes, const uint8_t salt[SRTP_SALT], unsigned label, uint8_t *out,
                   int size)
{
    static const uint8_t zeros[SRTP_AUTH];
    uint8_t iv[BLOCK] = { 0 };
    int made;

    memcpy(iv, salt, SRTP_SALT);
    iv[LABEL_AT] ^= (uint8_t)label;
    return EVP_EncryptInit_ex(aes, NULL, NULL, NULL, iv) == 1 &&
           EVP_EncryptUpdate(aes, out, &made, zeros, size) == 1 && made == size;
}

bool srtp_derive(struct srtp_session *out, const struct srtp_keys *master, enum srtp_label label)
{
    EVP_CIPHER_CTX *aes = EVP_CIPHER_CTX_new();
    uint8_t salt[SRTP_SALT] = { 0 };
    bool done;

    memcpy(salt, master->salt, master->profile == SRTP_AEAD_AES_128_GCM ? 12 : SRTP_SALT);
    done = aes && EVP_EncryptInit_ex(aes, EVP_aes_128_ctr(), NULL, master->key, NULL) == 1 &&
           stream(aes, salt, label, out->key, SRTP_KEY) &&
           stream(aes, salt, label + 1, out->auth, SRTP_AUTH) &&
           stream(aes, salt, label + 2, out->salt, SRTP_SALT);
    EVP_CIPHER_CTX_free(aes);
    return done;
}

/* ---- ciphers */

/* SHA-1 after the key, mixed with that byte: both halves of HMAC begin so, RFC 2104. */
static void begin_half(SHA_CTX *half, const uint8_t key[SRTP_AUTH], uint8_t mix)
{
    uint8_t block[HMAC_BLOCK];

    memset(block, mix, sizeof(block));
    for (size_t i = 0; i < SRTP_AUTH; i++)
        block[i] ^= key[i];
    SHA1_Init(half);
    SHA1_Update(half, block, sizeof(block));
    OPENSSL_cleanse(block, sizeof(block));
}

bool srtp_crypt_init(struct srtp_crypt *c, enum srtp_profile profile, const struct srtp_session *s,
                     bool seal)
{
    *c = (struct srtp_crypt){ .gcm = profile == SRTP_AEAD_AES_128_GCM };
    memcpy(c->salt, s->salt, sizeof(c->salt));
    if (!c->gcm) {
        begin_half(&c->inner, s->auth, 0x36);
        begin_half(&c->outer, s->auth, 0x5c);
    }
    c->aes = EVP_CIPHER_CTX_new();
    return c->aes && EVP_CipherInit_ex(c->aes, c->gcm ? EVP_aes_128_gcm() : EVP_aes_128_ctr(), NULL,
                                       s->key, NULL, seal || !c->gcm) == 1;
}

/* That of a label: derived, made, wiped. */
static bool derive(struct srtp_crypt *c, const struct srtp_keys *keys, enum srtp_label label,
                   bool seal)
{
    struct srtp_session s;
    bool done = srtp_derive(&s, keys, label) && srtp_crypt_init(c, keys->profile, &s, seal);

    OPENSSL_cleanse(&s, sizeof(s));
    return done;
}

err_t srtp_crypt_both(struct srtp_crypt *rtp, struct srtp_crypt *rtcp,
                      const struct srtp_keys *keys, bool seal)
{
    assert(keys->profile != SRTP_NONE);
    if (derive(rtp, keys, SRTP_LABEL_RTP, seal) && derive(rtcp, keys, SRTP_LABEL_RTCP, seal))
        return NULL;
    return err_new(ERR_NO_MEMORY, "ciphers of SRTP");
}

void srtp_crypt_fini(struct srtp_crypt *c)
{
    EVP_CIPHER_CTX_free(c->aes);
    OPENSSL_cleanse(c, sizeof(*c));
}

/* ---- AES-CM */

/* [SRTP] 4.1.1: salt << 16 ^ ssrc << 64 ^ index << 16. */
bool srtp_cm_run(struct srtp_crypt *c, const struct srtp_nonce *n, const uint8_t *in, uint8_t *out,
                 size_t size)
{
    uint8_t iv[BLOCK] = { 0 };
    int made;

    memcpy(iv, c->salt, SRTP_SALT);
    for (int i = 0; i < 4; i++)
        iv[4 + i] ^= (uint8_t)(n->ssrc >> (24 - 8 * i));
    for (int i = 0; i < 6; i++)
        iv[8 + i] ^= (uint8_t)(n->index >> (40 - 8 * i));
    return EVP_CipherInit_ex(c->aes, NULL, NULL, NULL, iv, -1) == 1 &&
           EVP_CipherUpdate(c->aes, out, &made, in, (int)size) == 1;
}

void srtp_cm_tag(const struct srtp_crypt *c, const uint8_t *data, size_t size, const uint8_t *more,
                 size_t more_size, uint8_t tag[SRTP_AUTH])
{
    SHA_CTX half = c->inner;
    uint8_t inner[SHA_DIGEST_LENGTH];

    SHA1_Update(&half, data, size);
    SHA1_Update(&half, more, more_size);
    SHA1_Final(inner, &half);
    half = c->outer;
    SHA1_Update(&half, inner, sizeof(inner));
    SHA1_Final(tag, &half);
}

/* ---- AES-GCM */

/* [GCM] 8.1 and 9.1: two bytes of 0, SSRC, and 48 bits that are the index, of RTCP as well. */
static bool begin(struct srtp_crypt *c, const struct srtp_nonce *n, const struct srtp_known *k)
{
    uint8_t iv[GCM_IV];
    int made;

    memcpy(iv, c->salt, GCM_IV);
    for (int i = 0; i < 4; i++)
        iv[2 + i] ^= (uint8_t)(n->ssrc >> (24 - 8 * i));
    for (int i = 0; i < 6; i++)
        iv[6 + i] ^= (uint8_t)(n->index >> (40 - 8 * i));
    return EVP_CipherInit_ex(c->aes, NULL, NULL, NULL, iv, -1) == 1 &&
           EVP_CipherUpdate(c->aes, NULL, &made, k->head, (int)k->head_size) == 1 &&
           (k->more_size == 0 ||
            EVP_CipherUpdate(c->aes, NULL, &made, k->more, (int)k->more_size) == 1);
}

/* An update of no bytes is an end to some versions of OpenSSL: it is left out. */
static bool text(struct srtp_crypt *c, const uint8_t *in, uint8_t *out, size_t size)
{
    int made;

    return size == 0 || EVP_CipherUpdate(c->aes, out, &made, in, (int)size) == 1;
}

bool srtp_gcm_seal(struct srtp_crypt *c, const struct srtp_nonce *n, const struct srtp_known *k,
                   const uint8_t *in, uint8_t *out, size_t size)
{
    int made;

    return begin(c, n, k) && text(c, in, out, size) &&
           EVP_CipherFinal_ex(c->aes, out + size, &made) == 1 &&
           EVP_CIPHER_CTX_ctrl(c->aes, EVP_CTRL_AEAD_GET_TAG, SRTP_TAG_GCM, out + size) == 1;
}

bool srtp_gcm_open(struct srtp_crypt *c, const struct srtp_nonce *n, const struct srtp_known *k,
                   uint8_t *data, size_t size)
{
    uint8_t none[BLOCK];
    int made;

    return begin(c, n, k) && text(c, data, data, size) &&
           EVP_CIPHER_CTX_ctrl(c->aes, EVP_CTRL_AEAD_SET_TAG, SRTP_TAG_GCM, data + size) == 1 &&
           EVP_CipherFinal_ex(c->aes, none, &made) == 1;
}
