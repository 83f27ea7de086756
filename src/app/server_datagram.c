/* SPDX-License-Identifier: MIT */
/* server_datagram.c - services over datagrams, of all workers: a row each. */
#include "app/server_parts.h"

#include "serve/datagram/datagram.h"
#include "serve/rtc/rtc.h"
#include "serve/srt/srt.h"

static const struct datagram_protocol *const protocols[] = { &srt_protocol, &rtc_protocol };

enum { PROTOCOLS = sizeof(protocols) / sizeof(protocols[0]) };

struct listening {
    struct datagram_sockets *sockets;
    err_t errs[WORKERS_MAX];
};

static void take_sockets(struct session_env *env, void *listening)
{
    struct listening *l = listening;

    l->errs[env->worker] = datagram_service_new(env, l->sockets);
}

/* The sockets of all workers are opened here, each worker reads its own. */
static err_t listen_one(struct server *s, const struct datagram_protocol *p)
{
    struct listening l = { .errs = { NULL } };
    err_t err;

    if (!p->listen(s->env.conf))
        return NULL;
    err = datagram_sockets_open(&l.sockets, p, s->env.conf, workers_count(&s->env));
    if (err)
        return err;
    workers_each(&s->env, take_sockets, &l);
    datagram_sockets_close(l.sockets);
    return server_first_error(l.errs);
}

err_t server_datagram_listen(struct server *s)
{
    err_t err = NULL;

    for (int i = 0; i < PROTOCOLS && !err; i++)
        err = listen_one(s, protocols[i]);
    return err;
}

void server_datagram_refuse(const struct session_env *env)
{
    for (int i = 0; i < PROTOCOLS; i++)
        datagram_service_refuse(protocols[i]->of(env));
}

void server_datagram_reload(const struct session_env *env)
{
    for (int i = 0; i < PROTOCOLS; i++) {
        struct datagram_service *s = protocols[i]->of(env);

        if (s && protocols[i]->reload)
            protocols[i]->reload(s);
    }
}

void server_datagram_free(const struct session_env *env)
{
    for (int i = 0; i < PROTOCOLS; i++)
        datagram_service_free(protocols[i]->of(env));
}
