/* SPDX-License-Identifier: MIT */
/* server.h - the server: listeners, connections, streams and the configuration in force. All
 * functions are called on the thread of the first worker.
 */
#ifndef APP_SERVER_H
#define APP_SERVER_H

#include "app/worker_counters.h"
#include "base/err.h"
#include "conf/conf.h"

struct server; /* owned by main */
struct reload_report;
struct workers;

/* Creates a server. It takes a reference to the configuration and copies the id. Call it after
 * co_init(). */
struct server *server_new(struct conf *conf, const char *id);
/* Reads certificates, opens all listeners and starts to accept. On error no listener is open.
 * Yields. */
err_t server_listen(struct server *s) __attribute__((warn_unused_result));
/* Stops accepting and ends ingests; connected clients stay. */
void server_close_listeners(struct server *s);
/* Stops all connections, waits until they have ended, and frees the server. Yields. */
void server_free(struct server *s);

/* Returns the configuration in force; take a reference to keep it across a yield. */
struct conf *server_conf(struct server *s);
/* Puts the next snapshot in force. It first reads certificates and opens new listeners; if one of
 * them fails, nothing changes and the error names it. Connections continue and follow the new
 * snapshot from their next turn. Takes its own reference. Yields. */
err_t server_reload(struct server *s, struct conf *next) __attribute__((warn_unused_result));

/* Returns the result of the last reload, which reload_now() fills in. */
struct reload_report *server_reload_report(struct server *s);

unsigned server_connections(const struct server *s); /* open connections of the process */
/* Returns all workers of the process; NULL if there is only one. */
struct workers *server_workers(const struct server *s);
struct worker_counters_of server_counters(const struct server *s);

#endif
