/* SPDX-License-Identifier: MIT */
/* service.c - SRT of one worker: begun, reloaded, ended, counted. */
#include "base/log.h"
#include "base/must.h"
#include "serve/srt/impl.h"

#include <stdlib.h>

/* How long to wait for clients to go, before whoever did not is looked at again. */
#define LOOK CO_MS(100)

static err_t start(struct srt_service *s, struct srt_sockets *sockets)
{
    unsigned worker = s->env->worker;
    err_t err = co_go(&s->group, "srt-end", srt_leave_main, s);

    s->ender = err ? NULL : co_newest(&s->group);
    for (size_t i = 0; i < sockets->n && !err; i++) {
        int *fd = &sockets->fds[i * sockets->workers + worker];
        struct srt_endpoint *e = &s->endpoints[i];

        e->service = s;
        e->number = (unsigned)i;
        err = srt_endpoint_open(e, *fd);
        if (err)
            return err;
        *fd = -1;
        s->n_endpoints++;
        err = co_go(&s->group, "srt", srt_endpoint_main, e);
    }
    return err;
}

static void tell(const struct srt_service *s)
{
    const struct conf_srt_server *conf = &s->env->conf->srt_server;

    if (s->env->worker != 0)
        return;
    for (size_t i = 0; i < s->n_endpoints; i++)
        log_trace("listening on %s of SRT (UDP)", conf->listen.v[i].text);
}

err_t srt_service_new(struct srt_service **out, struct session_env *env,
                      struct srt_sockets *sockets)
{
    struct srt_service *s = must(calloc(1, sizeof(*s)));
    err_t err;

    s->env = env;
    s->shared = sockets->shared;
    atomic_fetch_add(&s->shared->refs, 1);
    s->leaving_end = &s->leaving;
    srt_slots_init(&s->slots, env->worker, sockets->workers);
    srt_callers_init(&s->callers);
    co_group_init(&s->group);
    s->endpoints = must(calloc(sockets->n + 1, sizeof(*s->endpoints)));
    err = start(s, sockets);
    if (err) {
        srt_service_free(s);
        return err_wrap(err, "SRT");
    }
    env->srt = s;
    tell(s);
    *out = s;
    return NULL;
}

void srt_service_refuse(struct srt_service *s)
{
    if (s)
        s->refuses = true;
}

static void end_peers(struct srt_service *s)
{
    struct srt_peer *p;
    uint32_t at = 0;

    while ((p = srt_slots_next(&s->slots, &at))) /* who is asked again has its reason already */
        srt_peer_leave(p, err_new(ERR_STOPPED, "the server quits"));
}

void srt_service_free(struct srt_service *s)
{
    err_t err;

    if (!s)
        return;
    s->refuses = s->ending = true;
    s->waiter = co_self();
    while (s->peers > 0) {
        bool held = co_stop_hold();

        end_peers(s);
        (void)!co_park(LOOK);
        co_stop_resume(held);
    }
    err = co_group_stop(&s->group);
    err_free(&err);
    for (unsigned i = 0; i < s->n_endpoints; i++)
        srt_endpoint_close(&s->endpoints[i]);
    if (s->env->srt == s)
        s->env->srt = NULL;
    srt_slots_fini(&s->slots);
    srt_callers_fini(&s->callers);
    srt_shared_unref(s->shared);
    free(s->endpoints);
    free(s);
}

void srt_service_reload(struct srt_service *s)
{
    (void)s; /* everything is looked up where it counts */
}

void srt_service_stat(const struct srt_service *s, struct srt_service_stat *out)
{
    const struct srt_peer *p;
    uint32_t at = 0;

    *out = s->stat;
    out->connections = s->peers;
    while ((p = srt_slots_next(&s->slots, &at))) {
        out->publishers += p->state == SRT_PUBLISHES;
        out->players += p->state == SRT_PLAYS;
        out->waiting += p->state == SRT_GREETED;
        srt_peer_sum(p, out);
    }
    for (unsigned i = 0; i < s->n_endpoints; i++) {
        const struct udp_stat *u = &s->endpoints[i].socket->stat;

        out->in += u->in;
        out->in_calls += u->in_calls;
        out->out += u->out;
        out->out_calls += u->out_calls;
        out->overflow += u->overflow;
    }
}
