/* SPDX-License-Identifier: MIT */
/* identity.h - who one end is: its certificate, the peer id by it, and the keys behind it. */
#ifndef PROTO_RTMFP_IDENTITY_H
#define PROTO_RTMFP_IDENTITY_H

#include "proto/rtmfp/certificate.h"

enum { RTMFP_SHORTER = 2, RTMFP_SHORTER_MAX = 48 };

/* Must stay where it is. Any number of threads may read it. */
struct rtmfp_identity {
    uint8_t certificate[512];
    size_t size;
    struct rtmfp_certificate parsed; /* points into the above */
    uint8_t id[RTMFP_PEER_ID];
    /* Shorter certificates for the same keys, in decreasing size; size 0: there is none. A hello
     * whose address is not proven gets no answer of more than three times its size. */
    struct rtmfp_shorter {
        uint8_t certificate[RTMFP_SHORTER_MAX];
        size_t size;
        uint8_t id[RTMFP_PEER_ID];
    } shorter[RTMFP_SHORTER];
    bool groups[RTMFP_GROUPS];       /* in which it has keys, or makes them */
    bool is_static;                  /* one key for all sessions: this one */
    struct rtmfp_pair pair;
};
/* With a key for each session, in those groups. */
void rtmfp_identity_init(struct rtmfp_identity *me, bool server, const bool groups[RTMFP_GROUPS]);
/* With this key for all of them. */
void rtmfp_identity_init_static(struct rtmfp_identity *me, bool server,
                                const struct rtmfp_pair *pair);
void rtmfp_identity_fini(struct rtmfp_identity *me);

static inline struct rtmfp_bytes rtmfp_identity_certificate(const struct rtmfp_identity *me)
{
    return rtmfp_bytes(me->certificate, me->size);
}

#endif
