/* SPDX-License-Identifier: MIT */
/* keying.h - session keying components ([PROFILE] 4.5): a public key and the options for packets.
 *
 * For HMACs and for session sequence numbers, each side announces whether it always sends them,
 * sends them on request, and requests them. The initiator's component is called SKIC, the
 * responder's SKRC.
 */
#ifndef PROTO_RTMFP_KEYING_H
#define PROTO_RTMFP_KEYING_H

#include "proto/rtmfp/chunks.h"
#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/group.h"
#include "proto/rtmfp/vlu.h"

/* ---- packets with the default key ([RTMFP] 3.5.1, [PROFILE] 4.7): used by both sides of a
 * handshake. One per thread. */

struct rtmfp_startup {
    struct rtmfp_cipher *cipher;
    struct rtmfp_sealer out;
    struct rtmfp_opener in;
    uint8_t plain[RTMFP_DATAGRAM_MAX]; /* plain packet opened last */
};
bool rtmfp_startup_init(struct rtmfp_startup *s); /* false if memory allocation fails */
void rtmfp_startup_fini(struct rtmfp_startup *s);

/* Returns false if it is not a startup packet. */
bool rtmfp_startup_open(struct rtmfp_startup *s, const uint8_t *datagram, size_t size,
                        struct rtmfp_packet *out);
/* Returns a writer for a datagram of RTMFP_SEALED_MAX bytes, with the packet's head written. */
struct wr rtmfp_startup_begin(struct rtmfp_startup *s, uint8_t *datagram, co_usec now);
/* Same, limiting the sealed datagram to `most` bytes. */
struct wr rtmfp_startup_begin_within(struct rtmfp_startup *s, uint8_t *datagram, size_t most,
                                     co_usec now);
/* Seals the packet; `id` is the receiver's session id, or 0. Returns the size of the datagram. */
size_t rtmfp_startup_seal(struct rtmfp_startup *s, uint32_t id, struct wr *w);

/* Clock of the timestamps, [RTMFP] 3.5.2.2. */
static inline uint16_t rtmfp_clock(co_usec now)
{
    return (uint16_t)(now / CO_MS(4));
}

enum { /* flags for HMACs and for sequence numbers */
    RTMFP_SENDS = 4,        /* always sends them */
    RTMFP_SENDS_ON_REQUEST = 2,
    RTMFP_REQUESTS = 1,
};

struct rtmfp_offer {
    uint8_t hmac, hmac_size; /* flags; size of the HMACs it sends */
    uint8_t numbers;         /* flags */
};

struct rtmfp_component {
    struct rtmfp_offer offer;
    unsigned n_keys;                /* ephemeral keys, of any group */
    enum rtmfp_group group;         /* group of the first key; RTMFP_GROUPS: unknown */
    struct rtmfp_bytes key;
    unsigned n_static; /* number of references to a static key in the certificate, in this group */
    enum rtmfp_group static_group;
    struct rtmfp_bytes random;
};
/* false if it is invalid */
bool rtmfp_component_read(struct rtmfp_component *c, struct rtmfp_bytes data);

/* The operator's settings. */
enum rtmfp_policy { RTMFP_OFF, RTMFP_OFFER, RTMFP_REQUIRE };
struct rtmfp_policies {
    enum rtmfp_policy hmac, numbers;
};

/* Return what an initiator announces, and what a responder announces in response. */
struct rtmfp_offer rtmfp_offer_first(const struct rtmfp_policies *p);
struct rtmfp_offer rtmfp_offer_answer(const struct rtmfp_policies *p,
                                      const struct rtmfp_offer *theirs);

/* Sets the packet options of both directions from both announcements. Returns false if the peer
 * does not support what we require. */
bool rtmfp_offer_agree(const struct rtmfp_policies *p, const struct rtmfp_offer *ours,
                       const struct rtmfp_offer *theirs, struct rtmfp_key *we_send,
                       struct rtmfp_key *they_send);

/* Writes SKRC in exactly the layout that older clients expect: 03 1a, flags, size, 02 1e, flags,
 * and the key last. With a static key, random bytes take its place, because session keys must
 * differ. */
void rtmfp_skrc_write(struct wr *w, const struct rtmfp_offer *offer, const struct rtmfp_pair *pair);
void rtmfp_skrc_write_static(struct wr *w, const struct rtmfp_offer *offer,
                             const uint8_t random[64]);
/* Write SKIC, for a peer with a static key in its certificate, and for one with an ephemeral
 * key. */
void rtmfp_skic_write_static(struct wr *w, const struct rtmfp_offer *offer, enum rtmfp_group group,
                             const uint8_t random[64]);
void rtmfp_skic_write(struct wr *w, const struct rtmfp_offer *offer, const struct rtmfp_pair *pair,
                      const uint8_t random[64]);

#endif
