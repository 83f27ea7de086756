/* SPDX-License-Identifier: MIT */
/* rtmfp_peer.h - a client of RTMFP without its socket: keys, connect, pings, media.
 *
 *     load_rtmfp_begin(&p, ...)
 *     load_rtmfp_input(&p, datagram, ...)
 *     while ((n = load_rtmfp_output(&p, datagram, &to, now)) > 0) send it
 *     output again at load_rtmfp_deadline(&p)
 *
 * No I/O, nothing yields.
 */
#ifndef TOOLS_LOAD_RTMFP_PEER_H
#define TOOLS_LOAD_RTMFP_PEER_H

#include "proto/rtmfp/initiator.h"
#include "proto/rtmfp/responder.h"
#include "proto/rtmfp/session.h"
#include "tools/load/opts.h"
#include "tools/load/rtmfp_talk.h"
#include "tools/load/stat.h"

/* The same for all clients. */
struct load_rtmfp_world {
    struct rtmfp_startup startup;
    struct rtmfp_initiator_set set;
    struct rtmfp_session_set session, accepted; /* of who began, of who was asked */
    struct rtmfp_responder responder;           /* of clients that others open sessions to */
    struct rtmfp_response answer;
    struct rtmfp_cipher *cipher;
    struct rtmfp_pair pair;     /* of the last client; the next one's is a step further */
    bool groups[RTMFP_GROUPS];  /* the one that is asked for */
    bool bare, pairs;
    enum load_rtmfp_wants wants;
    struct load_rtmfp_feed feed; /* as those of publishers begin */
    co_usec ping;
    struct load_rtmfp_stat *stat;
};
/* `media`: of publishers, or NULL. */
bool load_rtmfp_world_init(struct load_rtmfp_world *w, const struct load_opts *o,
                           const struct load_media *media, struct load_stat *stat);
void load_rtmfp_world_fini(struct load_rtmfp_world *w);

enum load_rtmfp_state {
    LOAD_RTMFP_OPENING,    /* no keys yet */
    LOAD_RTMFP_CONNECTING, /* keys, and no answer yet to connect, play or publish */
    LOAD_RTMFP_READY,
    LOAD_RTMFP_REFUSED,    /* by such an answer */
    LOAD_RTMFP_UNANSWERED, /* no keys, for 95 s or for ever */
    LOAD_RTMFP_ENDED,      /* peer->session.end says how */
};

struct load_rtmfp_peer {
    struct load_rtmfp_world *world;
    enum load_rtmfp_state state;
    struct rtmfp_initiator *opening;    /* until there are keys: it is large */
    struct rtmfp_identity *me;          /* until then, or to the end where clients open sessions to
                                         * each other; of one that is introduced: another's */
    bool introduced;                    /* to a client, not to the server */
    struct rtmfp_session session;       /* from then on */
    struct rtmfp_sealer sealer;
    struct rtmfp_opener opener;
    uint32_t id, far_id;
    co_usec began;
    co_usec ping_at, pinged_at;
    uint32_t ping_number;
    bool ping_waits;
    co_usec now;                        /* of what is heard at this moment */
    struct load_rtmfp_talk talk;
};

/* `id` by which it is to be addressed, not 0. False: the address is too long, or says no stream to
 * who plays or publishes. */
bool load_rtmfp_begin(struct load_rtmfp_peer *p, struct load_rtmfp_world *w, uint32_t id,
                      const char *app, const char *url, const struct udp_addr *to, co_usec now);
/* To the peer of that id, by way of the server, as who `own` is: it must not end before. */
bool load_rtmfp_begin_peer(struct load_rtmfp_peer *p, struct load_rtmfp_world *w, uint32_t id,
                           const struct load_rtmfp_peer *own, const uint8_t far[RTMFP_PEER_ID],
                           const struct udp_addr *to, co_usec now);
/* A datagram to session 0 that is for `own`, of who wants to open a session to it: w->answer has
 * what goes back at once. True: `p` is that session, and is addressed by `id`. */
bool load_rtmfp_accept(struct load_rtmfp_peer *p, struct load_rtmfp_world *w, uint32_t id,
                       const struct load_rtmfp_peer *own, const uint8_t *datagram, size_t size,
                       const struct udp_addr *from, co_usec now);
/* Frees what it holds, without a word. */
void load_rtmfp_end(struct load_rtmfp_peer *p);
void load_rtmfp_close(struct load_rtmfp_peer *p, co_usec now); /* output says so */

/* Whose a datagram of session 0 is, by the tag in it: an id; 0: nobody's. */
uint32_t load_rtmfp_whose(struct load_rtmfp_world *w, const uint8_t *datagram, size_t size);
void load_rtmfp_input(struct load_rtmfp_peer *p, const uint8_t *datagram, size_t size,
                      const struct udp_addr *from, co_usec now);
/* The next datagram, of RTMFP_SEALED_MAX at most; 0: none for now. */
size_t load_rtmfp_output(struct load_rtmfp_peer *p, uint8_t *datagram, struct udp_addr *to,
                         co_usec now);
co_usec load_rtmfp_deadline(const struct load_rtmfp_peer *p);

#endif
