/* SPDX-License-Identifier: MIT */
/* server_datagram.c - services over datagrams, of all workers: a row each. */
#include "app/server_parts.h"

#include "base/must.h"
#include "serve/datagram/datagram.h"
#include "serve/rtc/rtc.h"
#include "serve/rtmfp/rtmfp.h"
#include "serve/srt/srt.h"

#include <stdlib.h>

static const struct datagram_protocol *const protocols[] = { &srt_protocol, &rtc_protocol,
                                                    &rtmfp_protocol };

enum { KINDS = sizeof(protocols) / sizeof(protocols[0]) };

struct server_datagram_next {
    struct datagram_sockets *sockets[KINDS];
};

void server_datagram_next_free(struct server_datagram_next *next)
{
    for (int i = 0; next && i < KINDS; i++)
        datagram_sockets_close(next->sockets[i]);
    free(next);
}

/* The sockets of all workers are opened here, each worker reads its own. */
err_t server_datagram_prepare(struct server_datagram_next **out, struct session_env *env,
                              const struct conf *conf)
{
    struct server_datagram_next *next = must(calloc(1, sizeof(*next)));
    err_t err = NULL;

    *out = NULL;
    for (int i = 0; i < KINDS && !err; i++) {
        const struct datagram_service *have = protocols[i]->of(env);

        if (have || protocols[i]->listen(conf))
            err = datagram_sockets_open(&next->sockets[i], protocols[i], have, conf,
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

    for (int i = 0; i < KINDS && !err; i++) {
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
    return server_first_error(l.errs);
}

void server_datagram_refuse(const struct session_env *env)
{
    for (int i = 0; i < KINDS; i++)
        datagram_service_refuse(protocols[i]->of(env));
}

void server_datagram_reload(const struct session_env *env)
{
    for (int i = 0; i < KINDS; i++) {
        struct datagram_service *s = protocols[i]->of(env);

        if (s && protocols[i]->reload)
            protocols[i]->reload(s);
    }
}

void server_datagram_free(const struct session_env *env)
{
    for (int i = 0; i < KINDS; i++)
        datagram_service_free(protocols[i]->of(env));
}
