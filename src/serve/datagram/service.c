/* SPDX-License-Identifier: MIT */
/* service.c - the service of one worker: start, reload, shutdown, counters. */
#include "base/counters.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/datagram/client.h"

#include <stdlib.h>

/* Interval of checks whether all clients have ended. */
#define POLL CO_MS(100)

/* ---- start */

static err_t begin_service(struct session_env *env, const struct datagram_sockets *sockets)
{
    const struct datagram_protocol *p = sockets->protocol;
    struct datagram_service *s = p->make(env, sockets->shared);
    err_t err;

    s->protocol = p;
    s->env = env;
    s->shared = datagram_shared_ref(sockets->shared);
    s->leaving_end = &s->leaving;
    co_group_init(&s->group);
    err = co_go(&s->group, p->ender, datagram_close_main, s);
    if (err) {
        datagram_service_free(s);
        return err;
    }
    s->ender = co_newest(&s->group);
    env->service[p->id] = s;
    return NULL;
}

static err_t take_all(struct datagram_service *s, struct datagram_sockets *sockets)
{
    err_t err = NULL;

    for (size_t i = 0; i < sockets->n && !err; i++)
        err = datagram_endpoint_take(s, &sockets->v[i]);
    return err;
}

err_t datagram_service_new(struct session_env *env, struct datagram_sockets *sockets)
{
    const struct datagram_protocol *p = sockets->protocol;
    err_t err = begin_service(env, sockets);

    if (!err)
        err = take_all(env->service[p->id], sockets);
    if (err) {
        datagram_service_free(env->service[p->id]);
        return err_wrap(err, "%s", p->name);
    }
    if (p->begun)
        p->begun(env->service[p->id]);
    return NULL;
}

static void end_all(struct datagram_service *s, const char *why)
{
    if (s->protocol->end_all)
        s->protocol->end_all(s, why);
    else
        datagram_clients_close(s, why);
}

err_t datagram_service_apply(struct session_env *env, struct datagram_sockets *sockets)
{
    const struct datagram_protocol *p = sockets->protocol;
    struct datagram_service *s = env->service[p->id];
    err_t err;

    sockets->applied = true;
    if (!s)
        return sockets->on ? datagram_service_new(env, sockets) : NULL;
    err = take_all(s, sockets);
    datagram_endpoint_close_others(s, sockets);
    if (!sockets->on)
        end_all(s, "disabled by the configuration");
    return err;
}

/* ---- shutdown */

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

        end_all(s, "the server quits"); /* clients keep the reason of the first call */
        (void)!co_park(POLL);
        co_stop_resume(held);
    }
    err = co_group_stop(&s->group);
    err_free(&err);
    if (s->env->service[p->id] == s)
        s->env->service[p->id] = NULL;
    for (unsigned i = 0; i < s->n_endpoints; i++) {
        if (p->closing)
            p->closing(s->endpoints[i]);
        datagram_endpoint_free(s->endpoints[i]);
    }
    free(s->endpoints);
    p->free(s);
    datagram_shared_unref(shared);
}

/* ---- counters */

void datagram_service_count(const struct datagram_service *s, struct udp_stat *sum)
{
    for (unsigned i = 0; i < s->n_endpoints; i++) {
        for (const struct datagram_reader *r = s->endpoints[i]->readers; r; r = r->next)
            counters_add(sum, &r->socket->stat, sizeof(*sum));
    }
}
