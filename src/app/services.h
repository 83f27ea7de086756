/* SPDX-License-Identifier: MIT */
/* services.h - the services over TCP, from the rows of conf/protocol.h. */
#ifndef APP_SERVICES_H
#define APP_SERVICES_H

#include "app/listeners.h"
#include "co/net/io_tls.h"
#include "serve/protocol.h"

/* A service is an endpoint of a protocol, in the order of conf_served_next(). Services are bits of
 * an unsigned. */
enum { SERVICES = 32 };

/* TLS certificates of the services; initially all NULL. */
struct services_tls {
    struct io_tls_server *v[SERVICES];
};

/* Lists the endpoints of a configuration; returns their number. */
size_t services_wanted(const struct conf *c, struct listeners_want out[SERVICES]);

/* Reads the certificates of a configuration. On error `out` is empty. Yields. */
err_t services_tls_load(struct services_tls *out, const struct conf *c)
    __attribute__((warn_unused_result));
/* Checks the TLS settings without reading files, so it works before co_init(). ERR_TLS. */
err_t services_tls_check(const struct conf *c) __attribute__((warn_unused_result));
void services_tls_free(struct services_tls *t); /* any thread */
/* Returns another reference, for another worker. A refresh affects all who share. */
struct services_tls services_tls_share(const struct services_tls *t);
/* Reads changed certificate files again and logs each outcome. Only the first worker calls it.
 * Yields. */
void services_tls_refresh(struct services_tls *t);

const char *services_name(unsigned service);
/* Writes the names of services for the log, such as "HTTP, HTTP API", and returns `text`. */
enum { SERVICES_TEXT = 128 };
const char *services_text(unsigned which, char *text, size_t size);
/* Returns true if api_reserve connections are available to one of these services. */
bool services_reserve(unsigned which);
/* Sets the endpoint and TLS of an accepted connection and returns the protocol that handles it.
 * If two protocols share a port, it is the one that can detect the other. */
enum protocol_id services_guest(unsigned which, const struct services_tls *t,
                                struct protocol_accepted *guest);

#endif
