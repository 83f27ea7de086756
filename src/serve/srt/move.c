/* SPDX-License-Identifier: MIT */
/* move.c - moves a caller to the worker that serves its stream, which then responds. */
#include "session/move.h"

#include "base/container_of.h"
#include "serve/srt/admit.h"

err_t srt_settle(struct srt_peer *p)
{
    struct srt_request *g = p->request;
    unsigned to;
    err_t err;

    if (g->settled) /* it has already moved */
        return NULL;
    to = session_goes_to(&p->base.session, g->streamid.publish);
    if (to == p->base.session.env->worker)
        return NULL;
    co_deadline_cancel(&g->deadline);
    err = hooks_line_rest(&p->base.session.line, p->base.session.vhost);
    if (!err)
        err = co_check();
    if (!err)
        g->move_to = (int)to;
    return err;
}

/* Packets that arrived meanwhile at its first worker are repeated by the caller. */
static err_t arrive(void *peer, struct session_env *env)
{
    struct srt_peer *p = peer;
    struct srt_service *s = srt_service_of(env);
    struct datagram_endpoint *e =
        s ? datagram_endpoint_find(&s->base, p->request->endpoint) : NULL;

    p->base.session.env = env;
    p->base.session.co = NULL;
    p->endpoint = NULL;
    /* makes it apply this env's configuration next */
    p->base.session.generation = env->generation - 1;
    p->request->move_to = -1;
    p->request->settled = true;
    if (!e)
        return err_new(ERR_STOPPED, "SRT was disabled");
    p->endpoint = container_of(e, struct srt_endpoint, base);
    return srt_peer_enter(p, s) ? NULL : err_new(ERR_TOO_MANY, "SRT ids");
}

static void drop(void *peer)
{
    struct srt_peer *p = peer;

    if (p->endpoint)
        srt_refuse(p->endpoint, &p->path, &p->request->handshake, SRT_REFUSED_RESOURCES);
    srt_peer_free(p);
}

void srt_send_away(struct srt_peer *p)
{
    static const struct session_mover how = {
        .name = "srt", .arrive = arrive, .main = srt_admit_go_on_main, .drop = drop,
    };
    struct srt_service *s = p->service;
    unsigned to = (unsigned)p->request->move_to;

    srt_peer_part(p);
    srt_callers_went(&s->callers, &p->caller, to, co_now());
    session_move(p->base.session.env, to, &how, p);
}
