/* SPDX-License-Identifier: MIT */
/* crypt.h - keys of SRTP, and one packet under them; for the files of proto/srtp alone. */
#ifndef PROTO_SRTP_CRYPT_H
#define PROTO_SRTP_CRYPT_H

#include "proto/srtp/srtp.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

enum { SRTP_AUTH = 20, SRTP_TAG_CM = 10, SRTP_TAG_GCM = 16, SRTCP_INDEX = 4, SRTCP_HEADER = 8 };
#define SRTCP_ENCRYPTED 0x80000000u /* in front of the index: [SRTP] 3.4 */

/* What [SRTP] 4.3.2 numbers keys by: those of RTP, and 3 later those of RTCP. */
enum srtp_label { SRTP_LABEL_RTP = 0, SRTP_LABEL_RTCP = 3 };

struct srtp_session { /* keys as packets have them; wiped by who made it */
    uint8_t key[SRTP_KEY], salt[SRTP_SALT], auth[SRTP_AUTH];
};
/* [SRTP] 4.3. False: there is no memory. */
bool srtp_derive(struct srtp_session *out, const struct srtp_keys *master, enum srtp_label label);

/* One of them, ready: keyed once, and each packet sets its IV. */
struct srtp_crypt {
    bool gcm;
    uint8_t salt[SRTP_SALT];
    EVP_CIPHER_CTX *aes;
    SHA_CTX inner, outer; /* of HMAC: what its key has made of SHA-1 */
};
/* `seal`: to encrypt, else to decrypt. False: there is no memory; it is finished all the same. */
bool srtp_crypt_init(struct srtp_crypt *c, enum srtp_profile profile, const struct srtp_session *s,
                     bool seal);
/* Those of a direction, which are zero. Of an error they are to be finished all the same. */
err_t srtp_crypt_both(struct srtp_crypt *rtp, struct srtp_crypt *rtcp,
                      const struct srtp_keys *keys, bool seal)
    __attribute__((warn_unused_result));
void srtp_crypt_fini(struct srtp_crypt *c); /* all zero is fine */

/* What makes a packet's IV: its index, 48 bits of RTP and 31 of RTCP. */
struct srtp_nonce {
    uint32_t ssrc;
    uint64_t index;
};
/* AES-CM, both ways the same. `out` may be `in`. */
bool srtp_cm_run(struct srtp_crypt *c, const struct srtp_nonce *n, const uint8_t *in, uint8_t *out,
                 size_t size);
/* HMAC-SHA1-80 of a packet with a word behind it: the rollovers of RTP, [SRTP] 4.2. */
void srtp_cm_tag(const struct srtp_crypt *c, const uint8_t *data, size_t size, const uint8_t *more,
                 size_t more_size, uint8_t tag[SRTP_AUTH]);

struct srtp_known { /* authenticated, in the clear: a header, and the word behind RTCP */
    const uint8_t *head, *more;
    size_t head_size, more_size;
};
bool srtp_gcm_seal(struct srtp_crypt *c, const struct srtp_nonce *n, const struct srtp_known *k,
                   const uint8_t *in, uint8_t *out, size_t size);
/* The tag is behind `size` bytes of data. False: it is another one. */
bool srtp_gcm_open(struct srtp_crypt *c, const struct srtp_nonce *n, const struct srtp_known *k,
                   uint8_t *data, size_t size);

#endif
