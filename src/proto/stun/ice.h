/* SPDX-License-Identifier: MIT */
/* ice.h - ICE of one session as an ICE-lite agent, [ICE] RFC 8445, [CONSENT] RFC 7675: answers the
 * checks of the peer that prove our password, and chooses the path to send on.
 *
 * A check proves its author, not its origin: it can be replayed from elsewhere, with any source
 * address. So before media switch to a path other than the one known to reach the peer, we send a
 * check of our own there, which only the peer can answer (every full agent does, [ICE] 7.3).
 */
#ifndef PROTO_STUN_ICE_H
#define PROTO_STUN_ICE_H

#include "proto/stun/message.h"

enum {
    ICE_UFRAG = 8, ICE_PWD = 32,           /* sizes of our credentials, as we generate them; */
    ICE_OURS_MAX = 32,                     /* and as clients may request them */
    ICE_UFRAG_MAX = 256, ICE_PWD_MAX = 256, /* limits for a peer's, RFC 8445 section 5.3 */
    ICE_PATHS = 8,                         /* remembered addresses of a session */
    ICE_RATE = 50,                         /* checks per second that are answered */
    ICE_SEEN = 32,                         /* transactions that are remembered */
};

/* A path to the peer: addresses of datagrams, or a TCP connection. */
struct ice_path {
    struct udp_path path;
    void *link;       /* the caller's socket or connection; only compared, never dereferenced */
};

/* Starts zeroed, except ufrag, pwd, peer_ufrag and strict. */
struct ice {
    char ufrag[ICE_OURS_MAX + 1], pwd[ICE_OURS_MAX + 1];
    char peer_ufrag[ICE_UFRAG_MAX + 1];
    bool strict;                 /* a peer that claims to be controlled gets 487 */
    bool chosen, nominated;
    bool sure;                   /* the peer is known to receive on the chosen path */
    unsigned n, at;              /* number of paths; index of the chosen one */
    struct {
        struct ice_path path;
        co_usec since;           /* when it was added */
        co_usec received_at;     /* last authenticated packet on it */
        bool nominated;          /* by USE-CANDIDATE */
        co_usec checked_at;      /* when our check was sent; 0: none, or answered */
        co_usec first_checked_at; /* when this check was first sent */
        uint8_t check_id[STUN_ID];
    } paths[ICE_PATHS];
    uint64_t seen_id[ICE_SEEN];  /* ids of answered checks; */
    uint32_t seen_from[ICE_SEEN]; /* and hashes of their source addresses */
    unsigned n_seen;
    co_usec received_at;         /* last authenticated packet on any path */
    co_usec moved;               /* when the path was chosen */
    unsigned hops;               /* consecutive switches within a short time */
    co_usec second;              /* start of the second that `rate` counts */
    unsigned rate;
    uint64_t checks, refused;    /* answered checks; all others */
};

enum ice_result {
    ICE_DROPPED,   /* not proven to be the peer's, a replay from elsewhere, or too many */
    ICE_ANSWERED,  /* `out` has the response, to be sent back on the same path */
    ICE_MOVED,     /* same, and another path was chosen: the first one, or a switch */
};
enum ice_result ice_input(struct ice *ice, const struct stun_message *m,
                          const struct ice_path *path, co_usec now, uint8_t out[STUN_MAX],
                          size_t *size);
/* Handles a packet other than a check that is proven to be the peer's and cannot be replayed.
 * Returns true if media use this path from now on, because the other one is silent and this one is
 * not (a client that sends no checks). */
bool ice_received(struct ice *ice, const struct ice_path *path, co_usec now);
/* The peer responded there to what was sent there: a handshake is complete. */
void ice_reached(struct ice *ice, const struct ice_path *path);
/* Returns whether the path needs a check of ours, because media would use it if the peer is there.
 * Callers may also have their own reasons for a check. */
bool ice_needs_check(const struct ice *ice, const struct ice_path *path, co_usec now);
/* Writes the check and returns its size, or 0 if one was sent just now. `id` is a random id for a
 * new check; a recent check is repeated with its own id, so read the id from the output. */
size_t ice_write_check(struct ice *ice, const struct ice_path *path, const uint8_t id[STUN_ID],
               const char *peer_pwd, co_usec now, uint8_t out[STUN_MAX]);
/* Handles a possible response to our check. ICE_ANSWERED: it is one, and the peer is there;
 * ICE_MOVED: media use this path from now on. */
enum ice_result ice_answer(struct ice *ice, const struct stun_message *m,
                           const struct ice_path *path, const char *peer_pwd, co_usec now);
/* Returns whether an authenticated check arrived on this path. */
bool ice_knows(const struct ice *ice, const struct ice_path *path);
void ice_forget(struct ice *ice, const void *link); /* the connection is closed */
const struct ice_path *ice_path(const struct ice *ice); /* NULL: none chosen yet */

#endif
