/* SPDX-License-Identifier: MIT */
/* listeners.c - the TCP endpoints that a worker listens on. */
#include "app/listeners.h"

#include "app/listeners_plan.h"
#include "app/services.h"
#include "base/log.h"
#include "base/must.h"
#include "co/co.h"
#include "co/net/io_tcp.h"

#include <stdlib.h>
#include <string.h>

struct listener {
    struct listener *next;
    struct listeners *all;
    struct conf_bind bind;    /* owns its host */
    int family;
    unsigned services;
    unsigned workers;         /* number of workers that listen there: workers 0 to n - 1 */
    bool proxied, wanted;     /* wanted: part of the plan that is being applied */
    bool told;                /* the log has mentioned it; only used by the first worker */
    struct io_listener *sock;
    struct co *co;            /* the coroutine that accepts */
};

struct listeners {
    listeners_accept *on_accept;
    void *arg;
    struct listener *list;
    struct co_group group;
};

struct listeners *listeners_new(listeners_accept *on_accept, void *arg)
{
    struct listeners *l = must(calloc(1, sizeof(*l)));

    *l = (struct listeners){ .on_accept = on_accept, .arg = arg };
    co_group_init(&l->group);
    return l;
}

static void listener_free(struct listener *one)
{
    io_listener_close(one->sock);
    free((char *)(uintptr_t)one->bind.host);
    free(one);
}

static void on_guest(struct listener *one, int fd, const uint8_t *peer)
{
    const struct listeners_guest guest = { one->services, one->proxied, fd, peer };

    one->all->on_accept(one->all->arg, &guest);
}

static err_t accept_main(void *arg)
{
    struct listener *one = arg;
    uint8_t peer[IO_ADDR_BYTES];
    err_t err;
    int fd;

    do {
        err = io_accept(one->sock, &fd, peer);
        if (!err) {
            on_guest(one, fd, peer);
            co_yield_if_due(); /* many connections may arrive at once */
        } else if (!co_stop_asked()) {
            log_end(one->bind.text, &err); /* an error of the system, may be temporary */
            err = co_sleep(CO_SECONDS(1));
        }
        err_free(&err);
    } while (!co_stop_asked());
    if (one->told)
        log_trace("no longer listening on %s", one->bind.text);
    listener_free(one);
    return NULL;
}

static struct listener *find(const struct listeners *l, const struct listeners_planned *p)
{
    struct listener *one = l->list;

    while (one && (one->family != p->family || !conf_bind_same(&one->bind, &p->bind)))
        one = one->next;
    return one;
}

/* Removes it from the list; its coroutine closes and frees it. */
static void close_at(struct listener **at)
{
    struct listener *one = *at;

    *at = one->next;
    co_stop(one->co, NULL);
}

/* Starts to accept on the new socket. The plan owns the socket until this succeeds. */
static err_t start(struct listener *one, int *fd)
{
    err_t err = io_listener_adopt(&one->sock, *fd);

    if (err)
        return err;
    *fd = -1;
    err = co_go(&one->all->group, "accept", accept_main, one);
    if (err)
        return err;
    one->co = co_newest(&one->all->group);
    return NULL;
}

/* Creates a listener at the head of the list from a planned socket. Returns NULL on failure. */
static struct listener *take(struct listeners *l, struct listeners_planned *p, unsigned worker)
{
    struct listener *one = must(calloc(1, sizeof(*one)));
    char text[SERVICES_TEXT];
    err_t err;

    one->bind = p->bind;
    one->bind.host = must_dup(p->bind.host);
    one->all = l;
    one->family = p->family;
    one->told = worker == 0;
    err = start(one, &p->fd[worker]);
    if (err) {
        log_end(one->bind.text, &err);
        listener_free(one);
        return NULL;
    }
    if (one->told)
        log_trace("listening on %s for %s", one->bind.text,
                  services_text(p->services, text, sizeof(text)));
    one->next = l->list;
    l->list = one;
    return one;
}

/* Returns true if the new socket replaces one that the plan closes, for example if [::] served both
 * families and now serves IPv6 only. Both are open for a moment, so that no plan fails half-way,
 * which requires the old socket to share its port. The sockets of several workers always share. */
static bool replaces(const struct listeners *l, const struct listeners_plan *plan,
                     const struct listeners_planned *p)
{
    bool any = false;

    for (struct listener *one = l->list; one; one = one->next) {
        if (one->bind.port == p->bind.port && !listeners_plan_find(plan, one->family, &one->bind)) {
            io_listener_share(one->sock);
            any = true;
        }
    }
    return any;
}

static err_t open_one(const struct listeners *l, const struct listeners_plan *plan,
                      struct listeners_planned *p, unsigned workers)
{
    const struct listener *one = find(l, p);
    enum io_listen_share first = workers > 1 ? IO_LISTEN_FIRST : IO_LISTEN_ONE;

    if (!one && replaces(l, plan, p))
        first = IO_LISTEN_MORE;
    return listeners_plan_open(p, one ? one->workers : 0, first);
}

err_t listeners_prepare(struct listeners_plan **out, const struct listeners *l,
                        const struct listeners_want *wanted, size_t n, unsigned workers)
{
    struct listeners_plan *plan = listeners_plan_new(wanted, n, workers);
    err_t err = NULL;

    for (size_t i = 0; i < plan->n && !err; i++)
        err = open_one(l, plan, &plan->v[i], workers);
    if (err) {
        listeners_plan_free(plan);
        plan = NULL;
    }
    *out = plan;
    return err;
}

static void apply_one(struct listeners *l, struct listeners_planned *p, unsigned worker)
{
    struct listener *one = find(l, p);

    if (worker >= p->workers)
        return;
    if (!one && p->fd[worker] >= 0)
        one = take(l, p, worker);
    if (!one)
        return;
    one->services = p->services;
    one->proxied = p->proxied;
    one->workers = p->workers;
    one->wanted = true;
}

void listeners_apply(struct listeners *l, struct listeners_plan *plan, unsigned worker)
{
    for (struct listener *one = l->list; one; one = one->next)
        one->wanted = false;
    for (size_t i = 0; i < plan->n; i++)
        apply_one(l, &plan->v[i], worker);
    for (struct listener **at = &l->list; *at;) {
        if ((*at)->wanted)
            at = &(*at)->next;
        else
            close_at(at);
    }
}

void listeners_close(struct listeners *l)
{
    while (l->list)
        close_at(&l->list);
}

void listeners_free(struct listeners *l)
{
    err_t err;

    listeners_close(l);
    err = co_group_wait(&l->group);
    err_free(&err);
    free(l);
}
