/* SPDX-License-Identifier: MIT */
/* crypt.h - datagrams ([RTMFP] 2.2.2, [PROFILE] 4.1 and 4.7): a scrambled session id, and the plain
 * packet encrypted with AES-128-CBC, with a checksum or HMAC and a sequence number.
 *
 * A session stores only raw keys and numbers, some 100 bytes per direction. The library's ciphers
 * are in a struct rtmfp_cipher, which remembers its last keys. One cipher per thread serves all
 * sessions and sets the key for each packet (0.4 us); a session that carries media has its own and
 * skips this (0.1 us). Nothing is allocated per packet.
 */
#ifndef PROTO_RTMFP_CRYPT_H
#define PROTO_RTMFP_CRYPT_H

#include "proto/rtmfp/vlu.h"

enum { RTMFP_HASH = 32 };

/* HMAC-SHA256 (RFC 2104) of a short text, without allocation and without algorithm lookups in the
 * library. */
void rtmfp_hmac(struct rtmfp_bytes key, struct rtmfp_bytes text, uint8_t out[RTMFP_HASH]);
void rtmfp_sha256(struct rtmfp_bytes text, uint8_t out[RTMFP_HASH]);

enum {
    RTMFP_KEY = 16, RTMFP_MAC_KEY = 32,
    RTMFP_MAC_MIN = 4, RTMFP_MAC_MAX = 32,  /* bytes of an HMAC in a packet */
    RTMFP_WINDOW = 256,                     /* sequence numbers that are remembered */
    RTMFP_ID = 4, RTMFP_BLOCK = 16,
    RTMFP_SEAL_MAX = RTMFP_ID + RTMFP_VLU_MAX + 2, /* most bytes before a plain packet */
    RTMFP_DATAGRAM_MAX = 2048,              /* largest datagram that is read */
    /* Size of a datagram with a plain packet of RTMFP_PLAIN_MAX bytes. */
    RTMFP_SEALED_MAX = RTMFP_SEAL_MAX + 1192 + RTMFP_BLOCK + RTMFP_MAC_MAX,
};

/* Key of one direction. Startup packets have all fields zero except `aes`. */
struct rtmfp_key {
    uint8_t aes[RTMFP_KEY];
    uint8_t mac[RTMFP_MAC_KEY];
    uint8_t hmac;       /* bytes of HMAC in each packet; 0: a checksum instead */
    bool numbered;
};

/* State of the sending direction. */
struct rtmfp_sealer {
    struct rtmfp_key key;
    uint64_t next;      /* next sequence number; never wraps */
};

/* State of the receiving direction. */
struct rtmfp_opener {
    struct rtmfp_key key;
    uint64_t top;       /* highest sequence number received */
    uint64_t came[RTMFP_WINDOW / 64];
};

/* Key of startup packets, [PROFILE] 4.7. */
extern const uint8_t rtmfp_default_key[RTMFP_KEY];

/* Ciphers for both directions, used by one thread at a time. */
struct rtmfp_cipher;
struct rtmfp_cipher *rtmfp_cipher_new(void); /* NULL if memory allocation fails */
void rtmfp_cipher_free(struct rtmfp_cipher *c); /* NULL is allowed */

/* ---- sending: the plain packet is written at its place in the datagram and sealed there */

/* Returns a writer for a plain packet of at most `most` bytes in a datagram of `room` bytes, such
 * that the result can be sealed. */
struct wr rtmfp_seal_begin(const struct rtmfp_sealer *s, uint8_t *datagram, size_t room,
                           size_t most);
/* Seals the plain packet for the session with the receiver's id `id`. Returns the size of the
 * datagram, or 0 if the packet is empty or did not fit, or if the sequence numbers are used up. */
size_t rtmfp_seal(struct rtmfp_cipher *c, struct rtmfp_sealer *s, uint32_t id, struct wr *plain);

/* ---- receiving */

/* Reads the session id; 0: startup. Returns false if the datagram is too short. */
bool rtmfp_session_id(const uint8_t *datagram, size_t size, uint32_t *id);

enum rtmfp_opened {
    RTMFP_OPENED,
    RTMFP_BAD_SIZE,     /* not a number of whole blocks plus an HMAC */
    RTMFP_BAD_SUM,      /* wrong checksum or HMAC: forged, or other keys */
    RTMFP_REPEATED,     /* duplicate, or too old to tell */
};
/* Decrypts to `out`, of RTMFP_DATAGRAM_MAX bytes; `plain` becomes the plain packet in it, including
 * its padding. */
enum rtmfp_opened rtmfp_open(struct rtmfp_cipher *c, struct rtmfp_opener *o,
                             const uint8_t *datagram, size_t size, uint8_t *out,
                             struct rtmfp_bytes *plain);

/* Checksum of [PROFILE] 4.7.3.1 over these bytes. An odd last byte is the low half of a word, or
 * the high half, as in one implementation. Also for tests. */
uint16_t rtmfp_checksum(const uint8_t *data, size_t size, bool odd_is_high);

/* ---- session keys ([PROFILE] 4.6.4, 4.6.5) */

enum rtmfp_side { RTMFP_OF_INITIATOR, RTMFP_OF_RESPONDER, RTMFP_SIDES };

/* Keys that each side sends with. Wipe it after use. */
struct rtmfp_keys {
    struct {
        uint8_t aes[RTMFP_KEY], mac[RTMFP_MAC_KEY];
        uint8_t nonce[RTMFP_HASH];
    } of[RTMFP_SIDES];
};

/* Derives the keys. z: the secret without leading zeros; the components as sent. */
void rtmfp_keys_derive(struct rtmfp_keys *out, struct rtmfp_bytes z, struct rtmfp_bytes skic,
                       struct rtmfp_bytes skrc);
/* Sets the keys of one direction; leaves the negotiated options unchanged. */
void rtmfp_keys_set(struct rtmfp_key *key, const struct rtmfp_keys *keys, enum rtmfp_side side);

#endif
