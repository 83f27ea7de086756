/* SPDX-License-Identifier: MIT */
/* server.h - the server: its listeners, its connections, its streams and the configuration in
 * force. Everything runs on the one coroutine thread.
 */
#ifndef APP_SERVER_H
#define APP_SERVER_H

#include "app/worker_counters.h"
#include "base/err.h"
#include "conf/conf.h"

struct server; /* owned by main */
struct reload_report;
struct workers;

/* A server with that configuration, of which it takes a reference, and that id (copied). After
 * co_init(). */
struct server *server_new(struct conf *conf, const char *id);
/* Read certificates, open all listeners and accept. On error none is open. Yields. */
err_t server_listen(struct server *s) __attribute__((warn_unused_result));
/* Accept no more, end ingests; who is connected stays. */
void server_close_listeners(struct server *s);
/* Ask every connection to end, wait until they have, and free the server. Yields. */
void server_free(struct server *s);

/* The snapshot in force; take a reference to keep it across a yield. */
struct conf *server_conf(struct server *s);
/* Put the next snapshot in force: certificates are read and listeners that are new are opened
 * first, and if one cannot be, nothing changes and the error tells which. Connections go on and
 * follow it from their next turn. Takes a reference of its own. Yields. */
err_t server_reload(struct server *s, struct conf *next) __attribute__((warn_unused_result));

/* What became of the last reload: for the one who does them to fill in. */
struct reload_report *server_reload_report(struct server *s);

unsigned server_connections(const struct server *s); /* that are open, of the process */
/* All workers of the process; NULL: there is one. */
struct workers *server_workers(const struct server *s);
struct worker_counters_of server_counters(const struct server *s);

#endif
