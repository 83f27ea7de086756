/* SPDX-License-Identifier: MIT */
/* listeners_plan.c - which endpoints are to be listened on, and the sockets that are new. */
#include "app/listeners_plan.h"

#include "base/must.h"
#include "co/net/io_tcp.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BACKLOG = 4096 }; /* a join storm waits here; the system's somaxconn may be less */

static struct listeners_planned *find(struct listeners_plan *plan, int family, const char *text)
{
    for (size_t i = 0; i < plan->n; i++) {
        if (plan->v[i].family == family && strcmp(plan->v[i].text, text) == 0)
            return &plan->v[i];
    }
    return NULL;
}

static struct listeners_planned *add(struct listeners_plan *plan, int family,
                                     const struct conf_endpoint *e, unsigned workers)
{
    struct listeners_planned *p = &plan->v[plan->n++];

    *p = (struct listeners_planned){ .endpoint = e, .text = must_dup(e->text), .family = family,
                                     .workers = 1 };
    p->fd = must(calloc(workers, sizeof(*p->fd)));
    for (unsigned i = 0; i < workers; i++)
        p->fd[i] = -1;
    return p;
}

static void add_wanted(struct listeners_plan *plan, const struct listeners_want *want,
                       unsigned workers)
{
    for (size_t i = 0; i < want->endpoints->n; i++) {
        const struct conf_endpoint *e = &want->endpoints->v[i];
        struct listeners_planned *p = find(plan, want->family, e->text);

        if (!p)
            p = add(plan, want->family, e, workers);
        p->services |= want->services;
        p->proxied = e->proxied;
        if (!want->alone)
            p->workers = workers;
    }
}

struct listeners_plan *listeners_plan_new(const struct listeners_want *wanted, size_t n,
                                          unsigned workers)
{
    struct listeners_plan *plan;
    size_t most = 0;

    for (size_t i = 0; i < n; i++)
        most += wanted[i].endpoints->n;
    plan = must(calloc(1, sizeof(*plan) + most * sizeof(plan->v[0])));
    for (size_t i = n; i-- > 0;) /* RTMP last: who finds it open finds all open */
        add_wanted(plan, &wanted[i], workers);
    return plan;
}

err_t listeners_plan_open(struct listeners_planned *p, unsigned have, bool shared)
{
    const struct conf_endpoint *e = p->endpoint;
    err_t err = NULL;

    for (unsigned i = have; i < p->workers && !err; i++)
        err = io_listen_open(&p->fd[i], e->host, e->port, BACKLOG,
                             i > 0 ? IO_LISTEN_MORE : shared ? IO_LISTEN_FIRST : IO_LISTEN_ONE);
    p->endpoint = NULL;
    return err ? err_wrap(err, "listen %s", p->text) : NULL;
}

static void planned_end(struct listeners_planned *p)
{
    for (unsigned i = 0; i < p->workers; i++) {
        if (p->fd[i] >= 0)
            (void)close(p->fd[i]);
    }
    free(p->fd);
    free(p->text);
}

void listeners_plan_free(struct listeners_plan *plan)
{
    for (size_t i = 0; plan && i < plan->n; i++)
        planned_end(&plan->v[i]);
    free(plan);
}
