/* SPDX-License-Identifier: MIT */
/* initiator.h - who speaks first: from an address to the keys of a session ([RTMFP] 3.5.1).
 *
 * IHello to all addresses that are known, until one answers; then IIKeying to that one. Both are
 * repeated, after 1.5 s and 1.5 s later each time, for 95 s. For load tools and tests: the one
 * exponentiation is done in rtmfp_initiator_input().
 */
#ifndef PROTO_RTMFP_INITIATOR_H
#define PROTO_RTMFP_INITIATOR_H

#include "proto/rtmfp/certificate.h"
#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/keying.h"

enum { RTMFP_TRIES_MAX = 32, RTMFP_TAG = 16 }; /* addresses of one peer; bytes of a tag of ours */

enum rtmfp_opening {
    RTMFP_GREETING,     /* IHello is said */
    RTMFP_ASKING,       /* IIKeying is */
    RTMFP_KEYED,        /* there are keys */
    RTMFP_UNANSWERED,   /* nobody answered for 95 s */
    RTMFP_UNSUITED,     /* no group in common, or what is required is not done */
};

/* The same for many. */
struct rtmfp_initiator_set {
    struct rtmfp_startup *startup;
    struct rtmfp_dh *dh;
    struct rtmfp_policies policies;
};

struct rtmfp_try {
    struct udp_addr to;
    co_usec at, wait;   /* when it is said again, and how long after that */
};

struct rtmfp_initiator {
    const struct rtmfp_initiator_set *set;
    const struct rtmfp_identity *me;
    struct rtmfp_pair pair;     /* wiped when there are keys */
    enum rtmfp_opening state;
    uint32_t id;                /* by which we are addressed */
    uint8_t tag[RTMFP_TAG];
    uint8_t epd[128];
    size_t epd_size;
    co_usec begun;
    unsigned n_tries;
    struct rtmfp_try tries[RTMFP_TRIES_MAX];
    unsigned packets;           /* that were sent */
    unsigned redirects;         /* that came */
    /* of who answered */
    uint8_t cookie[RTMFP_COOKIE_MAX];
    size_t cookie_size;
    uint8_t peer[RTMFP_PEER_ID];
    bool peer_is_static;
    uint8_t peer_key[RTMFP_PUBLIC_MAX];
    size_t peer_key_size;
    uint8_t skic[512];
    size_t skic_size;
    /* RTMFP_KEYED: */
    struct udp_addr to;
    uint32_t far_id;
    struct rtmfp_key send, receive;
    uint8_t nonce[RTMFP_SIDES][RTMFP_HASH];
};

/* `me` outlives it. `pair` is for this session alone, in the group that is asked for; NULL if the
 * key is in the certificate. False: the discriminator is too long. */
bool rtmfp_initiator_init(struct rtmfp_initiator *i, const struct rtmfp_initiator_set *set,
                          const struct rtmfp_identity *me, const struct rtmfp_pair *pair,
                          struct rtmfp_bytes epd, uint32_t id, const struct udp_addr *to,
                          co_usec now);
void rtmfp_initiator_wipe(struct rtmfp_initiator *i);

/* A datagram to session 0, or to ours, from there. What is none for it does nothing. */
void rtmfp_initiator_input(struct rtmfp_initiator *i, const uint8_t *datagram, size_t size,
                           const struct udp_addr *from, co_usec now);
/* The next datagram, of RTMFP_SEALED_MAX at most, and where to; 0: none for now. */
size_t rtmfp_initiator_output(struct rtmfp_initiator *i, uint8_t *datagram, struct udp_addr *to,
                              co_usec now);
/* When to ask for output again; CO_FOREVER: never. */
co_usec rtmfp_initiator_deadline(const struct rtmfp_initiator *i);

#endif
