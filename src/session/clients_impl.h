/* SPDX-License-Identifier: MIT */
/* clients_impl.h - private to session/clients*.c. */
#ifndef SESSION_CLIENTS_IMPL_H
#define SESSION_CLIENTS_IMPL_H

#include "session/clients.h"

struct clients {
    struct live_registry *streams;
    char *server_id;
    struct table clients; /* by id */
    struct clients_total totals[CLIENTS_TYPES];
    struct clients_vhost *vhosts;
};

void clients_free_vhosts(struct clients *r);
/* The client waits for admission to its stream, is admitted, and leaves. */
void clients_stream_wait(struct client *c, const struct session_stream *names);
void clients_stream_enter(struct client *c, const struct session_stream *names);
void clients_stream_leave(struct client *c);
/* Counts bytes of a file sent to the client. */
void clients_stream_sent(struct client *c, uint64_t bytes);

#endif
