/* SPDX-License-Identifier: MIT */
/* derive.c - keys of packets out of those that a handshake gives: [SRTP] 4.3, [GCM] 11. */
#include "proto/srtp/crypt.h"

#include <openssl/crypto.h>
#include <string.h>

enum { BLOCK = 16, LABEL_AT = 7 /* of a key id, behind which are 48 bits of 0 */ };

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
