/* SPDX-License-Identifier: MIT */
/* crypt.h - SRTP session keys, and encryption of single packets; only for proto/srtp. */
#ifndef PROTO_SRTP_CRYPT_H
#define PROTO_SRTP_CRYPT_H

#include "proto/srtp/srtp.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

enum { SRTP_AUTH = 20, SRTP_TAG_CM = 10, SRTP_TAG_GCM = 16, SRTCP_INDEX = 4, SRTCP_HEADER = 8 };
#define SRTCP_ENCRYPTED 0x80000000u /* flag before the index: [SRTP] 3.4 */

/* Key labels of [SRTP] 4.3.2: those of RTP start at 0, those of RTCP at 3. */
enum srtp_label { SRTP_LABEL_RTP = 0, SRTP_LABEL_RTCP = 3 };

struct srtp_session { /* session keys; wiped by their creator */
    uint8_t key[SRTP_KEY], salt[SRTP_SALT], auth[SRTP_AUTH];
};
/* Derives session keys, [SRTP] 4.3. Returns false if memory allocation fails. */
bool srtp_derive(struct srtp_session *out, const struct srtp_keys *master, enum srtp_label label);

/* A cipher ready for use: keyed once; each packet sets its IV. */
struct srtp_crypt {
    bool gcm;
    uint8_t salt[SRTP_SALT];
    EVP_CIPHER_CTX *aes;
    SHA_CTX inner, outer; /* HMAC states after its key */
};
/* `seal`: encrypts; otherwise decrypts. Returns false if memory allocation fails; it still needs
 * fini. */
bool srtp_crypt_init(struct srtp_crypt *c, enum srtp_profile profile, const struct srtp_session *s,
                     bool seal);
/* Initializes the zeroed ciphers of one direction. They need fini even on an error. */
err_t srtp_crypt_both(struct srtp_crypt *rtp, struct srtp_crypt *rtcp,
                      const struct srtp_keys *keys, bool seal)
    __attribute__((warn_unused_result));
void srtp_crypt_fini(struct srtp_crypt *c); /* works on a zeroed struct */

/* Input for a packet's IV: its index has 48 bits for RTP and 31 for RTCP. */
struct srtp_nonce {
    uint32_t ssrc;
    uint64_t index;
};
/* Encrypts or decrypts with AES-CM, which is the same operation. `out` may be `in`. */
bool srtp_cm_run(struct srtp_crypt *c, const struct srtp_nonce *n, const uint8_t *in, uint8_t *out,
                 size_t size);
/* HMAC-SHA1-80 of a packet followed by a word: the rollover counter of RTP, [SRTP] 4.2. */
void srtp_cm_tag(const struct srtp_crypt *c, const uint8_t *data, size_t size, const uint8_t *more,
                 size_t more_size, uint8_t tag[SRTP_AUTH]);

struct srtp_known { /* authenticated but not encrypted: the header, and the word after RTCP */
    const uint8_t *head, *more;
    size_t head_size, more_size;
};
bool srtp_gcm_seal(struct srtp_crypt *c, const struct srtp_nonce *n, const struct srtp_known *k,
                   const uint8_t *in, uint8_t *out, size_t size);
/* The tag follows the `size` bytes of data. Returns false if it does not match. */
bool srtp_gcm_open(struct srtp_crypt *c, const struct srtp_nonce *n, const struct srtp_known *k,
                   uint8_t *data, size_t size);

#endif
