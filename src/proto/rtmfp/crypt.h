/* SPDX-License-Identifier: MIT */
/* crypt.h - datagrams ([RTMFP] 2.2.2, [PROFILE] 4.1 and 4.7): a scrambled session id, and the plain
 * packet under AES-128-CBC with its checksum or HMAC, and its number.
 *
 * What a session keeps for this is raw keys and numbers: some 100 bytes a direction. The library's
 * ciphers are in a struct rtmfp_cipher, which knows the keys that it was given last: one of a
 * thread serves all sessions and is given keys for each packet (0.4 us), one that a session has to
 * itself while it carries media has them already (0.1 us). Nothing is allocated for a packet.
 */
#ifndef PROTO_RTMFP_CRYPT_H
#define PROTO_RTMFP_CRYPT_H

#include "proto/rtmfp/vlu.h"

enum { RTMFP_HASH = 32 };

/* HMAC-SHA256 (RFC 2104) of short texts: no memory, nothing of the library to look up. */
void rtmfp_hmac(struct rtmfp_bytes key, struct rtmfp_bytes text, uint8_t out[RTMFP_HASH]);
void rtmfp_sha256(struct rtmfp_bytes text, uint8_t out[RTMFP_HASH]);

enum {
    RTMFP_KEY = 16, RTMFP_MAC_KEY = 32,
    RTMFP_MAC_MIN = 4, RTMFP_MAC_MAX = 32,  /* bytes of an HMAC in a packet */
    RTMFP_WINDOW = 256,                     /* numbers that are remembered */
    RTMFP_ID = 4, RTMFP_BLOCK = 16,
    RTMFP_SEAL_MAX = RTMFP_ID + RTMFP_VLU_MAX + 2, /* in front of a plain packet, at most */
    RTMFP_DATAGRAM_MAX = 2048,              /* of what we read */
    /* Of what holds a plain packet of RTMFP_PLAIN_MAX. */
    RTMFP_SEALED_MAX = RTMFP_SEAL_MAX + 1192 + RTMFP_BLOCK + RTMFP_MAC_MAX,
};

/* Of one direction. Zeros but for the key: as startup packets are. */
struct rtmfp_key {
    uint8_t aes[RTMFP_KEY];
    uint8_t mac[RTMFP_MAC_KEY];
    uint8_t hmac;       /* bytes of HMAC in each packet; 0: a checksum */
    bool numbered;
};

/* What we send. */
struct rtmfp_sealer {
    struct rtmfp_key key;
    uint64_t next;      /* number; they do not wrap */
};

/* What comes. */
struct rtmfp_opener {
    struct rtmfp_key key;
    uint64_t top;       /* the highest number that came */
    uint64_t came[RTMFP_WINDOW / 64];
};

/* That of startup packets, [PROFILE] 4.7. */
extern const uint8_t rtmfp_default_key[RTMFP_KEY];

/* Ciphers for both directions, of one thread at a time. */
struct rtmfp_cipher;
struct rtmfp_cipher *rtmfp_cipher_new(void); /* NULL: there is no memory */
void rtmfp_cipher_free(struct rtmfp_cipher *c); /* NULL is fine */

/* ---- sending: the plain packet is written where it belongs in the datagram, then sealed there */

/* A writer for a plain packet of at most `most` bytes in a datagram of `room`: what it writes can
 * be sealed. */
struct wr rtmfp_seal_begin(const struct rtmfp_sealer *s, uint8_t *datagram, size_t room,
                           size_t most);
/* The plain packet that it wrote, to the session that its receiver calls `id`. The size of the
 * datagram; 0: it was empty or did not fit, or there are no more numbers. */
size_t rtmfp_seal(struct rtmfp_cipher *c, struct rtmfp_sealer *s, uint32_t id, struct wr *plain);

/* ---- receiving */

/* Whose it is; 0: startup. False: it is too short to be any. */
bool rtmfp_session_id(const uint8_t *datagram, size_t size, uint32_t *id);

enum rtmfp_opened {
    RTMFP_OPENED,
    RTMFP_BAD_SIZE,     /* not of whole blocks and an HMAC */
    RTMFP_BAD_SUM,      /* checksum or HMAC: it is not the peer's, or of other keys */
    RTMFP_REPEATED,     /* or too old to say */
};
/* To out, of RTMFP_DATAGRAM_MAX bytes; the plain packet, its filling included, is in there. */
enum rtmfp_opened rtmfp_open(struct rtmfp_cipher *c, struct rtmfp_opener *o,
                             const uint8_t *datagram, size_t size, uint8_t *out,
                             struct rtmfp_bytes *plain);

/* The checksum of [PROFILE] 4.7.3.1 over these bytes. An odd one at the end is the low half of a
 * word, or the high one, as one implementation has it. Also for tests. */
uint16_t rtmfp_checksum(const uint8_t *data, size_t size, bool odd_is_high);

/* ---- keys of a session ([PROFILE] 4.6.4, 4.6.5) */

enum rtmfp_side { RTMFP_OF_INITIATOR, RTMFP_OF_RESPONDER, RTMFP_SIDES };

/* What each side sends with. Wipe it when it is done with. */
struct rtmfp_keys {
    struct {
        uint8_t aes[RTMFP_KEY], mac[RTMFP_MAC_KEY];
        uint8_t nonce[RTMFP_HASH];
    } of[RTMFP_SIDES];
};

/* z: the secret, without zeros in front; the components as they were sent. */
void rtmfp_keys_derive(struct rtmfp_keys *out, struct rtmfp_bytes z, struct rtmfp_bytes skic,
                       struct rtmfp_bytes skrc);
/* Into that key of a direction; what was agreed on stays as it is. */
void rtmfp_keys_set(struct rtmfp_key *key, const struct rtmfp_keys *keys, enum rtmfp_side side);

#endif
