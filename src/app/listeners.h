/* SPDX-License-Identifier: MIT */
/* listeners.h - the set of endpoints that a worker listens on; for all workers it changes as a
 * whole or not at all. */
#ifndef APP_LISTENERS_H
#define APP_LISTENERS_H

#include "base/err.h"
#include "conf/settings.h"

struct listeners;

/* Endpoints of one service. An endpoint that is written for several services of one family is
 * one socket for each worker, and who connects there comes with all of their bits. */
struct listeners_want {
    int family;
    unsigned services; /* bits */
    const struct conf_endpoints *endpoints;
    bool alone;        /* the first worker serves it: an endpoint of only such has one socket */
};

/* A connection that came. */
struct listeners_guest {
    unsigned services;
    bool proxied;        /* it begins with a header of the PROXY protocol */
    int fd;
    const uint8_t *peer; /* the address, as io_accept() has it */
};

/* Gets each connection and owns its descriptor. It must not yield. */
typedef void listeners_accept(void *arg, const struct listeners_guest *guest);

struct listeners *listeners_new(listeners_accept *on_accept, void *arg);

/* A change goes in two steps: sockets that are new are opened for all workers first, then each
 * worker takes its own and goes over, which cannot fail. */
struct listeners_plan;
/* What is to be so that exactly these endpoints are listened on. `l` is of the first worker, who
 * calls it. On error nothing has changed, and *out is NULL. Does not yield. */
err_t listeners_prepare(struct listeners_plan **out, const struct listeners *l,
                        const struct listeners_want *wanted, size_t n, unsigned workers)
    __attribute__((warn_unused_result));
/* Go over, on the thread of that worker; several may at a time. New endpoints are served at once,
 * those no longer wanted are closed. What the system refuses now is told in the log. Does not
 * yield. */
void listeners_apply(struct listeners *l, struct listeners_plan *plan, unsigned worker);
void listeners_plan_free(struct listeners_plan *plan); /* closes what nobody took; NULL is fine */

void listeners_close(struct listeners *l); /* all of them; does not yield */
void listeners_free(struct listeners *l);  /* closes and waits until they are. Yields. */

#endif
