/* SPDX-License-Identifier: MIT */
/* pass.c - a datagram that came to one worker and is another's: copied into its mailbox.
 *
 * The kernel gives each worker its own; what it merged of several connections of one address, and
 * repeats of handshakes that moved, come here. So many at most are under way: more are lost.
 */
#include "base/container_of.h"
#include "base/must.h"
#include "serve/srt/impl.h"

#include <stdlib.h>
#include <string.h>

struct mail {
    struct co_mail mail;
    struct session_env *to;
    struct srt_shared *shared;
    unsigned endpoint;
    struct udp_in in;
    uint8_t data[];
};

static void on_mail(struct co_mail *m)
{
    struct mail *mail = container_of(m, struct mail, mail);
    struct srt_service *s = mail->to->srt;

    atomic_fetch_sub(&mail->shared->mails[mail->to->worker], 1);
    if (s && mail->endpoint < s->n_endpoints) {
        srt_endpoint_input(&s->endpoints[mail->endpoint], &mail->in);
        srt_endpoint_end_batch(&s->endpoints[mail->endpoint]);
    }
    srt_shared_unref(mail->shared);
    free(mail);
}

void srt_pass(struct srt_endpoint *e, unsigned worker, const struct udp_in *in)
{
    struct srt_service *s = e->service;
    struct workers *w = s->env->workers;
    atomic_uint *under_way;
    struct mail *m;

    if (!w || worker >= w->n || atomic_load(&w->ending)) {
        s->stat.strangers++;
        return;
    }
    under_way = &s->shared->mails[worker];
    if (atomic_fetch_add(under_way, 1) >= SRT_MAILS) {
        atomic_fetch_sub(under_way, 1);
        e->socket->stat.drops++;
        return;
    }
    atomic_fetch_add(&s->shared->refs, 1);
    m = must(malloc(sizeof(*m) + in->size));
    *m = (struct mail){ .mail.fn = on_mail, .to = w->v[worker].env, .shared = s->shared,
                        .endpoint = e->number, .in = *in };
    memcpy(m->data, in->data, in->size);
    m->in.data = m->data;
    workers_post(w, worker, &m->mail);
}
