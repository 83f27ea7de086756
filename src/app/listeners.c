/* SPDX-License-Identifier: MIT */
/* listeners.c - the set of endpoints that a server listens on. */
#include "app/listeners.h"

#include "base/log.h"
#include "base/must.h"
#include "co/co.h"
#include "co/net/io_tcp.h"

#include <stdlib.h>
#include <string.h>

enum { BACKLOG = 4096 }; /* a join storm waits here; the system's somaxconn may be less */

struct listener {
    struct listener *next;
    struct listeners *all;
    char *text;               /* the endpoint as written */
    int family;
    unsigned services, found; /* as wanted; and while that changes, what was found so far */
    struct io_listener *sock;
    struct co *co;            /* that accepts */
    bool proxied, wants_proxied; /* as it is in force, and as wanted */
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
    free(one->text);
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
            co_yield_if_due(); /* there may be a storm of them */
        } else if (!co_stop_asked()) {
            log_end(one->text, &err); /* the system's fault: it may pass */
            err = co_sleep(CO_SECONDS(1));
        }
        err_free(&err);
    } while (!co_stop_asked());
    log_trace("no longer listening on %s", one->text);
    listener_free(one);
    return NULL;
}

/* The first of the list from then on. */
static err_t open_one(struct listeners *l, const struct conf_endpoint *e, int family)
{
    struct listener *one = must(calloc(1, sizeof(*one)));
    err_t err;

    one->text = must_dup(e->text);
    one->all = l;
    one->family = family;
    err = io_listen(&one->sock, e->host, e->port, BACKLOG);
    if (!err)
        err = co_go(&l->group, "accept", accept_main, one);
    if (err) {
        listener_free(one);
        return err_wrap(err, "listen %s", e->text);
    }
    one->co = co_newest(&l->group);
    log_trace("listening on %s", one->text);
    one->next = l->list;
    l->list = one;
    return NULL;
}

static struct listener *find(struct listeners *l, int family, const char *text)
{
    struct listener *one = l->list;

    while (one && (one->family != family || strcmp(one->text, text) != 0))
        one = one->next;
    return one;
}

/* Out of the list; its coroutine closes and frees it. */
static void close_at(struct listener **at)
{
    struct listener *one = *at;

    *at = one->next;
    co_stop(one->co, NULL);
}

/* All endpoints of one service: those that are there are marked, the others are opened. */
static err_t open_wanted(struct listeners *l, const struct listeners_want *want)
{
    for (size_t i = 0; i < want->endpoints->n; i++) {
        const struct conf_endpoint *e = &want->endpoints->v[i];
        struct listener *one = find(l, want->family, e->text);

        if (!one) {
            err_t err = open_one(l, e, want->family);

            if (err)
                return err;
            one = l->list;
        }
        one->found |= want->services;
        one->wants_proxied = e->proxied;
    }
    return NULL;
}

err_t listeners_open(struct listeners *l, const struct listeners_want *wanted, size_t n)
{
    struct listener *old = l->list; /* new ones go in front of it */
    err_t err = NULL;

    for (struct listener *one = l->list; one; one = one->next)
        one->found = 0;
    for (size_t i = n; i-- > 0 && !err;) /* RTMP last: who finds it open finds all open */
        err = open_wanted(l, &wanted[i]);
    while (err && l->list != old)
        close_at(&l->list);
    if (err)
        return err;
    for (struct listener **at = &l->list; *at;) {
        (*at)->services = (*at)->found;
        (*at)->proxied = (*at)->wants_proxied;
        if ((*at)->services)
            at = &(*at)->next;
        else
            close_at(at);
    }
    return NULL;
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
