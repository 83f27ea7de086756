/* SPDX-License-Identifier: MIT */
/* server_datagram.c - the datagram services of all workers. */
#include "app/server_parts.h"

#include "app/protocols.h"
#include "base/must.h"
#include "serve/datagram/datagram.h"

#include <stdlib.h>

struct server_datagram_next {
    struct datagram_sockets *sockets[PROTOCOLS];
};

void server_datagram_next_free(struct server_datagram_next *next)
{
    for (int i = 0; next && i < PROTOCOLS; i++)
        datagram_sockets_close(next->sockets[i]);
    free(next);
}

/* Opens the sockets of all workers; each worker reads its own. */
err_t server_datagram_prepare(struct server_datagram_next **out, struct session_env *env,
                              const struct conf *conf)
{
    struct server_datagram_next *next = must(calloc(1, sizeof(*next)));
    err_t err = NULL;

    *out = NULL;
    for (int i = 0; i < PROTOCOLS && !err; i++) {
        const struct datagram_protocol *p = protocols[i]->datagrams;

        if (p && (env->service[i] || datagram_listen(p, conf)))
            err = datagram_sockets_open(&next->sockets[i], p, env->service[i], conf,
                                        workers_count(env));
    }
    if (err)
        server_datagram_next_free(next);
    else
        *out = next;
    return err;
}

err_t server_datagram_apply(struct session_env *env, struct server_datagram_next *next)
{
    err_t err = NULL;

    for (int i = 0; i < PROTOCOLS && !err; i++) {
        if (next->sockets[i])
            err = datagram_service_apply(env, next->sockets[i]);
    }
    return err;
}

struct listening {
    struct server_datagram_next *next;
    err_t errs[WORKERS_MAX];
};

static void apply_one(struct session_env *env, void *listening)
{
    struct listening *l = listening;

    l->errs[env->worker] = server_datagram_apply(env, l->next);
}

err_t server_datagram_listen(struct server *s)
{
    struct listening l = { .errs = { NULL } };
    err_t err = server_datagram_prepare(&l.next, &s->env, s->env.conf);

    if (err)
        return err;
    workers_each(&s->env, apply_one, &l);
    server_datagram_next_free(l.next);
    return workers_first_error(l.errs);
}

void server_datagram_refuse(const struct session_env *env)
{
    for (int i = 0; i < PROTOCOLS; i++) {
        if (protocols[i]->datagrams)
            datagram_service_refuse(env->service[i]);
    }
}

void server_datagram_reload(const struct session_env *env)
{
    for (int i = 0; i < PROTOCOLS; i++) {
        const struct datagram_protocol *p = protocols[i]->datagrams;

        if (p && p->reload && env->service[i])
            p->reload(env->service[i]);
    }
}

void server_datagram_free(const struct session_env *env)
{
    for (int i = 0; i < PROTOCOLS; i++) {
        if (protocols[i]->datagrams)
            datagram_service_free(env->service[i]);
    }
}
