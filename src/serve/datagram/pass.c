/* SPDX-License-Identifier: MIT */
/* pass.c - passes datagrams and messages about them from one worker to another. */
#include "serve/datagram/pass.h"

#include "base/container_of.h"
#include "base/must.h"

#include <stdlib.h>
#include <string.h>

struct mail {
    struct co_mail mail;
    const struct datagram_protocol *protocol;
    struct datagram_shared *shared;
    struct session_env *to;
    unsigned from, endpoint, word;
    bool is_word;
    struct udp_in in;
    uint8_t data[];
};

static void deliver(const struct mail *m)
{
    struct datagram_service *s = m->to->service[m->protocol->id];
    struct datagram_endpoint *e = s ? datagram_endpoint_find(s, m->endpoint) : NULL;

    if (e && m->is_word) {
        m->protocol->told(e, &m->in.path.peer, m->from, m->word);
    } else if (e) {
        m->protocol->input(e, &m->in, m->from, co_now());
        if (m->protocol->end_batch)
            m->protocol->end_batch(e);
    }
}

static void on_mail(struct co_mail *mail)
{
    struct mail *m = container_of(mail, struct mail, mail);

    if (!m->is_word)
        atomic_fetch_sub(&m->shared->mails[m->to->worker], 1);
    deliver(m);
    datagram_shared_unref(m->shared);
    free(m);
}

static bool can_reach(const struct datagram_service *s, unsigned worker)
{
    const struct workers *w = s->env->workers;

    return w && worker < w->n && worker != s->env->worker && !atomic_load(&w->ending);
}

/* Posts a copy of `what` and of its datagram. */
static void post(struct datagram_service *s, unsigned worker, const struct mail *what)
{
    struct workers *w = s->env->workers;
    struct mail *m = must(malloc(sizeof(*m) + what->in.size));

    *m = *what;
    m->mail.fn = on_mail;
    m->protocol = s->protocol;
    m->shared = datagram_shared_ref(s->shared);
    m->to = w->v[worker].env;
    m->from = s->env->worker;
    if (m->in.size > 0)
        memcpy(m->data, what->in.data, m->in.size);
    m->in.data = m->data;
    workers_post(w, worker, &m->mail);
}

void datagram_pass(struct datagram_endpoint *e, unsigned worker, const struct udp_in *in,
                   unsigned most)
{
    struct datagram_service *s = e->service;
    const struct mail what = { .endpoint = e->number, .in = *in };
    atomic_uint *under_way;

    if (!can_reach(s, worker)) {
        s->unreachable++;
        return;
    }
    under_way = &s->shared->mails[worker];
    if (atomic_fetch_add(under_way, 1) >= most) {
        atomic_fetch_sub(under_way, 1);
        e->socket->stat.drops++;
        return;
    }
    s->passed++;
    post(s, worker, &what);
}

void datagram_send_message(struct datagram_service *s, unsigned worker, unsigned endpoint,
                   const struct udp_addr *peer, unsigned word)
{
    const struct mail what = { .endpoint = endpoint, .word = word, .is_word = true,
                               .in.path.peer = *peer };

    if (can_reach(s, worker))
        post(s, worker, &what);
}
