/* SPDX-License-Identifier: MIT */
/* session.h - one stream to one destination; for the files of sink/forward alone. */
#ifndef SINK_FORWARD_SESSION_H
#define SINK_FORWARD_SESSION_H

#include "proto/rtmp/conn.h"
#include "proto/rtmp/url.h"
#include "session/player.h"

struct forward_target; /* one host and port; all workers share it */

/* What a forward keeps; zeroed at first. */
struct forward_at {
    struct forward_target *target; /* NULL: it never failed */
    bool waits;                    /* it failed, and did not publish since */
};

struct forward {
    struct forward *next; /* of its stream, until it is told to end */
    struct session session; /* of the connection that it has; it plays while it publishes there */
    struct session_player player;
    char *host;
    int port;
    enum conf_scheme scheme;
    bool tls;
    char *url;               /* whole, as a client writes it, with keys and passwords */
    char *shown;             /* the same without: for logs and lists */
    bool public_name;        /* the last part of its path is no key: it is as the stream's name */
    char *of;                /* what it was made of; NULL: of host and port alone */
    bool asked;              /* a backend said so */
    struct live_source *src; /* with a reference */
    bool ending;             /* the stream ended, or the destination is no longer wanted */
    struct rtmp_in_setup setup; /* what the destination may send */
    struct rtmp_conn conn;
    struct rtmp_url to;      /* by RTMP: its url; what it gets the stream by */
    uint32_t stream_id;
    struct pushing *pushing; /* of rtsp.c, while that is what it does */
    bool publishing;         /* by SRT: it has no connection that counts */
    uint64_t dropped;        /* packets, of the same */
    unsigned failures;
    struct forward_at at; /* what the log says about its destination */
    char error[200];  /* of the last one */
    char id[9];       /* by which lists know it */
};

struct forward *forward_new(struct session_env *env, const struct conf_endpoint *to,
                            const struct session_stream *names, struct live_source *src);
/* To what a backend answers: all that a destination may be. ERR_RTMP_CONNECT: it is none. */
err_t forward_new_url(struct forward **out, struct session_env *env, const char *url,
                      const struct session_stream *names, struct live_source *src)
    __attribute__((warn_unused_result));
err_t forward_main(void *forward); /* co_fn; frees it at its end */
/* One try over session.io, which stays the caller's. Ends when the stream or the destination does;
 * yields. */
err_t forward_converse(struct forward *f) __attribute__((warn_unused_result));
/* The destination took the stream. */
void forward_begin(struct forward *f);
/* It published, until it ended by `why`, which is borrowed: the line about that. */
void forward_log_did(struct forward *f, err_t why);
/* Send it over session.io until it ends; `goodbye` is for a destination that it leaves. Yields. */
err_t forward_send(struct forward *f, const struct live_format *wire,
                   const uint32_t param[LIVE_PARAMS],
                   err_t (*readable)(struct session_player *player),
                   void (*goodbye)(struct forward *f)) __attribute__((warn_unused_result));
/* rtsp.c: one try by RTSP, over a connection of its own. Yields. */
err_t forward_by_rtsp(struct forward *f) __attribute__((warn_unused_result));
/* srt.c: the same by SRT, over a socket of its own. */
err_t forward_by_srt(struct forward *f) __attribute__((warn_unused_result));
/* url.c: the url of this stream there, [vhost], [app] and [stream] replaced. malloc'ed. */
char *forward_url(const struct conf_endpoint *to, const struct session_stream *names);
/* Is the last part of its path made of names that the server shows anyhow? Else it is a key. */
bool forward_public_name(const struct conf_endpoint *to);
/* Takes key and parameters out of what went wrong. */
void forward_hide(const struct forward *f, err_t err);
/* Is it where the stream came from? It would come back in a circle. */
bool forward_is_circle(const char *url, const struct session_stream *names);
/* "rtmp://host/app?backup=1/key", as one service has it: the parameters belong to the app, and u
 * gets it with them. It is malloc'ed, and must live as long as u; NULL: url is none of these. */
char *forward_app(struct rtmp_url *u, const char *url);
void forward_end(struct forward *f);
void forward_free(struct forward *f); /* for one that was never started */

#endif
