/* SPDX-License-Identifier: MIT */
/* admit.h - the request of a caller, until it is admitted; private to serve/srt. */
#ifndef SERVE_SRT_ADMIT_H
#define SERVE_SRT_ADMIT_H

#include "co/co.h"
#include "proto/srt/streamid.h"
#include "serve/srt/impl.h"

struct srt_request {
    struct srt_handshake handshake;   /* points into raw */
    struct srt_streamid streamid;
    co_usec at;                  /* when it arrived */
    uint32_t time;               /* its timestamp */
    unsigned endpoint;           /* number of its endpoint, the same on all workers */
    int move_to;                 /* the worker that it moves to next; -1: none */
    bool settled;                /* it has moved here to be served */
    uint32_t reject_reason;      /* the code, if it does not follow from the error; or 0 */
    struct srt_secret *secret;   /* from its key message; NULL: not encrypted */
    struct co_deadline deadline;
    size_t size;
    uint8_t raw[SRT_HANDSHAKE_MAX];
};

/* co_fn: admits or refuses a caller; runs a publisher until its end. */
err_t srt_admit_main(void *peer);
err_t srt_admit_go_on_main(void *peer); /* for a caller that moved from another worker */

/* ---- identify.c: finds the stream */
err_t srt_identify(struct srt_peer *p) __attribute__((warn_unused_result));

/* ---- key.c: reads the key of encrypted payloads. Yields. */
err_t srt_key_take(struct srt_peer *p) __attribute__((warn_unused_result));

/* ---- move.c: chooses the worker that serves it. Yields. */
err_t srt_settle(struct srt_peer *p) __attribute__((warn_unused_result));
void srt_send_away(struct srt_peer *p);

/* ---- refuse.c */
/* Returns the code that a caller gets for an error. */
uint32_t srt_peer_refusal(const struct srt_peer *p, err_t err);
void srt_send_refusal(struct srt_endpoint *e, const struct udp_path *path,
                      const struct srt_handshake *h, uint32_t code);
/* Refuses a caller, counts it and remembers it. */
void srt_refuse(struct srt_endpoint *e, const struct udp_path *path,
                const struct srt_handshake *h, uint32_t code);

/* Creates an error and sets the code that the caller gets. */
#define srt_refusal(p, code, ...) \
    ((p)->request->reject_reason = (code), err_new(ERR_SRT_CONNECT, __VA_ARGS__))

#endif
