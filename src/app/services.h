/* SPDX-License-Identifier: MIT */
/* services.h - what the server serves over TCP: by the rows of conf/protocol.h. */
#ifndef APP_SERVICES_H
#define APP_SERVICES_H

#include "app/listeners.h"
#include "co/net/io_tls.h"
#include "serve/protocol.h"

/* A service is an endpoint of a protocol: conf_served_next() has them in this order. At most so
 * many: bits of an unsigned. */
enum { SERVICES = 32 };

/* The certificates of those that speak TLS; all NULL to begin with. */
struct services_tls {
    struct io_tls_server *v[SERVICES];
};

/* The endpoints that a configuration asks for; gives how many rows. */
size_t services_wanted(const struct conf *c, struct listeners_want out[SERVICES]);

/* Read the certificates that a configuration asks for. On error `out` is empty. Yields. */
err_t services_tls_load(struct services_tls *out, const struct conf *c)
    __attribute__((warn_unused_result));
/* What of it can be wrong without a look at its files: before there are coroutines. ERR_TLS. */
err_t services_tls_check(const struct conf *c) __attribute__((warn_unused_result));
void services_tls_free(struct services_tls *t); /* any thread */
/* The same for one more worker: what is refreshed is so for all who share it. */
struct services_tls services_tls_share(const struct services_tls *t);
/* Look whether a file of them changed, and read it then; each outcome is logged. For the first
 * worker alone. Yields. */
void services_tls_refresh(struct services_tls *t);

const char *services_name(unsigned service);
/* "HTTP, HTTP API" of their bits, for the log; gives `text`. */
enum { SERVICES_TEXT = 128 };
const char *services_text(unsigned which, char *text, size_t size);
/* Are api_reserve connections for one of them? */
bool services_reserve(unsigned which);
/* By which endpoints it came, and its TLS; gives the protocol whose accept() gets it: where two
 * share a port, the one that may find that it speaks the other. */
enum protocol_id services_guest(unsigned which, const struct services_tls *t,
                                struct protocol_accepted *guest);

#endif
