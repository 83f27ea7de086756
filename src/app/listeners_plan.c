/* SPDX-License-Identifier: MIT */
/* listeners_plan.c - the endpoints of a new configuration, with the sockets that it adds. */
#include "app/listeners_plan.h"

#include "base/must.h"
#include "co/net/io_tcp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 4096 }; /* holds a burst of connections; the system's somaxconn may be less */

struct listeners_planned *listeners_plan_find(const struct listeners_plan *plan, int family,
                                              const struct conf_bind *bind)
{
    for (size_t i = 0; i < plan->n; i++) {
        if (plan->v[i].family == family && conf_bind_same(&plan->v[i].bind, bind))
            return (struct listeners_planned *)(uintptr_t)&plan->v[i];
    }
    return NULL;
}

static struct listeners_planned *add(struct listeners_plan *plan, int family,
                                     const struct conf_bind *bind, unsigned workers)
{
    struct listeners_planned *p = &plan->v[plan->n++];

    *p = (struct listeners_planned){ .bind = *bind, .family = family, .workers = 1 };
    p->bind.host = must_dup(bind->host);
    p->fd = must(calloc(workers, sizeof(*p->fd)));
    for (unsigned i = 0; i < workers; i++)
        p->fd[i] = -1;
    return p;
}

static void add_bind(struct listeners_plan *plan, const struct listeners_want *want,
                     const struct conf_bind *bind, bool proxied, unsigned workers)
{
    struct listeners_planned *p = listeners_plan_find(plan, want->family, bind);

    if (!p)
        p = add(plan, want->family, bind, workers);
    p->services |= want->services;
    p->proxied = proxied;
    if (!want->alone)
        p->workers = workers;
}

/* Returns the address families used at that port by all services. */
static unsigned kinds_at(const struct listeners_want *wanted, size_t n, int port)
{
    unsigned kinds = 0;

    for (size_t i = 0; i < n; i++)
        kinds |= conf_binds_at(wanted[i].endpoints, port);
    return kinds;
}

static void add_endpoint(struct listeners_plan *plan, const struct listeners_want *want,
                         const struct conf_endpoint *e, unsigned kinds, unsigned workers)
{
    struct conf_bind binds[CONF_BINDS_EACH];
    size_t n = conf_binds(e, kinds, binds);

    for (size_t i = 0; i < n; i++)
        add_bind(plan, want, &binds[i], e->proxied, workers);
}

struct listeners_plan *listeners_plan_new(const struct listeners_want *wanted, size_t n,
                                          unsigned workers)
{
    struct listeners_plan *plan;
    size_t most = 0;

    for (size_t i = 0; i < n; i++)
        most += wanted[i].endpoints->n * CONF_BINDS_EACH;
    plan = must(calloc(1, sizeof(*plan) + most * sizeof(plan->v[0])));
    for (size_t i = n; i-- > 0;) { /* RTMP is last: once it accepts, all others do */
        const struct conf_endpoints *list = wanted[i].endpoints;

        for (size_t k = 0; k < list->n; k++)
            add_endpoint(plan, &wanted[i], &list->v[k], kinds_at(wanted, n, list->v[k].port),
                         workers);
    }
    return plan;
}

err_t listeners_plan_open(struct listeners_planned *p, unsigned have, enum io_listen_share first)
{
    err_t err = NULL;

    for (unsigned i = have; i < p->workers && !err; i++)
        err = io_listen_open(&p->fd[i], p->bind.host, p->bind.port, BACKLOG,
                             i > 0 ? IO_LISTEN_MORE : first);
    return err ? err_wrap(err, "listen %s", p->bind.text) : NULL;
}

static void planned_end(struct listeners_planned *p)
{
    for (unsigned i = 0; i < p->workers; i++) {
        if (p->fd[i] >= 0)
            (void)close(p->fd[i]);
    }
    free(p->fd);
    free((char *)(uintptr_t)p->bind.host);
}

void listeners_plan_free(struct listeners_plan *plan)
{
    for (size_t i = 0; plan && i < plan->n; i++)
        planned_end(&plan->v[i]);
    free(plan);
}
