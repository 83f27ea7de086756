/* SPDX-License-Identifier: MIT */
/* peer.h - one SRT client of this worker; private to serve/srt.
 *
 * Life cycle: a conclusion with a valid cookie creates it (handshake.c) with a coroutine that
 * admits it (admit.c): stream id, vhost, owner worker (to which it may move, and which then
 * responds), key, callbacks. After the response it publishes (publish.c; the coroutine stays for
 * checks) or plays (play.c; the coroutine ends). A refused client is freed.
 */
#ifndef SERVE_SRT_PEER_H
#define SERVE_SRT_PEER_H

#include "base/table.h"
#include "proto/srt/conn.h"
#include "serve/datagram/client.h"
#include "serve/srt/srt.h"
#include "session/publisher.h"

struct srt_shared;    /* shared by all workers */
struct srt_endpoint;  /* a socket and its reader */
struct srt_publish;   /* the publisher's part (publish.c) */
struct srt_request;   /* its request, until it is admitted (admit.h) */

/* Its entry in the table of callers: its address and its own socket id. */
struct srt_caller {
    struct table_link link;
    struct udp_addr from;
    uint32_t id, first_seq;
};

/* The player's part: play.c. */
struct srt_play {
    co_usec every;      /* merge time: how long packets wait to be sent together */
    uint32_t turn;      /* the last walk that served it */
    uint32_t skips;     /* skips already logged */
    uint64_t counted, dropped; /* bytes and drops already counted for the source */
};

struct srt_peer {
    struct datagram_client base;
    struct srt_conn conn;
    struct srt_service *service;
    struct srt_shared *shared;   /* owns a reference, because it may move between workers */
    struct srt_endpoint *endpoint;
    struct udp_path path;
    bool touched;                /* it has a packet in this batch */
    bool connected;              /* on_connect accepted it: on_close must be called */
    bool admitted;               /* by srt_publish_admit() or srt_play_admit() */
    uint32_t id;                 /* the server's id of the connection */
    struct srt_caller caller;
    co_usec zero;                /* start of the server's clock for it */
    struct srt_request *request; /* until it is admitted */
    uint8_t *answer;             /* response to its conclusion, repeated until a packet arrives; or
                                  * NULL */
    size_t answer_size;
    struct srt_publish *publish; /* the publisher's part; or NULL */
    struct srt_play play;        /* the player's part */
    struct srt_peer *next_touched;
};

/* ---- send.c */
/* Sends a datagram; drops it if the socket is full. */
void srt_peer_send(struct srt_peer *p, const void *data, size_t size);
void srt_peer_burst(struct srt_peer *p, const struct srt_burst *b);
/* Sends pending control packets of its connection and sets its timer. Call it after each input. */
void srt_peer_flush(struct srt_peer *p, co_usec now);

/* ---- publish.c: in the peer's coroutine; both yield */
err_t srt_publish_admit(struct srt_peer *p)  /* before the response */
    __attribute__((warn_unused_result));
err_t srt_publish_run(struct srt_peer *p)    /* runs until its end */
    __attribute__((warn_unused_result));
/* Ends an admitted publisher; `why` is borrowed. Yields. */
void srt_publish_end(struct srt_peer *p, err_t why);
/* Handles messages that are due. Does not yield. */
void srt_publish_turn(struct srt_peer *p, co_usec now);

/* ---- play.c */
err_t srt_play_admit(struct srt_peer *p)     /* before the response; yields */
    __attribute__((warn_unused_result));
/* Starts its connection and adds it to the players of its stream; then the response is sent. After
 * an error call srt_play_end(). Does not yield. */
err_t srt_play_begin(struct srt_peer *p, const struct srt_conn_opts *opts)
    __attribute__((warn_unused_result));
/* sends packets that are due; does not yield */
void srt_play_turn(struct srt_peer *p, co_usec now);
void srt_play_end(struct srt_peer *p, err_t why);    /* `why` is borrowed. May yield. */
void srt_play_count(struct srt_peer *p); /* counts its sent bytes for the stream */
extern const struct datagram_client_ops srt_play_ops;

#endif
