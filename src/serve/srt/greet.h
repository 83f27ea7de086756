/* SPDX-License-Identifier: MIT */
/* greet.h - what a caller said, until it is let in; for the files of serve/srt alone. */
#ifndef SERVE_SRT_GREET_H
#define SERVE_SRT_GREET_H

#include "co/deadline.h"
#include "proto/srt/streamid.h"
#include "serve/srt/impl.h"

struct srt_greeting {
    struct srt_handshake said;   /* its pointers are into raw */
    struct srt_streamid asked;
    co_usec at;                  /* when it came */
    uint32_t time;               /* its timestamp */
    unsigned endpoint;           /* its number, at all workers */
    int move_to;                 /* the worker that it goes to next; -1: none */
    bool settled;                /* it came from another worker to be served here */
    uint32_t refusal;            /* the code, where the error alone does not say it; or 0 */
    struct srt_secret *secret;   /* of its key message; NULL: in the clear */
    struct co_deadline deadline;
    size_t size;
    uint8_t raw[SRT_HANDSHAKE_MAX];
};

/* co_fn: the life of one that calls: let in or refused; a publisher to its end. */
err_t srt_admit_main(void *peer);
err_t srt_admit_go_on_main(void *peer); /* it came from another worker */

/* ---- wish.c: which stream */
err_t srt_wish(struct srt_peer *p) __attribute__((warn_unused_result));

/* ---- key.c: the key of its payloads, if there is to be one. Yields. */
err_t srt_key_take(struct srt_peer *p) __attribute__((warn_unused_result));

/* ---- move.c: is it to be served elsewhere? Yields. */
err_t srt_settle(struct srt_peer *p) __attribute__((warn_unused_result));
void srt_send_away(struct srt_peer *p);

/* An error with the code that the caller gets. */
#define srt_refusal(p, code, ...) \
    ((p)->greeting->refusal = (code), err_new(ERR_SRT_CONNECT, __VA_ARGS__))

#endif
