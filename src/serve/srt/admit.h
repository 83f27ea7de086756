/* SPDX-License-Identifier: MIT */
/* admit.h - the request of a caller, until it is admitted; for the files of serve/srt alone. */
#ifndef SERVE_SRT_ADMIT_H
#define SERVE_SRT_ADMIT_H

#include "co/co.h"
#include "proto/srt/streamid.h"
#include "serve/srt/impl.h"

struct srt_request {
    struct srt_handshake handshake;   /* its pointers are into raw */
    struct srt_streamid streamid;
    co_usec at;                  /* when it came */
    uint32_t time;               /* its timestamp */
    unsigned endpoint;           /* its number, at all workers */
    int move_to;                 /* the worker that it goes to next; -1: none */
    bool settled;                /* it came from another worker to be served here */
    uint32_t reject_reason;            /* the code, where the error alone does not say it; or 0 */
    struct srt_secret *secret;   /* of its key message; NULL: in the clear */
    struct co_deadline deadline;
    size_t size;
    uint8_t raw[SRT_HANDSHAKE_MAX];
};

/* co_fn: a caller is admitted or refused; a publisher runs to its end. */
err_t srt_admit_main(void *peer);
err_t srt_admit_go_on_main(void *peer); /* it came from another worker */

/* ---- identify.c: which stream */
err_t srt_identify(struct srt_peer *p) __attribute__((warn_unused_result));

/* ---- key.c: the key of its payloads, if they are encrypted. Yields. */
err_t srt_key_take(struct srt_peer *p) __attribute__((warn_unused_result));

/* ---- move.c: is it to be served elsewhere? Yields. */
err_t srt_settle(struct srt_peer *p) __attribute__((warn_unused_result));
void srt_send_away(struct srt_peer *p);

/* ---- refuse.c */
/* The code by which a caller gets that error. */
uint32_t srt_peer_refusal(const struct srt_peer *p, err_t err);
void srt_send_refusal(struct srt_endpoint *e, const struct udp_path *path,
                      const struct srt_handshake *h, uint32_t code);
/* The same, counted and remembered. */
void srt_refuse(struct srt_endpoint *e, const struct udp_path *path,
                const struct srt_handshake *h, uint32_t code);

/* An error with the code that the caller gets. */
#define srt_refusal(p, code, ...) \
    ((p)->request->reject_reason = (code), err_new(ERR_SRT_CONNECT, __VA_ARGS__))

#endif
