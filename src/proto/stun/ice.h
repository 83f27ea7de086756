/* SPDX-License-Identifier: MIT */
/* ice.h - ICE of one session as ICE-lite has it, [ICE] RFC 8445, [CONSENT] RFC 7675: the peer
 * checks, we answer those that prove our password, and remember which way to send.
 *
 * A check proves who wrote it, not where it came from: it can be repeated from elsewhere, with any
 * source. So before media go another way than that which is known to reach the peer, we ask there,
 * by a check of our own that the peer alone can answer (every full agent does, [ICE] 7.3).
 */
#ifndef PROTO_STUN_ICE_H
#define PROTO_STUN_ICE_H

#include "proto/stun/message.h"

enum {
    ICE_UFRAG = 8, ICE_PWD = 32,           /* of ours, as we make them; */
    ICE_OURS_MAX = 32,                     /* and as clients may ask for them */
    ICE_UFRAG_MAX = 256, ICE_PWD_MAX = 256, /* of a peer's, RFC 8445 section 5.3 */
    ICE_PATHS = 8,                         /* addresses of a session that are remembered */
    ICE_RATE = 50,                         /* checks a second that are answered */
    ICE_SEEN = 32,                         /* transactions that are remembered */
};

/* A way to the peer: a path of datagrams, or a connection of TCP. */
struct ice_path {
    struct udp_path path;
    void *link;       /* of who asks: the socket or the connection; compared, never looked into */
};

struct ice {
    char ufrag[ICE_OURS_MAX + 1], pwd[ICE_OURS_MAX + 1];
    char peer_ufrag[ICE_UFRAG_MAX + 1];
    bool strict;                 /* a peer that says it is controlled is told 487 */
    bool chosen, nominated;
    bool sure;                   /* the peer is at the chosen way: it receives there */
    unsigned n, at;              /* ways; the one to send on, if chosen */
    struct {
        struct ice_path way;
        co_usec since;           /* it is remembered */
        co_usec heard;           /* anything authenticated */
        bool nominated;          /* by USE-CANDIDATE */
        co_usec asked;           /* by a check of ours; 0: not, or it was answered */
        co_usec asked_first;     /* by that one */
        uint8_t asked_id[STUN_ID];
    } ways[ICE_PATHS];
    uint64_t seen_id[ICE_SEEN];  /* of checks that were answered; */
    uint32_t seen_from[ICE_SEEN]; /* and a digest of where each came from */
    unsigned n_seen;
    co_usec heard;               /* on any of them */
    co_usec moved;               /* the way to send on was chosen */
    unsigned hops;               /* in a row, soon after each other */
    co_usec second;              /* of `rate` */
    unsigned rate;
    uint64_t checks, refused;    /* answered; and all others */
};

/* Zeroed but for ufrag, pwd, peer_ufrag and strict it has begun. */
enum ice_said {
    ICE_DROPPED,   /* not proven to be the peer's, one of before from elsewhere, or too many */
    ICE_ANSWERED,  /* out has the answer, to the way it came by */
    ICE_MOVED,     /* the same, and the way to send on is another one now: the first, or changed */
};
enum ice_said ice_input(struct ice *ice, const struct stun_message *m, const struct ice_path *way,
                        co_usec now, uint8_t out[STUN_MAX], size_t *size);
/* Something else that is proven to be the peer's, and nobody can repeat, came this way. True: media
 * go there from now on, for the other way is silent and this one is not (a client that makes no
 * checks). */
bool ice_heard(struct ice *ice, const struct ice_path *way, co_usec now);
/* The peer answered there to what was sent there: a handshake is done. */
void ice_reached(struct ice *ice, const struct ice_path *way);
/* It is to be asked there, for media would go there if it is (or who calls has a reason of its
 * own): what is sent, its size. 0: it was asked just now. `id` is for a new one, random; what was
 * asked not long ago is asked again as it was, so read the id of what is sent. */
bool ice_is_wanted(const struct ice *ice, const struct ice_path *way, co_usec now);
size_t ice_ask(struct ice *ice, const struct ice_path *way, const uint8_t id[STUN_ID],
               const char *peer_pwd, co_usec now, uint8_t out[STUN_MAX]);
/* Is that the answer? ICE_ANSWERED: it is, and the peer is there; ICE_MOVED: media go there from
 * now on. */
enum ice_said ice_answer(struct ice *ice, const struct stun_message *m, const struct ice_path *way,
                         const char *peer_pwd, co_usec now);
/* Is it one that an authenticated check came by? */
bool ice_knows(const struct ice *ice, const struct ice_path *way);
void ice_forget(struct ice *ice, const void *link); /* that connection is gone */
const struct ice_path *ice_path(const struct ice *ice); /* NULL: none yet */

#endif
