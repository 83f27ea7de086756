/* SPDX-License-Identifier: MIT */
/* endpoint.c - the endpoints of a service on one worker: reading, adding sockets, and closing when
 * no client uses them any more. */
#include "base/log.h"
#include "base/must.h"
#include "serve/datagram/datagram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL CO_SECONDS(1) /* interval of checks of closing endpoints */

enum { TIME_EVERY = 8 }; /* datagrams between two checks of the time */

/* ---- finding */

struct datagram_endpoint *datagram_endpoint_find(const struct datagram_service *s,
                                                 unsigned number)
{
    for (unsigned i = 0; i < s->n_endpoints; i++) {
        if (s->endpoints[i]->number == number)
            return s->endpoints[i];
    }
    return NULL;
}

struct datagram_endpoint *datagram_endpoint_at(const struct datagram_service *s, const char *host,
                                               int port)
{
    for (unsigned i = 0; i < s->n_endpoints; i++) {
        if (s->endpoints[i]->port == port && strcmp(s->endpoints[i]->host, host) == 0)
            return s->endpoints[i];
    }
    return NULL;
}

bool datagram_endpoint_refuses(const struct datagram_endpoint *e, const struct udp_path *path)
{
    unsigned family = udp_addr_is_v4(&path->peer) ? DATAGRAM_V4 : DATAGRAM_V6;

    return e->closing || !(e->families & family);
}

/* ---- reading */

static void end_batch(struct datagram_endpoint *e)
{
    if (e->service->protocol->end_batch)
        e->service->protocol->end_batch(e);
}

/* Yields after a time slice, because some datagrams are costly. The rest of the batch stays in
 * place meanwhile. */
static err_t give_way(struct datagram_endpoint *e)
{
    if (!co_slice_over())
        return NULL;
    end_batch(e);
    co_yield();
    return co_check();
}

static err_t read_some(struct datagram_reader *r)
{
    struct datagram_endpoint *e = r->endpoint;
    const struct datagram_protocol *p = e->service->protocol;
    unsigned worker = e->service->env->worker;
    const struct udp_in *v = NULL;
    size_t n = 0;
    err_t err = udp_recv_now(r->socket, &v, &n);

    for (size_t i = 0; !err && i < n; i++) {
        p->input(e, &v[i], worker, v[i].at);
        if (i % TIME_EVERY == TIME_EVERY - 1)
            err = give_way(e);
    }
    if (!err && n > 0)
        end_batch(e);
    if (!err && n == 0)
        (void)udp_wait(r->socket, CO_FOREVER); /* the result is checked below */
    co_yield_if_due();
    return err ? err : co_check();
}

static void end_reader(struct datagram_reader *r)
{
    struct datagram_endpoint *e = r->endpoint;

    r->co = NULL;
    if (--e->n_readers == 0 && e->gone)
        datagram_endpoint_free(e);
}

static err_t reader_main(void *reader)
{
    struct datagram_reader *r = reader;
    char what[64];
    err_t err = NULL;

    co_log_as(LOG_UNTRUSTED_ALL);
    co_urgent(true);
    while (!err)
        err = read_some(r);
    if (err_class(err) == ERR_CLASS_STOP) {
        err_free(&err);
    } else {
        (void)snprintf(what, sizeof(what), "cannot read datagrams of %s",
                       r->endpoint->service->protocol->name);
        log_end(what, &err);
    }
    end_reader(r);
    return NULL;
}

/* Takes over the descriptor. */
static err_t add_reader(struct datagram_endpoint *e, int *fd)
{
    const struct datagram_protocol *p = e->service->protocol;
    const struct udp_opts opts = p->opts(e->service->env->conf);
    struct datagram_reader *r = must(calloc(1, sizeof(*r))), **at = &e->readers;
    err_t err = udp_adopt(&r->socket, *fd, &opts);

    if (err) {
        free(r);
        return err;
    }
    while (*at)
        at = &(*at)->next;
    *at = r;
    r->endpoint = e;
    if (!e->socket) {
        e->socket = r->socket;
        if (p->opened)
            p->opened(e, *fd);
    }
    *fd = -1;
    err = co_go(&e->service->group, p->reader, reader_main, r);
    if (err)
        return err;
    r->co = co_newest(&e->service->group);
    e->n_readers++;
    return NULL;
}

/* ---- adding */

static struct datagram_endpoint *add(struct datagram_service *s, const struct datagram_planned *v)
{
    struct datagram_endpoint *e = s->protocol->endpoint(s);

    e->service = s;
    e->number = v->number;
    e->text = must_dup(v->text);
    e->host = must_dup(v->host);
    e->port = v->port;
    e->place = v->place;
    atomic_fetch_add(&e->place->refs, 1);
    s->endpoints = must(realloc(s->endpoints, (s->n_endpoints + 1) * sizeof(e)));
    s->endpoints[s->n_endpoints++] = e;
    if (s->env->worker == 0)
        log_trace("listening on %s for %s (UDP)", e->text, s->protocol->name);
    return e;
}

static void set_idle(struct datagram_endpoint *e, bool idle)
{
    if (e->idle == idle)
        return;
    e->idle = idle;
    if (idle)
        atomic_fetch_add(&e->place->idle, 1);
    else
        atomic_fetch_sub(&e->place->idle, 1);
}

err_t datagram_endpoint_take(struct datagram_service *s, struct datagram_planned *v)
{
    struct datagram_endpoint *e = datagram_endpoint_find(s, v->number);
    unsigned workers = s->shared->workers;
    err_t err = NULL;

    if (!e)
        e = add(s, v);
    e->closing = false;
    e->families = v->families;
    set_idle(e, false);
    for (unsigned i = 0; i < v->rounds && !err; i++)
        err = add_reader(e, &v->fds[i * workers + s->env->worker]);
    return err;
}

/* ---- closing */

void datagram_endpoint_free(struct datagram_endpoint *e)
{
    while (e->readers) {
        struct datagram_reader *r = e->readers;

        e->readers = r->next;
        udp_close(r->socket);
        free(r);
    }
    datagram_place_unref(e->place);
    free(e->text);
    free(e->host);
    free(e);
}

/* Removes it from the list. */
static void remove_at(struct datagram_service *s, unsigned at)
{
    struct datagram_endpoint *e = s->endpoints[at];
    struct datagram_reader *r = e->readers, *next;

    if (s->env->worker == 0)
        log_trace("no longer listening on %s for %s (UDP)", e->text, s->protocol->name);
    s->n_endpoints--;
    memmove(&s->endpoints[at], &s->endpoints[at + 1], (s->n_endpoints - at) * sizeof(e));
    if (s->protocol->closing)
        s->protocol->closing(e);
    e->gone = true;
    if (e->n_readers == 0) {
        datagram_endpoint_free(e);
        return;
    }
    for (; r; r = next) {
        next = r->next;
        if (r->co)
            co_stop(r->co, err_new(ERR_STOPPED, "its endpoint was closed"));
    }
}

/* Returns true if no worker has clients there: all workers close it. */
static bool is_over(const struct datagram_endpoint *e)
{
    int closing = DATAGRAM_CLOSING;

    if (e->idle && atomic_load(&e->place->idle) >= e->place->workers)
        (void)atomic_compare_exchange_strong(&e->place->life, &closing, DATAGRAM_CLOSED);
    return atomic_load(&e->place->life) == DATAGRAM_CLOSED;
}

/* Returns true if there are more closing endpoints. */
static bool check_closing(struct datagram_service *s)
{
    bool more = false;

    for (unsigned i = s->n_endpoints; i-- > 0;) {
        struct datagram_endpoint *e = s->endpoints[i];

        if (!e->closing)
            continue;
        set_idle(e, !s->protocol->in_use(e));
        if (is_over(e))
            remove_at(s, i);
        else
            more = true;
    }
    return more;
}

static err_t closing_main(void *service)
{
    struct datagram_service *s = service;
    err_t err = NULL;

    while (!err && check_closing(s))
        err = co_sleep(POLL);
    s->closes = false;
    err_free(&err);
    return NULL;
}

static bool is_planned(const struct datagram_sockets *v, const struct datagram_endpoint *e)
{
    for (size_t i = 0; i < v->n; i++) {
        if (v->v[i].number == e->number)
            return true;
    }
    return false;
}

void datagram_endpoint_close_others(struct datagram_service *s, const struct datagram_sockets *v)
{
    bool any = false;
    err_t err;

    for (unsigned i = 0; i < s->n_endpoints; i++) {
        struct datagram_endpoint *e = s->endpoints[i];

        if (!e->closing && !is_planned(v, e)) {
            e->closing = true;
            atomic_store(&e->place->life, DATAGRAM_CLOSING);
        }
        any |= e->closing;
    }
    if (!any || s->closes)
        return;
    err = co_go(&s->group, "closing", closing_main, s);
    s->closes = err == NULL;
    if (err)
        log_end("removed endpoints stay open", &err);
}
