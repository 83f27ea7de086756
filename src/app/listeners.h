/* SPDX-License-Identifier: MIT */
/* listeners.h - the TCP endpoints that a worker listens on. A change applies to all workers as a
 * whole, or not at all. */
#ifndef APP_LISTENERS_H
#define APP_LISTENERS_H

#include "base/err.h"
#include "conf/settings.h"

struct listeners;

/* Endpoints of one service. An endpoint shared by several services of one family has one socket per
 * worker, and its connections carry the bits of all of them. */
struct listeners_want {
    int family;
    unsigned services; /* bits */
    const struct conf_endpoints *endpoints;
    bool alone;        /* only the first worker serves it, so the endpoint needs one socket */
};

/* An accepted connection. */
struct listeners_guest {
    unsigned services;
    bool proxied;        /* it starts with a PROXY protocol header */
    int fd;
    const uint8_t *peer; /* address in the format of io_accept() */
};

/* Gets each connection and owns its descriptor. It must not yield. */
typedef void listeners_accept(void *arg, const struct listeners_guest *guest);

struct listeners *listeners_new(listeners_accept *on_accept, void *arg);

/* A change takes two steps: the first worker opens the new sockets for all workers, then each
 * worker switches to its own, which cannot fail. */
struct listeners_plan;
/* Plans the change to exactly these endpoints and opens the sockets that it needs. The first worker
 * calls it with its own `l`. On error nothing has changed and *out is NULL. Does not yield. */
err_t listeners_prepare(struct listeners_plan **out, const struct listeners *l,
                        const struct listeners_want *wanted, size_t n, unsigned workers)
    __attribute__((warn_unused_result));
/* Applies the plan on the thread of that worker; several workers may do so at the same time. It
 * starts to accept on new endpoints, closes those that the plan lacks, and logs what the system
 * refuses. Does not yield. */
void listeners_apply(struct listeners *l, struct listeners_plan *plan, unsigned worker);
void listeners_plan_free(struct listeners_plan *plan); /* closes unused sockets; NULL is fine */

void listeners_close(struct listeners *l); /* closes all endpoints; does not yield */
void listeners_free(struct listeners *l);  /* closes all and waits until they have ended. Yields. */

#endif
