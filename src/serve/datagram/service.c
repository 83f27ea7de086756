/* SPDX-License-Identifier: MIT */
/* service.c - the service of one worker: its endpoints and their readers, begun, ended, counted. */
#include "base/log.h"
#include "base/must.h"
#include "serve/datagram/datagram.h"

#include <stdio.h>
#include <stdlib.h>

/* How long to wait for clients to go, before whoever did not is looked at again. */
#define LOOK CO_MS(100)

/* ---- endpoints */

static err_t read_some(struct datagram_endpoint *e)
{
    const struct datagram_protocol *p = e->service->protocol;
    unsigned worker = e->service->env->worker;
    const struct udp_in *v = NULL;
    size_t n = 0;
    err_t err = udp_recv_now(e->socket, &v, &n);

    for (size_t i = 0; !err && i < n; i++)
        p->input(e, &v[i], worker, v[i].at);
    if (!err && n > 0 && p->end_batch)
        p->end_batch(e);
    if (!err && n == 0)
        (void)udp_wait(e->socket, CO_FOREVER); /* why it ended is asked below */
    co_yield_if_due();
    return err ? err : co_check();
}

static err_t reader_main(void *endpoint)
{
    struct datagram_endpoint *e = endpoint;
    char what[64];
    err_t err = NULL;

    co_log_as(LOG_STRANGERS);
    while (!err)
        err = read_some(e);
    if (err_class(err) == ERR_CLASS_STOP) {
        err_free(&err);
        return NULL;
    }
    (void)snprintf(what, sizeof(what), "no more datagrams of %s", e->service->protocol->name);
    log_end(what, &err);
    return NULL;
}

static void close_endpoint(struct datagram_endpoint *e)
{
    if (e->socket && e->service->protocol->closing)
        e->service->protocol->closing(e);
    udp_close(e->socket);
    free(e);
}

/* Takes the descriptor. */
static err_t open_endpoint(struct datagram_service *s, unsigned number, int *fd)
{
    const struct datagram_protocol *p = s->protocol;
    const struct udp_opts opts = p->opts(s->env->conf);
    struct datagram_endpoint *e = p->endpoint(s);
    err_t err;

    e->service = s;
    e->number = number;
    err = udp_adopt(&e->socket, *fd, &opts);
    if (err) {
        free(e);
        return err;
    }
    if (p->opened)
        p->opened(e, *fd);
    *fd = -1;
    s->endpoints[s->n_endpoints++] = e;
    return co_go(&s->group, p->reader, reader_main, e);
}

struct datagram_endpoint *datagram_endpoint_find(const struct datagram_service *s,
                                                 unsigned number)
{
    for (unsigned i = 0; i < s->n_endpoints; i++) {
        if (s->endpoints[i]->number == number)
            return s->endpoints[i];
    }
    return NULL;
}

/* ---- begun */

static err_t start(struct datagram_service *s, struct datagram_sockets *sockets)
{
    err_t err = co_go(&s->group, s->protocol->ender, datagram_leave_main, s);

    s->ender = err ? NULL : co_newest(&s->group);
    for (size_t i = 0; i < sockets->n && !err; i++)
        err = open_endpoint(s, (unsigned)i, &sockets->fds[i * sockets->workers + s->env->worker]);
    return err;
}

static void tell(const struct datagram_service *s)
{
    const struct conf_endpoints *listen = s->protocol->listen(s->env->conf);

    if (s->env->worker > 0)
        return;
    for (size_t i = 0; i < s->n_endpoints; i++)
        log_trace("listening on %s of %s (UDP)", listen->v[i].text, s->protocol->name);
}

err_t datagram_service_new(struct session_env *env, struct datagram_sockets *sockets)
{
    const struct datagram_protocol *p = sockets->protocol;
    struct datagram_service *s = p->make(env, sockets->shared);
    err_t err;

    s->protocol = p;
    s->env = env;
    s->shared = datagram_shared_ref(sockets->shared);
    s->leaving_end = &s->leaving;
    co_group_init(&s->group);
    s->endpoints = must(calloc(sockets->n + 1, sizeof(struct datagram_endpoint *)));
    err = start(s, sockets);
    if (err) {
        datagram_service_free(s);
        return err_wrap(err, "%s", p->name);
    }
    p->put(env, s);
    if (p->begun)
        p->begun(s);
    tell(s);
    return NULL;
}

/* ---- ended */

void datagram_service_refuse(struct datagram_service *s)
{
    if (s)
        s->refuses = true;
}

void datagram_service_enter(struct datagram_service *s)
{
    s->n_peers++;
}

static void wake_waiter(struct datagram_service *s)
{
    if (s->waiter && s->n_peers + s->holds == 0)
        co_unpark(s->waiter);
}

void datagram_service_part(struct datagram_service *s)
{
    s->n_peers--;
    wake_waiter(s);
}

void datagram_service_hold(struct datagram_service *s)
{
    s->holds++;
}

void datagram_service_release(struct datagram_service *s)
{
    s->holds--;
    wake_waiter(s);
}

void datagram_service_free(struct datagram_service *s)
{
    const struct datagram_protocol *p;
    struct datagram_shared *shared;
    err_t err;

    if (!s)
        return;
    p = s->protocol;
    shared = s->shared;
    s->refuses = true;
    s->waiter = co_self();
    while (s->n_peers + s->holds > 0) {
        bool held = co_stop_hold();

        p->end_all(s); /* who is asked again has its reason already */
        (void)!co_park(LOOK);
        co_stop_resume(held);
    }
    err = co_group_stop(&s->group);
    err_free(&err);
    if (p->of(s->env) == s)
        p->put(s->env, NULL);
    for (unsigned i = 0; i < s->n_endpoints; i++)
        close_endpoint(s->endpoints[i]);
    free(s->endpoints);
    p->free(s);
    datagram_shared_unref(shared, p);
}

/* ---- counted */

void datagram_service_count(const struct datagram_service *s, struct udp_stat *sum)
{
    for (unsigned i = 0; i < s->n_endpoints; i++) {
        const struct udp_stat *u = &s->endpoints[i]->socket->stat;

        sum->in += u->in;
        sum->in_calls += u->in_calls;
        sum->out += u->out;
        sum->out_calls += u->out_calls;
        sum->overflow += u->overflow;
        sum->drops += u->drops;
    }
}
