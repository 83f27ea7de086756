/* SPDX-License-Identifier: MIT */
/* listeners_plan.h - which endpoints are to be listened on, and the sockets that are new. Plain
 * memory: made by one thread, read by others. */
#ifndef APP_LISTENERS_PLAN_H
#define APP_LISTENERS_PLAN_H

#include "app/listeners.h"
#include "co/net/io_tcp.h"
#include "conf/binds.h"

struct listeners_planned {
    struct conf_bind bind; /* owns its host */
    int family;
    unsigned services;
    unsigned workers; /* so many listen: all, or the first alone */
    bool proxied;
    int *fd;          /* one for each of all workers; -1: it has none to take. Set by its own */
};

struct listeners_plan {
    size_t n;
    struct listeners_planned v[];
};

/* The endpoints of all services, each once, none opened. */
struct listeners_plan *listeners_plan_new(const struct listeners_want *wanted, size_t n,
                                          unsigned workers);
/* The one of that family and endpoint; NULL: it is to be closed. */
struct listeners_planned *listeners_plan_find(const struct listeners_plan *plan, int family,
                                              const struct conf_bind *bind);
/* Opens what is missing where the first `have` workers listen already. `first` is how the socket of
 * the first worker is opened. */
err_t listeners_plan_open(struct listeners_planned *p, unsigned have, enum io_listen_share first)
    __attribute__((warn_unused_result));

#endif
