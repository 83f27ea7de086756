/* SPDX-License-Identifier: MIT */
/* session.h - one stream to one destination; for the files of sink/forward alone. */
#ifndef SINK_FORWARD_SESSION_H
#define SINK_FORWARD_SESSION_H

#include "proto/rtmp/conn.h"
#include "session/player.h"

struct forward {
    struct forward *next; /* of its stream, until it is told to end */
    struct session session; /* of the connection that it has; it plays while it publishes there */
    struct session_player player;
    char *host;
    int port;
    bool tls;
    char *url;               /* whole, as a client writes it; shown, so without a password */
    char *rtsp, *srt;        /* the same with it; both NULL: it is of RTMP */
    char *of;                /* what the configuration has for that; NULL: likewise */
    bool asked;              /* a backend said so */
    struct live_source *src; /* with a reference */
    bool ending;             /* the stream ended, or the destination is no longer wanted */
    struct rtmp_in_setup setup; /* what the destination may send */
    struct rtmp_conn conn;
    struct pushing *pushing; /* of rtsp.c, while that is what it does */
    bool publishing;         /* by SRT: it has no connection that counts */
    uint64_t dropped;        /* packets, of the same */
    unsigned failures;
    char error[200];  /* of the last one */
    char id[9];       /* by which lists know it */
};

struct forward *forward_new(struct session_env *env, const struct conf_endpoint *to,
                            const struct session_stream *names, struct live_source *src);
/* To a whole url. ERR_RTMP_CONNECT: it is none. */
err_t forward_new_url(struct forward **out, struct session_env *env, const char *url,
                      const struct session_stream *names, struct live_source *src)
    __attribute__((warn_unused_result));
err_t forward_main(void *forward); /* co_fn; frees it at its end */
/* One try over session.io, which stays the caller's. Ends when the stream or the destination does;
 * yields. */
err_t forward_converse(struct forward *f) __attribute__((warn_unused_result));
void forward_log_sample(const struct session_player *p, co_usec now);
/* rtsp.c: one try by RTSP, over a connection of its own. Yields. */
err_t forward_by_rtsp(struct forward *f) __attribute__((warn_unused_result));
/* srt.c: the same by SRT, over a socket of its own. */
err_t forward_by_srt(struct forward *f) __attribute__((warn_unused_result));
/* url.c: the url for this stream, made of one with [vhost], [app] and [stream]. malloc'ed. */
char *forward_rtsp_url(const char *of, const struct session_stream *names);
char *forward_srt_url(const char *of, const struct session_stream *names);
void forward_end(struct forward *f);
void forward_free(struct forward *f); /* for one that was never started */

#endif
