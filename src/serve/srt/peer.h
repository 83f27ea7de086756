/* SPDX-License-Identifier: MIT */
/* peer.h - one SRT client of this worker, for the files of serve/srt alone.
 *
 * Its life: a conclusion with a valid cookie makes it (handshake.c) with a coroutine that admits it
 * (admit.c): stream id, vhost, owner worker (it may move to that one, which answers then), key,
 * hooks. Then the answer is sent, and it publishes (publish.c; the coroutine stays, for what checks
 * and stops publishers) or plays (play.c; the coroutine ends). Or it is refused and freed.
 */
#ifndef SERVE_SRT_PEER_H
#define SERVE_SRT_PEER_H

#include "base/table.h"
#include "proto/srt/conn.h"
#include "serve/datagram/client.h"
#include "serve/srt/srt.h"
#include "session/publisher.h"

struct srt_shared;    /* what all workers have in common */
struct srt_endpoint;  /* a socket and its reader */
struct srt_publish;   /* what publishers have more (publish.c) */
struct srt_request;  /* its request, until it is admitted (admit.h) */

/* In the table of who called: its address and the id that it gave itself. */
struct srt_caller {
    struct table_link link;
    struct udp_addr from;
    uint32_t id, first_seq;
};

/* What a player has more: play.c. */
struct srt_play {
    co_usec every;      /* how long packets wait to go out together */
    uint32_t turn;      /* the last one it was served in */
    uint32_t skips;     /* as the log was told */
    uint64_t counted, dropped; /* of what it was sent, as the source was told */
};

struct srt_peer {
    struct datagram_client base;
    struct srt_conn conn;
    struct srt_service *service;
    struct srt_shared *shared;   /* with a reference: it may be on its way between workers */
    struct srt_endpoint *endpoint;
    struct udp_path path;
    bool touched;                /* a packet of it came in this batch */
    bool connected;              /* on_connect let it in: on_close is to be called */
    bool admitted;               /* by srt_publish_admit() or srt_play_admit() */
    uint32_t id;                 /* of the connection, ours */
    struct srt_caller caller;
    co_usec zero;                /* of our clock, for it */
    struct srt_request *request; /* until it is let in */
    uint8_t *answer;             /* to its conclusion, for its repeats, until a packet comes; or
                                  * NULL */
    size_t answer_size;
    struct srt_publish *publish; /* of a publisher; or NULL */
    struct srt_play play;        /* of a player */
    struct srt_peer *next_touched;
};

/* ---- send.c */
/* Send to it, or lose it where the socket is full. */
void srt_peer_send(struct srt_peer *p, const void *data, size_t size);
void srt_peer_burst(struct srt_peer *p, const struct srt_burst *b);
/* Control packets that its connection has to send, then its timer is set. After each input. */
void srt_peer_flush(struct srt_peer *p, co_usec now);

/* ---- publish.c: in the peer's coroutine; both yield */
err_t srt_publish_admit(struct srt_peer *p)  /* before the answer */
    __attribute__((warn_unused_result));
err_t srt_publish_run(struct srt_peer *p)    /* until its end */
    __attribute__((warn_unused_result));
void srt_publish_end(struct srt_peer *p, err_t why); /* of one that was admitted; `why` is
                                                      * borrowed. Yields */
void srt_publish_turn(struct srt_peer *p, co_usec now); /* messages that are due; does not yield */

/* ---- play.c */
err_t srt_play_admit(struct srt_peer *p)     /* before the answer; yields */
    __attribute__((warn_unused_result));
/* Its connection begins, and it is a player of its stream; then the answer is sent. Of an error it
 * is not, and srt_play_end() follows. Does not yield. */
err_t srt_play_begin(struct srt_peer *p, const struct srt_conn_opts *opts)
    __attribute__((warn_unused_result));
void srt_play_turn(struct srt_peer *p, co_usec now); /* packets that are due; does not yield */
void srt_play_end(struct srt_peer *p, err_t why);    /* `why` is borrowed. May yield. */
void srt_play_count(struct srt_peer *p); /* what it was sent counts for its stream */
extern const struct datagram_client_ops srt_play_ops;

#endif
