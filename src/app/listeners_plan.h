/* SPDX-License-Identifier: MIT */
/* listeners_plan.h - which endpoints are to be listened on, and the sockets that are new. Plain
 * memory: made by one thread, read by others. */
#ifndef APP_LISTENERS_PLAN_H
#define APP_LISTENERS_PLAN_H

#include "app/listeners.h"

struct listeners_planned {
    const struct conf_endpoint *endpoint; /* while it is prepared, no longer */
    char *text;
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
/* Open what is missing where so many workers, the first ones, listen already. */
err_t listeners_plan_open(struct listeners_planned *p, unsigned have, bool shared)
    __attribute__((warn_unused_result));

#endif
