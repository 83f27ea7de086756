/* SPDX-License-Identifier: MIT */
/* forward_one.h - one stream to one destination; for the files of sink/forward* alone. */
#ifndef SINK_FORWARD_ONE_H
#define SINK_FORWARD_ONE_H

#include "base/kbps.h"
#include "live/sender.h"
#include "proto/rtmp/conn.h"
#include "serve/serve.h"

struct forward_names {
    char *vhost, *app, *stream, *param, *tc_url;
};

struct forward {
    struct forward *next; /* of its stream, until it is told to end */
    struct serve *serve;
    char *host;
    int port;
    bool tls;
    char *url;               /* whole, as a client writes it */
    struct live_source *src; /* with a reference */
    struct conf *conf;       /* what it obeys, with a reference */
    const struct conf_vhost *vhost;
    struct co *co;           /* once it runs */
    bool ending;             /* the stream ended, or the destination is no longer wanted */
    struct io *io;
    struct rtmp_conn conn;
    struct live_sender sender;
    uint64_t dropped;
    co_usec began_at; /* to publish */
    struct kbps in_kbps, out_kbps;
    unsigned failures;
    char error[200];  /* of the last one */
};

struct forward *forward_new(struct serve *serve, const struct conf_endpoint *to,
                            const struct forward_names *names, struct live_source *src);
err_t forward_main(void *forward); /* co_fn; frees it at its end */
void forward_end(struct forward *f);
void forward_free(struct forward *f); /* for one that was never started */

#endif
