/* SPDX-License-Identifier: MIT */
/* peer.h - one RTMFP session of this worker; private to serve/rtmfp.
 *
 * Its life: a helper thread computes its keys (keys_queue.c), it is opened (peer.c) and answered.
 * It may stay so if it only wants to be introduced to peers. After connect (connection.c) its
 * streams publish (publish.c) or play (play.c). Each of these streams is a separate client in all
 * lists: struct rtmfp_netstream.
 */
#ifndef SERVE_RTMFP_PEER_H
#define SERVE_RTMFP_PEER_H

#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/session.h"
#include "serve/datagram/client.h"
#include "serve/rtmfp/impl.h"
#include "session/publisher.h"

struct rtmfp_connection; /* connection.c: exists after connect */
struct rtmfp_presence;   /* directory.c: exists after setPeerInfo */
struct rtmfp_membership; /* netgroup.c: groups it is a member of */
struct rtmfp_publish;    /* publish.c */
struct rtmfp_publish_remote;       /* publish_remote.c */

struct rtmfp_peer {
    struct rtmfp_session session;    /* the ops find the peer by it */
    struct rtmfp_sealer sealer;
    struct rtmfp_opener opener;
    struct rtmfp_cipher *cipher;     /* its own while it carries media; NULL: the service's */
    struct rtmfp_service *service;
    struct rtmfp_shared *shared;
    struct rtmfp_endpoint *endpoint;
    struct udp_addr local;           /* our address that it uses */
    uint32_t id, far_id;             /* id we assigned, and id it chose */
    uint8_t peer_id[RTMFP_PEER_ID];  /* its fingerprint */
    uint8_t skic[RTMFP_SKIC_HASH];
    uint8_t group;                   /* Diffie-Hellman group: 2, 5, 14 */
    bool numbered;                   /* its packets have sequence numbers */
    uint16_t answer_size;
    uint16_t media;                  /* number of its streams with media */
    uint8_t *answer;                 /* body of RIKeying until the first packet, 95 s at most; or
                                      * NULL */
    co_usec answer_until;
    struct co_timer timer;           /* for the session's deadline */
    struct rtmfp_peer *next_at;      /* list in the table of addresses */
    struct rtmfp_peer *next_touched;
    bool touched, closing;
    bool seen, queued;               /* its end was reported; it is queued for closing */
    bool early;                      /* commands before connect were logged */
    struct rtmfp_connection *connection; /* NULL: no connect yet */
    struct rtmfp_presence *presence;     /* NULL: no setPeerInfo yet */
    struct rtmfp_claim *claim;           /* introduce.c: another session has its id; or NULL */
    struct rtmfp_membership *groups;     /* NULL: none */
    struct address_slot place;
    struct datagram_close_item close_item;
    err_t why;                       /* why it is closing */
    uint64_t in, out;                /* bytes */
    char cid[DATAGRAM_CID];             /* id in its log lines */
};

struct rtmfp_handshake;          /* table.h */

/* ---- peer.c; none of them yields */

/* Opens a session when a handshake has its keys: adds it to the table and sends the answer. Returns
 * false if it cannot be opened. The session takes over the caller's `place`. */
bool rtmfp_peer_open(struct rtmfp_service *s, struct rtmfp_handshake *h, co_usec now);
/* Handles a decrypted packet. */
void rtmfp_peer_take(struct rtmfp_peer *p, struct rtmfp_bytes plain, const struct udp_in *in);
/* Flushes all touched sessions. */
void rtmfp_peers_turn(struct rtmfp_service *s, co_usec now);

/* Its flows have new data, or its session was closed: it is flushed at the end of this turn. */
void rtmfp_peer_touch(struct rtmfp_peer *p);
/* Flushes it at once and restarts its timer. */
void rtmfp_peer_flush(struct rtmfp_peer *p, co_usec now);
/* Ends it soon and takes over the error: all streams end, then the session closes. May be called
 * again. */
void rtmfp_peer_close(struct rtmfp_peer *p, err_t why);
/* Starts or stops carrying media: while it does, it has its own ciphers and counts as a connection.
 * Calls are counted. */
void rtmfp_peer_media(struct rtmfp_peer *p, bool on);
/* Returns the session of this worker, or NULL. */
struct rtmfp_peer *rtmfp_peer_find(const struct rtmfp_service *s, uint32_t id);
/* Returns "1.2.3.4", without the port. */
const char *rtmfp_peer_ip(const struct rtmfp_peer *p, char buf[UDP_TEXT]);
/* Returns the id in hexadecimal, valid until the next call. */
const char *rtmfp_peer_id_text(const uint8_t id[RTMFP_PEER_ID]);
/* Closes a session that exceeded a limit; logs one line. */
void rtmfp_peer_hostile(struct rtmfp_peer *p, const char *why);

/* ---- connection.c: messages of flows */

/* Ops of all sessions, for the service's set. */
extern const struct rtmfp_session_ops rtmfp_connection_ops;
extern const struct rtmfp_peer_ops rtmfp_connection_peer_ops;

/* ---- one stream that publishes or plays, from that command on */

struct rtmfp_play {                  /* State of a player; private to play.c. */
    uint64_t at;                     /* next message of the wire */
    bool waits, audio_waits;         /* waits for a position to start at */
    bool no_audio, no_video, paused; /* as the client requested */
    /* it did not announce Opus; this was logged or need not be */
    bool no_opus, no_opus_logged;
    bool was_paused;                 /* value at the last walk */
    co_usec since;                   /* when it started or resumed at a key frame */
    uint32_t skips, logged_skips;
    uint64_t sent, abandoned;        /* messages */
    uint64_t counted, counted_lost;  /* bytes and abandoned messages already reported to the
                                      * source */
};

struct rtmfp_netstream {
    struct datagram_client base;
    struct rtmfp_netstream *next;    /* list of the connection */
    struct rtmfp_peer *peer;
    uint32_t number;                 /* from createStream */
    struct rtmfp_flow_in *from;      /* flow of the command, which our flows answer; NULL: closed */
    struct rtmfp_flow_out *control;    /* commands, status, data; NULL: closed */
    struct rtmfp_flow_out *audio, *video; /* player only; NULL: closed */
    struct rtmfp_play play;
    struct rtmfp_publish *publish;   /* publisher of a stream owned by this worker; or NULL */
    /* publisher of a stream owned by another worker; or NULL */
    struct rtmfp_publish_remote *remote;
    uint64_t lost, lost_reported;        /* messages of closed flows; total already reported */
    bool fc;                         /* it ended by FCUnpublish, which needs an answer */
};

static inline bool rtmfp_netstream_publishes(const struct rtmfp_netstream *n)
{
    return n->base.state == DATAGRAM_ACTIVE && n->base.publishes;
}
static inline bool rtmfp_netstream_plays(const struct rtmfp_netstream *n)
{
    return n->base.state == DATAGRAM_ACTIVE && !n->base.publishes;
}

/* ---- publish.c, in the stream's coroutine: admits the publisher, answers, runs until the end.
 * Yields. */
err_t rtmfp_publish_run(struct rtmfp_netstream *n) __attribute__((warn_unused_result));

/* ---- play.c */
/* Admits the player in the stream's coroutine and answers; from then on it plays without a
 * coroutine. On error it is in no list. Yields. */
err_t rtmfp_play_begin(struct rtmfp_netstream *n) __attribute__((warn_unused_result));
/* Applies the flags of n->play that the client changed. */
void rtmfp_play_apply(struct rtmfp_netstream *n);
/* `why` is borrowed. May yield. */
void rtmfp_play_end(struct rtmfp_netstream *n, err_t why);
/* Writes new messages to its flows. Returns true if they may have something to send. Does not
 * yield. */
bool rtmfp_play_turn(struct rtmfp_netstream *n, co_usec now);
/* Functions for datagram_client_ops. */
err_t rtmfp_play_changed(struct datagram_client *c);
void rtmfp_play_check(struct datagram_client *c, co_usec now);
void rtmfp_play_log_sample(const struct datagram_client *c, co_usec now);

/* ---- stream.c: the players of a source on this worker */
/* Finds or creates the stream of the source; returns it with a reference for the caller. */
struct datagram_stream *rtmfp_stream_get(struct rtmfp_service *s, struct live_source *src);
struct rtmfp_wire *rtmfp_stream_wire(struct datagram_stream *st);

/* ---- netstream.c: messages to the client on n->control; none yields */
/* It publishes or plays from now on. */
void rtmfp_netstream_active(struct rtmfp_netstream *n);
void rtmfp_netstream_status(struct rtmfp_netstream *n, unsigned status, const char *text);
/* Writes a reliable message of this type; the bytes do not include type and time. */
void rtmfp_netstream_write(struct rtmfp_netstream *n, uint8_t type, uint32_t time,
                         const uint8_t *data, size_t size);

/* ---- directory.c, introduce.c: peers by their ids */

/* Handles setPeerInfo: other peers may find it, at these addresses and the observed one. May be
 * called again. The first session with the id keeps it. */
void rtmfp_presence_set(struct rtmfp_peer *p, const struct rtmfp_address *list, size_t n);
void rtmfp_presence_moved(struct rtmfp_peer *p); /* its address changed */
void rtmfp_presence_end(struct rtmfp_peer *p); /* fine without one */
/* Handles an IHello that names a peer (service->response): sends a datagram or nothing. */
void rtmfp_introduce(struct rtmfp_endpoint *e, const struct udp_in *in, co_usec now);
/* Handles an IHello that names this server while others shall answer it (responder.redirects). */
void rtmfp_redirect_hello(struct rtmfp_endpoint *e, const struct udp_in *in, co_usec now);

/* ---- netgroup.c: flows with metadata 47 43; as rtmfp_session_ops */
bool rtmfp_netgroup_opened(struct rtmfp_peer *p, struct rtmfp_flow_in *f);
bool rtmfp_netgroup_message(struct rtmfp_peer *p, struct rtmfp_flow_in *f, const uint8_t *data,
                            size_t size);
void rtmfp_netgroup_closed(struct rtmfp_peer *p, struct rtmfp_flow_in *f);
void rtmfp_netgroup_done(struct rtmfp_peer *p, struct rtmfp_flow_out *f);
/* Checks whether it became silent, or answers again. */
void rtmfp_netgroup_flushed(struct rtmfp_peer *p);
void rtmfp_netgroup_end(struct rtmfp_peer *p); /* the session ends: leaves all groups */

#endif
