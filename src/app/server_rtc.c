/* SPDX-License-Identifier: MIT */
/* server_rtc.c - WebRTC of all workers: its sockets are opened here, each worker reads its own. */
#include "app/server_parts.h"

#include "serve/rtc/rtc.h"

struct listening {
    struct rtc_sockets *sockets;
    err_t errs[WORKERS_MAX];
};

static void take_sockets(struct session_env *env, void *listening)
{
    struct listening *l = listening;

    l->errs[env->worker] = rtc_service_new(&env->rtc, env, l->sockets);
}

err_t server_rtc_listen(struct server *s)
{
    struct listening l = { .errs = { NULL } };
    err_t err;

    if (!s->env.conf->rtc_server.enabled)
        return NULL;
    err = rtc_sockets_open(&l.sockets, s->env.conf, workers_count(&s->env));
    if (err)
        return err;
    workers_each(&s->env, take_sockets, &l);
    rtc_sockets_close(l.sockets);
    return server_first_error(l.errs);
}
