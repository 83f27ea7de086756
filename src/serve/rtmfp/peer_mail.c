/* SPDX-License-Identifier: MIT */
/* peer_mail.c - a message to a session of any worker. */
#include "serve/rtmfp/peer_mail.h"

#include "base/container_of.h"
#include "base/must.h"
#include "session/workers.h"

#include <stdlib.h>
#include <string.h>

struct mail {
    struct co_mail mail;
    struct rtmfp_shared *shared;
    struct session_env *to;
    struct rtmfp_message_to letter;
    uint8_t body[];
};

static void deliver(struct rtmfp_service *s, const struct rtmfp_message_to *l)
{
    struct rtmfp_peer *p = rtmfp_peer_find(s, l->session);

    if (!p || p->closing || memcmp(p->peer_id, l->peer_id, RTMFP_PEER_ID) != 0)
        return;
    l->fn(p, l);
}

static void on_mail(struct co_mail *mail)
{
    struct mail *m = container_of(mail, struct mail, mail);

    atomic_fetch_sub(&m->shared->base.mails[m->to->worker], 1);
    if (rtmfp_service_of(m->to))
        deliver(rtmfp_service_of(m->to), &m->letter);
    datagram_shared_unref(&m->shared->base);
    free(m);
}

void rtmfp_peer_mail(struct rtmfp_service *s, unsigned worker, const struct rtmfp_message_to *l)
{
    struct workers *w = s->base.env->workers;
    struct mail *m;

    if (worker == s->base.env->worker) {
        deliver(s, l);
        return;
    }
    if (!w || worker >= w->n || atomic_load(&w->ending))
        return;
    if (atomic_fetch_add(&s->shared->base.mails[worker], 1) >= DATAGRAM_MAILS) {
        atomic_fetch_sub(&s->shared->base.mails[worker], 1);
        return;
    }
    m = must(malloc(sizeof(*m) + l->body.n));
    m->mail.fn = on_mail;
    m->shared = s->shared;
    (void)datagram_shared_ref(&m->shared->base);
    m->to = w->v[worker].env;
    m->letter = *l;
    if (l->body.n > 0)
        memcpy(m->body, l->body.p, l->body.n);
    m->letter.body = rtmfp_bytes(m->body, l->body.n);
    workers_post(w, worker, &m->mail);
}
