/* SPDX-License-Identifier: MIT */
/* roster_impl.h - the insides of the roster, for the files of serve/roster* alone. */
#ifndef SERVE_ROSTER_IMPL_H
#define SERVE_ROSTER_IMPL_H

#include "serve/roster.h"

struct roster {
    struct live_registry *streams;
    char *server_id;
    struct roster_client **buckets;
    size_t n_buckets; /* a power of two */
    size_t count;
    struct roster_total totals[ROSTER_TYPES];
    struct roster_vhost *vhosts;
};

void *roster_must(void *p);
void roster_free_vhosts(struct roster *r);
/* The client waits to be one of its stream's, is one, and is no longer. */
void roster_stream_wait(struct roster_client *c, const struct serve_stream *names);
void roster_stream_enter(struct roster_client *c, const struct serve_stream *names);
void roster_stream_leave(struct roster_client *c);

#endif
