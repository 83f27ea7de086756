/* SPDX-License-Identifier: MIT */
/* listeners_plan.h - the endpoints of a new configuration, with the sockets that it adds. Plain
 * memory: one thread creates it, others read it. */
#ifndef APP_LISTENERS_PLAN_H
#define APP_LISTENERS_PLAN_H

#include "app/listeners.h"
#include "co/net/io_tcp.h"
#include "conf/binds.h"

struct listeners_planned {
    struct conf_bind bind; /* owns its host */
    int family;
    unsigned services;
    unsigned workers; /* number of workers that listen: all, or only the first */
    bool proxied;
    int *fd;          /* one per worker, which takes it and sets -1; -1: nothing to take */
};

struct listeners_plan {
    size_t n;
    struct listeners_planned v[];
};

/* Lists the endpoints of all services, each once, without opening any. */
struct listeners_plan *listeners_plan_new(const struct listeners_want *wanted, size_t n,
                                          unsigned workers);
/* Finds an endpoint by family and address; NULL means that its listener must be closed. */
struct listeners_planned *listeners_plan_find(const struct listeners_plan *plan, int family,
                                              const struct conf_bind *bind);
/* Opens the missing sockets: the first `have` workers already listen. `first` says how to share the
 * socket of the first worker. */
err_t listeners_plan_open(struct listeners_planned *p, unsigned have, enum io_listen_share first)
    __attribute__((warn_unused_result));

#endif
