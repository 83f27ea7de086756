/* SPDX-License-Identifier: MIT */
/* crypt.c - key derivation and encryption of packets: AES-CM with HMAC-SHA1-80 ([SRTP] 4.1, 4.2),
 * AES-128-GCM ([GCM] 8, 9). Nothing is allocated per packet.
 */
/* for SHA1_Update() and the like: copying a state of EVP requires an allocation */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "proto/srtp/crypt.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <string.h>

enum { BLOCK = 16, HMAC_BLOCK = 64, GCM_IV = 12 };

/* ---- deriving session keys from the handshake's keys: [SRTP] 4.3, [GCM] 11 */

enum { LABEL_AT = 7 /* position of the label; 48 zero bits follow it */ };

void srtp_keys_wipe(struct srtp_keys *k)
{
    OPENSSL_cleanse(k, sizeof(*k));
}

/* Writes key stream of the master key, with a salt changed only by the label, because keys are
 * derived once per connection. GCM's salt is 12 bytes, followed by two zero bytes. */
static bool stream(EVP_CIPHER_CTX *aes, const uint8_t salt[SRTP_SALT], unsigned label, uint8_t *out,
                   int size)
{
    static const uint8_t zeros[SRTP_AUTH];
    uint8_t iv[BLOCK] = { 0 };
    int written;

    memcpy(iv, salt, SRTP_SALT);
    iv[LABEL_AT] ^= (uint8_t)label;
    return EVP_EncryptInit_ex(aes, NULL, NULL, NULL, iv) == 1 &&
           EVP_EncryptUpdate(aes, out, &written, zeros, size) == 1 && written == size;
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

/* Starts one half of HMAC: SHA-1 of the key XORed with the byte `mix`, RFC 2104. */
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

/* Derives the keys of a label, initializes the cipher, and wipes the keys. */
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
    return err_new(ERR_NO_MEMORY, "SRTP ciphers");
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
    int written;

    memcpy(iv, c->salt, SRTP_SALT);
    for (int i = 0; i < 4; i++)
        iv[4 + i] ^= (uint8_t)(n->ssrc >> (24 - 8 * i));
    for (int i = 0; i < 6; i++)
        iv[8 + i] ^= (uint8_t)(n->index >> (40 - 8 * i));
    return EVP_CipherInit_ex(c->aes, NULL, NULL, NULL, iv, -1) == 1 &&
           EVP_CipherUpdate(c->aes, out, &written, in, (int)size) == 1;
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

/* [GCM] 8.1 and 9.1: two zero bytes, SSRC, and the index in 48 bits, also for RTCP. */
static bool begin(struct srtp_crypt *c, const struct srtp_nonce *n, const struct srtp_known *k)
{
    uint8_t iv[GCM_IV];
    int written;

    memcpy(iv, c->salt, GCM_IV);
    for (int i = 0; i < 4; i++)
        iv[2 + i] ^= (uint8_t)(n->ssrc >> (24 - 8 * i));
    for (int i = 0; i < 6; i++)
        iv[6 + i] ^= (uint8_t)(n->index >> (40 - 8 * i));
    return EVP_CipherInit_ex(c->aes, NULL, NULL, NULL, iv, -1) == 1 &&
           EVP_CipherUpdate(c->aes, NULL, &written, k->head, (int)k->head_size) == 1 &&
           (k->more_size == 0 ||
            EVP_CipherUpdate(c->aes, NULL, &written, k->more, (int)k->more_size) == 1);
}

/* Skips an empty update, which some versions of OpenSSL take as the end. */
static bool text(struct srtp_crypt *c, const uint8_t *in, uint8_t *out, size_t size)
{
    int written;

    return size == 0 || EVP_CipherUpdate(c->aes, out, &written, in, (int)size) == 1;
}

bool srtp_gcm_seal(struct srtp_crypt *c, const struct srtp_nonce *n, const struct srtp_known *k,
                   const uint8_t *in, uint8_t *out, size_t size)
{
    int written;

    return begin(c, n, k) && text(c, in, out, size) &&
           EVP_CipherFinal_ex(c->aes, out + size, &written) == 1 &&
           EVP_CIPHER_CTX_ctrl(c->aes, EVP_CTRL_AEAD_GET_TAG, SRTP_TAG_GCM, out + size) == 1;
}

bool srtp_gcm_open(struct srtp_crypt *c, const struct srtp_nonce *n, const struct srtp_known *k,
                   uint8_t *data, size_t size)
{
    uint8_t none[BLOCK];
    int written;

    return begin(c, n, k) && text(c, data, data, size) &&
           EVP_CIPHER_CTX_ctrl(c->aes, EVP_CTRL_AEAD_SET_TAG, SRTP_TAG_GCM, data + size) == 1 &&
           EVP_CipherFinal_ex(c->aes, none, &written) == 1;
}
