/* SPDX-License-Identifier: MIT */
/* session.h - one stream to one destination; for the files of sink/forward* alone. */
#ifndef SINK_FORWARD_SESSION_H
#define SINK_FORWARD_SESSION_H

#include "base/kbps.h"
#include "live/sender.h"
#include "proto/rtmp/conn.h"
#include "session/clients.h"
#include "session/env.h"

struct forward {
    struct forward *next; /* of its stream, until it is told to end */
    struct session_env *env;
    char *host;
    int port;
    bool tls;
    char *url;               /* whole, as a client writes it */
    bool asked;              /* a backend said so */
    struct live_source *src; /* with a reference */
    struct conf *conf;       /* what it obeys, with a reference */
    const struct conf_vhost *vhost;
    struct co *co;           /* once it runs */
    bool ending;             /* the stream ended, or the destination is no longer wanted */
    struct io *io;
    struct rtmp_in_setup setup; /* what the destination may send */
    struct rtmp_conn conn;
    struct co_timer timer;   /* until it takes the stream */
    bool late;               /* it did not */
    struct live_sender sender;
    uint64_t dropped;
    co_usec began_at; /* to publish */
    struct kbps in_kbps, out_kbps;
    unsigned failures;
    char error[200];  /* of the last one */
    struct client who; /* while it is connected */
    char id[9];       /* by which lists know it */
    bool kicked;      /* it is to be called again */
};

struct forward *forward_new(struct session_env *env, const struct conf_endpoint *to,
                            const struct session_stream *names, struct live_source *src);
/* To a whole url. ERR_RTMP_CONNECT: it is none. */
err_t forward_new_url(struct forward **out, struct session_env *env, const char *url,
                      const struct session_stream *names, struct live_source *src)
    __attribute__((warn_unused_result));
err_t forward_main(void *forward); /* co_fn; frees it at its end */
/* One try over f->io, which stays the caller's. Ends when the stream or the destination does;
 * yields. */
err_t forward_converse(struct forward *f) __attribute__((warn_unused_result));
void forward_end(struct forward *f);
void forward_free(struct forward *f); /* for one that was never started */

#endif
