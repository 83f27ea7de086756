/* SPDX-License-Identifier: MIT */
/* client.c - the state, timer, periodic check and end of a datagram client. */
#include "serve/datagram/client.h"

#include "base/container_of.h"
#include "base/list.h"
#include "session/address_slot.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define GRID CO_MS(10)

/* ---- log lines */

/* Lets a coroutine that serves many clients log as this one. */
static void log_as(const struct datagram_client *c)
{
    co_set_cid(c->cid);
    session_log_as_client(c->session.env, c->session.names.ip);
}

/* ---- start and end */

static void on_kick(struct session *s)
{
    datagram_client_close(container_of(s, struct datagram_client, session),
                          err_new(ERR_KICKED, "%s", s->names.ip));
}

void datagram_client_init(struct datagram_client *c, struct session_env *env)
{
    session_init(&c->session, env, NULL);
    c->session.on_kick = on_kick;
    c->session.id = c->cid;
    c->session.names = (struct session_stream){ .vhost = "", .app = "", .name = "", .param = "",
                                                .tc_url = "", .page_url = "", .swf_url = "",
                                                .ip = c->ip };
}

void datagram_client_fini(struct datagram_client *c)
{
    co_timer_cancel(&c->timer);
    address_limits_leave(&c->place, co_now());
    session_fini(&c->session);
    err_free(&c->why);
    free(c->names);
}

/* Keeps counters, so that reading them once a second needs no walk over all clients. */
static void count(const struct datagram_client *c, unsigned by)
{
    struct datagram_service *s = c->service;

    s->waiting += c->state < DATAGRAM_ACTIVE ? by : 0;
    s->publishers += c->state == DATAGRAM_ACTIVE && c->publishes ? by : 0;
    s->players += c->state == DATAGRAM_ACTIVE && !c->publishes ? by : 0;
}

void datagram_client_state(struct datagram_client *c, enum datagram_state state)
{
    count(c, UINT_MAX); /* subtracts one */
    c->state = state;
    count(c, 1);
}

void datagram_client_enter(struct datagram_client *c, struct datagram_service *s)
{
    c->service = s;
    LIST_PUT(&s->clients, c);
    count(c, 1);
}

void datagram_client_part(struct datagram_client *c)
{
    LIST_TAKE(c);
    count(c, UINT_MAX);
}

static void close_in_turn(struct datagram_close_item *l)
{
    struct datagram_client *c = container_of(l, struct datagram_client, leaver);
    err_t why = c->why;

    c->why = NULL;
    log_as(c);
    c->ops->close(c, why);
}

void datagram_client_close(struct datagram_client *c, err_t why)
{
    if (c->state == DATAGRAM_ENDING) {
        err_free(&why);
        return;
    }
    if (c->session.co) {
        co_stop(c->session.co, why);
        return;
    }
    if (c->state == DATAGRAM_ADMITTING) { /* its coroutine is about to start */
        err_free(&c->why);
        c->why = why;
        return;
    }
    datagram_client_state(c, DATAGRAM_ENDING);
    c->why = why;
    co_timer_cancel(&c->timer);
    datagram_close(c->service, &c->leaver, close_in_turn);
}

void datagram_clients_close(struct datagram_service *s, const char *why)
{
    for (struct datagram_client *c = s->clients, *next; c; c = next) {
        next = c->next;
        datagram_client_close(c, err_new(ERR_STOPPED, "%s", why));
    }
}

/* ---- the coroutine that closes clients */

void datagram_close(struct datagram_service *s, struct datagram_close_item *l,
                    void (*fn)(struct datagram_close_item *l))
{
    l->next = NULL;
    l->fn = fn;
    *s->leaving_end = l;
    s->leaving_end = &l->next;
    co_unpark(s->ender);
}

err_t datagram_close_main(void *service)
{
    struct datagram_service *s = service;
    err_t err = NULL;

    while (!err) {
        struct datagram_close_item *l = s->leaving;

        if (l) {
            s->leaving = l->next;
            if (!s->leaving)
                s->leaving_end = &s->leaving;
            l->fn(l);
            co_yield_if_due();
            continue;
        }
        (void)!co_park(CO_FOREVER);
        err = co_check();
    }
    err_free(&err);
    return NULL;
}

/* ---- turns */

void datagram_timer_set(struct co_timer *t, co_usec due, co_usec now,
                        void (*fn)(struct co_timer *t))
{
    if (due == CO_FOREVER) {
        co_timer_cancel(t);
        return;
    }
    if (due < now)
        due = now;
    due = (due + GRID - 1) / GRID * GRID;
    if (!t->prev || t->due != due)
        co_timer_set(t, due, fn);
}

void datagram_client_turn(struct datagram_client *c, co_usec now)
{
    struct co_cid own;

    own = co_swap_cid(c->cid);
    c->ops->turn(c, now);
    co_set_cid(own.text);
}

static void on_timer(struct co_timer *t)
{
    datagram_client_turn(container_of(t, struct datagram_client, timer), co_now());
}

void datagram_client_timer(struct datagram_client *c, co_usec due, co_usec now)
{
    datagram_timer_set(&c->timer, due, now, on_timer);
}

void datagram_client_check(struct datagram_client *c, co_usec now)
{
    bool changed;
    err_t err;

    if (c->state != DATAGRAM_ACTIVE)
        return;
    err = session_play_check(&c->session, &changed);
    if (!err && changed)
        err = c->ops->changed(c);
    if (err) {
        datagram_client_close(c, err);
        return;
    }
    log_as(c);
    c->ops->check(c, now);
    if (session_sample(&c->session, c->ops->sampled, now))
        c->ops->log_sample(c, now);
}
