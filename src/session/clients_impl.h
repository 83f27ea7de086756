/* SPDX-License-Identifier: MIT */
/* clients_impl.h - the insides of the list of clients, for session/clients* alone. */
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
/* The client waits to be one of its stream's, is one, and is no longer. */
void clients_stream_wait(struct client *c, const struct session_stream *names);
void clients_stream_enter(struct client *c, const struct session_stream *names);
void clients_stream_leave(struct client *c);
/* So many bytes of a file went to it. */
void clients_stream_sent(struct client *c, uint64_t bytes);

#endif
