/* SPDX-License-Identifier: MIT */
/* initiator.h - the initiating side of the handshake ([RTMFP] 3.5.1): from an address to the keys
 * of a session.
 *
 * Sends IHello to all known addresses until one responds, then IIKeying to that one. Both are
 * retransmitted after 1.5 s, with intervals that grow by 1.5 s, for 95 s. For load tools and tests:
 * rtmfp_initiator_input() performs the one exponentiation itself.
 */
#ifndef PROTO_RTMFP_INITIATOR_H
#define PROTO_RTMFP_INITIATOR_H

#include "proto/rtmfp/certificate.h"
#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/keying.h"

enum { RTMFP_TRIES_MAX = 32, RTMFP_TAG = 16 }; /* addresses of one peer; bytes of our tag */

enum rtmfp_opening {
    RTMFP_GREETING,     /* sends IHello */
    RTMFP_KEYING,       /* sends IIKeying */
    RTMFP_KEYED,        /* has the keys */
    RTMFP_UNANSWERED,   /* no response for 95 s */
    RTMFP_UNSUITED,     /* no common group, or a required option is missing */
};

/* Parameters shared by many initiators. */
struct rtmfp_initiator_set {
    struct rtmfp_startup *startup;
    struct rtmfp_dh *dh;
    struct rtmfp_policies policies;
};

struct rtmfp_try {
    struct udp_addr to;
    co_usec at, wait;   /* next transmission, and the interval after it */
};

struct rtmfp_initiator {
    const struct rtmfp_initiator_set *set;
    const struct rtmfp_identity *me;
    struct rtmfp_pair pair;     /* wiped when the keys exist */
    enum rtmfp_opening state;
    uint32_t id;                /* our session id */
    uint8_t tag[RTMFP_TAG];
    uint8_t epd[128];
    size_t epd_size;
    co_usec begun;
    unsigned n_tries;
    struct rtmfp_try tries[RTMFP_TRIES_MAX];
    unsigned packets;           /* sent */
    unsigned redirects;         /* received */
    /* data of the responder */
    uint8_t cookie[RTMFP_COOKIE_MAX];
    size_t cookie_size;
    uint8_t peer[RTMFP_PEER_ID];
    bool peer_is_static;
    uint8_t peer_key[RTMFP_PUBLIC_MAX];
    size_t peer_key_size;
    uint8_t skic[512];
    size_t skic_size;
    /* in state RTMFP_KEYED: */
    struct udp_addr to;
    uint32_t far_id;
    struct rtmfp_key send, receive;
    uint8_t nonce[RTMFP_SIDES][RTMFP_HASH];
};

/* `me` must outlive it. `pair` is for this session only, in the group to request; NULL if the key
 * is in the certificate. Returns false if the discriminator is too long. */
bool rtmfp_initiator_init(struct rtmfp_initiator *i, const struct rtmfp_initiator_set *set,
                          const struct rtmfp_identity *me, const struct rtmfp_pair *pair,
                          struct rtmfp_bytes epd, uint32_t id, const struct udp_addr *to,
                          co_usec now);
void rtmfp_initiator_wipe(struct rtmfp_initiator *i);

/* Handles a datagram with session id 0 or ours from this address. Ignores all others. */
void rtmfp_initiator_input(struct rtmfp_initiator *i, const uint8_t *datagram, size_t size,
                           const struct udp_addr *from, co_usec now);
/* Writes the next datagram, of at most RTMFP_SEALED_MAX bytes, and its destination; returns its
 * size, or 0 if there is none for now. */
size_t rtmfp_initiator_output(struct rtmfp_initiator *i, uint8_t *datagram, struct udp_addr *to,
                              co_usec now);
/* Returns when to call output again; CO_FOREVER: never. */
co_usec rtmfp_initiator_deadline(const struct rtmfp_initiator *i);

#endif
