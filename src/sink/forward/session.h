/* SPDX-License-Identifier: MIT */
/* session.h - a forward of one stream to one destination; private to sink/forward. */
#ifndef SINK_FORWARD_SESSION_H
#define SINK_FORWARD_SESSION_H

#include "proto/rtmp/conn.h"
#include "proto/rtmp/url.h"
#include "session/player.h"

struct forward_target; /* a host and port, shared by all workers */

/* A forward's state about its destination; initially zero. */
struct forward_at {
    struct forward_target *target; /* NULL: it never failed */
    bool waits;                    /* it failed and has not published since */
};

struct forward {
    struct forward *next; /* in the list of its stream, until it must end */
    struct session session; /* session of its connection; a player while it publishes there */
    struct session_player player;
    char *host;
    int port;
    enum conf_scheme scheme;
    bool tls;
    char *url;               /* complete URL, with keys and passwords */
    char *shown;             /* URL without secrets, for logs and lists */
    bool public_name;        /* the last part of its path is the stream's name, not a key */
    char *of;                /* configured URL; NULL: only host and port */
    bool asked;              /* the destination comes from a backend */
    struct live_source *src; /* owns a reference */
    bool ending;             /* the stream ended, or the destination was removed */
    struct rtmp_in_setup setup; /* limits for messages of the destination */
    struct rtmp_conn conn;
    struct rtmp_url to;      /* RTMP: parsed URL */
    uint32_t stream_id;
    struct pushing *pushing; /* RTSP: the current attempt in rtsp.c, or NULL */
    bool publishing;         /* SRT: set while it sends, since it has no counted connection */
    uint64_t dropped;        /* SRT: dropped packets */
    unsigned failures;
    struct forward_at at; /* for the log lines about its destination */
    char error[200];  /* last error */
    char id[9];       /* id in lists of the API */
};

struct forward *forward_new(struct session_env *env, const struct conf_endpoint *to,
                            const struct session_stream *names, struct live_source *src);
/* Creates a forward to a URL returned by a backend. ERR_RTMP_CONNECT: not a valid destination. */
err_t forward_new_url(struct forward **out, struct session_env *env, const char *url,
                      const struct session_stream *names, struct live_source *src)
    __attribute__((warn_unused_result));
err_t forward_main(void *forward); /* co_fn; frees it at the end */
/* Makes one attempt over session.io, which the caller keeps. Returns when the stream or the
 * destination ends. Yields. */
err_t forward_converse(struct forward *f) __attribute__((warn_unused_result));
/* The destination has accepted the stream. */
void forward_begin(struct forward *f);
/* Logs the end of publishing by the error `why` (borrowed). */
void forward_log_did(struct forward *f, err_t why);
/* Sends the stream over session.io until it ends; then calls `goodbye` to say so to the
 * destination. Yields. */
err_t forward_send(struct forward *f, const struct live_format *wire,
                   const uint32_t param[LIVE_PARAMS],
                   err_t (*readable)(struct session_player *player),
                   void (*goodbye)(struct forward *f)) __attribute__((warn_unused_result));
/* rtsp.c: makes one attempt over RTSP on its own connection. Yields. */
err_t forward_by_rtsp(struct forward *f) __attribute__((warn_unused_result));
/* srt.c: makes one attempt over SRT on its own socket. Yields. */
err_t forward_by_srt(struct forward *f) __attribute__((warn_unused_result));
/* url.c: returns the URL for this stream with [vhost], [app] and [stream] replaced; malloc'ed. */
char *forward_url(const struct conf_endpoint *to, const struct session_stream *names);
/* Returns true if the last part of its path consists of public names; else it is a secret key. */
bool forward_public_name(const struct conf_endpoint *to);
/* Removes the key and parameters from an error text. */
void forward_hide(const struct forward *f, err_t err);
/* Returns true if the URL is the stream itself on this server, which would be a loop. */
bool forward_is_circle(const char *url, const struct session_stream *names);
/* Parses a URL such as "rtmp://host/app?backup=1/key", whose parameters belong to the app (one
 * service uses it). Returns the malloc'ed app, which must live as long as u, or NULL for other
 * URLs. */
char *forward_app(struct rtmp_url *u, const char *url);
void forward_end(struct forward *f);
void forward_free(struct forward *f); /* frees a forward that was never started */

#endif
