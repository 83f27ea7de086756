/* SPDX-License-Identifier: MIT */
/* peer.h - one session of this worker, for the files of serve/rtmfp alone.
 *
 * Its life: a helper thread made its keys (keys_queue.c), it is opened (peer.c) and answered. It
 * may stay so, as one that only wants to be introduced; or it says connect (connection.c), and on
 * streams of that publish (publish.c) or play (play.c). Each stream that does is a client of its
 * own in all lists: struct rtmfp_netstream.
 */
#ifndef SERVE_RTMFP_PEER_H
#define SERVE_RTMFP_PEER_H

#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/session.h"
#include "serve/datagram/client.h"
#include "serve/rtmfp/impl.h"
#include "session/publisher.h"

struct rtmfp_connection; /* connection.c: after connect */
struct rtmfp_presence;   /* directory.c: after setPeerInfo */
struct rtmfp_membership; /* netgroup.c: groups that it is in */
struct rtmfp_publish;    /* publish.c */
struct rtmfp_publish_remote;       /* away.c */

struct rtmfp_peer {
    struct rtmfp_session session;    /* ops find the peer by it */
    struct rtmfp_sealer sealer;
    struct rtmfp_opener opener;
    struct rtmfp_cipher *cipher;     /* its own, while it carries media; NULL: the service's */
    struct rtmfp_service *service;
    struct rtmfp_shared *shared;
    struct rtmfp_endpoint *endpoint;
    struct udp_addr local;           /* of ours, that it speaks to */
    uint32_t id, far_id;             /* that we, that it gave itself */
    uint8_t peer_id[RTMFP_PEER_ID];  /* its fingerprint */
    uint8_t skic[RTMFP_SKIC_HASH];
    uint8_t group;                   /* of Diffie-Hellman: its number, 2, 5, 14 */
    bool numbered;                   /* its packets have numbers */
    uint16_t answer_size;
    uint16_t media;                  /* streams of it that carry some */
    uint8_t *answer;                 /* body of RIKeying, until it speaks, 95 s at most; or NULL */
    co_usec answer_until;
    struct co_timer timer;           /* of the session's deadline */
    struct rtmfp_peer *next_at;      /* in the table of addresses */
    struct rtmfp_peer *next_touched;
    bool touched, leaves;
    bool seen, queued;               /* its end was told; it is among those to be seen out */
    bool early;                      /* the log was told of commands before connect */
    struct rtmfp_connection *connection; /* NULL: it has not said connect */
    struct rtmfp_presence *presence;     /* NULL: it did not say setPeerInfo */
    struct rtmfp_claim *claim;           /* introduce.c: another has its id; or NULL */
    struct rtmfp_membership *groups;     /* NULL: none */
    struct address_slot place;
    struct datagram_close_item leaver;
    err_t why;                       /* it leaves: by this */
    uint64_t in, out;                /* bytes */
    char cid[DATAGRAM_CID];             /* of its log lines */
};

struct rtmfp_handshake;          /* table.h */

/* ---- peer.c; none of them yields */

/* A handshake has its keys: a session, in the table, with the answer on its way. False: it cannot
 * be, and nothing is there. The caller's `place` is the session's then. */
bool rtmfp_peer_open(struct rtmfp_service *s, struct rtmfp_handshake *h, co_usec now);
/* A plain packet of it came. */
void rtmfp_peer_take(struct rtmfp_peer *p, struct rtmfp_bytes plain, const struct udp_in *in);
/* All that were touched say what they have to. */
void rtmfp_peers_turn(struct rtmfp_service *s, co_usec now);

/* Something was written to its flows, or its session was closed: what it has to say goes out when
 * this turn is over. */
void rtmfp_peer_touch(struct rtmfp_peer *p);
/* The same at once, and its timer anew. */
void rtmfp_peer_flush(struct rtmfp_peer *p, co_usec now);
/* It ends soon, by that error, which is taken over: all its streams end, the session is closed, it
 * is seen out. May be said again. */
void rtmfp_peer_leave(struct rtmfp_peer *p, err_t why);
/* It carries media from now on, has ciphers of its own, and is a connection to who counts those;
 * or no longer. Counts. */
void rtmfp_peer_media(struct rtmfp_peer *p, bool on);
/* That session of this worker; NULL: there is none by now. */
struct rtmfp_peer *rtmfp_peer_find(const struct rtmfp_service *s, uint32_t id);
/* "1.2.3.4", without the port. */
const char *rtmfp_peer_ip(const struct rtmfp_peer *p, char buf[UDP_TEXT]);
/* In hexadecimal, valid until the next one is asked for. tell.c */
const char *rtmfp_peer_id_text(const uint8_t id[RTMFP_PEER_ID]);
/* Close it: it went over a limit of one session. One line in the log. */
void rtmfp_peer_hostile(struct rtmfp_peer *p, const char *why);

/* ---- connection.c: what flows say */

/* The ops of all sessions, for the service's set. */
extern const struct rtmfp_session_ops rtmfp_connection_ops;
extern const struct rtmfp_peer_ops rtmfp_connection_peer_ops;

/* ---- one stream that publishes or plays, from when it asks for that */

struct rtmfp_play {                  /* play.c's own */
    uint64_t at;                     /* the next message of the wire */
    bool waits, audio_waits;         /* for a place to start at */
    bool no_audio, no_video, paused; /* as it said */
    bool no_opus, told_no_opus;      /* it did not announce Opus; the log has it, or need not */
    bool was_paused;                 /* as it was served last */
    co_usec since;                   /* it began, or went on, at a key frame */
    uint32_t skips, logged_skips;
    uint64_t sent, abandoned;        /* messages */
    uint64_t counted, counted_lost;  /* bytes, messages abandoned: as the source was told */
};

struct rtmfp_netstream {
    struct datagram_client base;
    struct rtmfp_netstream *next;    /* of the connection */
    struct rtmfp_peer *peer;
    uint32_t number;                 /* by createStream */
    struct rtmfp_flow_in *from;      /* the flow that asked, which ours answer; NULL: it closed */
    struct rtmfp_flow_out *words;    /* commands, status, data; NULL: it is gone */
    struct rtmfp_flow_out *audio, *video; /* of a player; NULL: gone */
    struct rtmfp_play play;
    struct rtmfp_publish *publish;   /* of a publisher whose stream is at home here; or NULL */
    struct rtmfp_publish_remote *away; /* of one whose stream is at home elsewhere; or NULL */
    uint64_t lost, told_lost;        /* messages of its flows that are closed; of all, as told */
    bool fc;                         /* it ended by FCUnpublish, which wants to be told */
};

static inline bool rtmfp_netstream_publishes(const struct rtmfp_netstream *n)
{
    return n->base.state == DATAGRAM_ACTIVE && n->base.publishes;
}
static inline bool rtmfp_netstream_plays(const struct rtmfp_netstream *n)
{
    return n->base.state == DATAGRAM_ACTIVE && !n->base.publishes;
}

/* ---- publish.c, in the stream's coroutine: let in, told so, and until its end. Yields. */
err_t rtmfp_publish_run(struct rtmfp_netstream *n) __attribute__((warn_unused_result));

/* ---- play.c */
/* In the stream's coroutine: let in, told so, and it is a player from then on, without one. Of an
 * error it is in no list. Yields. */
err_t rtmfp_play_begin(struct rtmfp_netstream *n) __attribute__((warn_unused_result));
/* It says that it wants other things: flags of n->play. */
void rtmfp_play_wants(struct rtmfp_netstream *n);
/* `why` is borrowed. May yield. */
void rtmfp_play_end(struct rtmfp_netstream *n, err_t why);
/* What is new to it, into its flows. True: they may have something to send. Does not yield. */
bool rtmfp_play_turn(struct rtmfp_netstream *n, co_usec now);
/* Rows of datagram_client_ops. */
err_t rtmfp_play_changed(struct datagram_client *c);
void rtmfp_play_check(struct datagram_client *c, co_usec now);
void rtmfp_play_log_sample(const struct datagram_client *c, co_usec now);

/* ---- stream.c: the players of a source on this worker */
/* That of the source, made if there is none; with a reference for the caller. */
struct datagram_stream *rtmfp_stream_get(struct rtmfp_service *s, struct live_source *src);
struct rtmfp_wire *rtmfp_stream_wire(struct datagram_stream *st);

/* ---- netstream.c: words to its client, on n->words; none yields */
/* It publishes or plays from now on: its stream begins. */
void rtmfp_netstream_active(struct rtmfp_netstream *n);
void rtmfp_netstream_status(struct rtmfp_netstream *n, unsigned status, const char *text);
/* A message of that type, of these bytes (no type and time in front), never abandoned. */
void rtmfp_netstream_say(struct rtmfp_netstream *n, uint8_t type, uint32_t time,
                         const uint8_t *data, size_t size);

/* ---- directory.c, introduce.c: peers by their ids */

/* setPeerInfo: it may be found, at these addresses beside the one that we see. May be said again.
 * The first session that has the id keeps it. */
void rtmfp_presence_set(struct rtmfp_peer *p, const struct rtmfp_address *list, size_t n);
void rtmfp_presence_moved(struct rtmfp_peer *p); /* it is at another address */
void rtmfp_presence_end(struct rtmfp_peer *p); /* fine without one */
/* An IHello asks for a peer: service->response. A datagram back, or silence. */
void rtmfp_introduce(struct rtmfp_endpoint *e, const struct udp_in *in, co_usec now);
/* An IHello asks for us, and others are to answer it (responder.redirects). */
void rtmfp_redirect_hello(struct rtmfp_endpoint *e, const struct udp_in *in, co_usec now);

/* ---- netgroup.c: flows with metadata 47 43; as rtmfp_session_ops */
bool rtmfp_netgroup_opened(struct rtmfp_peer *p, struct rtmfp_flow_in *f);
bool rtmfp_netgroup_message(struct rtmfp_peer *p, struct rtmfp_flow_in *f, const uint8_t *data,
                            size_t size);
void rtmfp_netgroup_closed(struct rtmfp_peer *p, struct rtmfp_flow_in *f);
void rtmfp_netgroup_done(struct rtmfp_peer *p, struct rtmfp_flow_out *f);
/* It may have become silent, or no longer be so. */
void rtmfp_netgroup_flushed(struct rtmfp_peer *p);
void rtmfp_netgroup_end(struct rtmfp_peer *p); /* the session ends: out of all groups */

#endif
