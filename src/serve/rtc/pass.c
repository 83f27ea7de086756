/* SPDX-License-Identifier: MIT */
/* pass.c - a datagram that came to one worker and is another's: copied into its mailbox.
 *
 * A check names its worker. When that one has authenticated it, it says so to the one that it came
 * by, which passes on all that comes from that address from then on. So many datagrams at most are
 * under way: more are lost.
 */
#include "base/container_of.h"
#include "base/must.h"
#include "serve/rtc/impl.h"

#include <stdlib.h>
#include <string.h>

enum mail_kind { DATAGRAM, MINE, NOT_MINE };

struct mail {
    struct co_mail mail;
    struct session_env *to;
    struct rtc_shared *shared;
    enum mail_kind kind;
    unsigned from, endpoint;
    struct udp_in in;
    uint8_t data[];
};

static void deliver(struct rtc_service *s, const struct mail *m)
{
    struct rtc_endpoint *e = &s->endpoints[m->endpoint];

    if (m->kind == DATAGRAM)
        rtc_input(e, &m->in, m->from, co_now());
    else if (m->kind == MINE)
        rtc_table_foreign(&s->table, e, &m->in.path.peer, m->from, co_now());
    else
        rtc_table_forget(&s->table, e, &m->in.path.peer, m->from);
}

static void on_mail(struct co_mail *mail)
{
    struct mail *m = container_of(mail, struct mail, mail);
    struct rtc_service *s = m->to->rtc;

    if (m->kind == DATAGRAM)
        atomic_fetch_sub(&m->shared->mails[m->to->worker], 1);
    if (s && m->endpoint < s->n_endpoints)
        deliver(s, m);
    rtc_shared_unref(m->shared);
    free(m);
}

static bool can_reach(const struct rtc_service *s, unsigned worker)
{
    const struct workers *w = s->env->workers;

    return w && worker < w->n && worker != s->env->worker && !atomic_load(&w->ending);
}

static void post(struct rtc_service *s, unsigned worker, enum mail_kind kind, unsigned endpoint,
                 const struct udp_in *in)
{
    struct workers *w = s->env->workers;
    struct mail *m = must(malloc(sizeof(*m) + in->size));

    atomic_fetch_add(&s->shared->refs, 1);
    *m = (struct mail){ .mail.fn = on_mail, .to = w->v[worker].env, .shared = s->shared,
                        .kind = kind, .from = s->env->worker, .endpoint = endpoint, .in = *in };
    if (in->size > 0)
        memcpy(m->data, in->data, in->size);
    m->in.data = m->data;
    workers_post(w, worker, &m->mail);
}

static void pass(struct rtc_endpoint *e, unsigned worker, const struct udp_in *in, unsigned most)
{
    struct rtc_service *s = e->service;
    atomic_uint *under_way = &s->shared->mails[worker];

    if (!can_reach(s, worker) || !e->socket) {
        s->stat.strangers++;
        return;
    }
    if (atomic_fetch_add(under_way, 1) >= most) {
        atomic_fetch_sub(under_way, 1);
        e->socket->stat.drops++;
        return;
    }
    s->stat.passed++;
    post(s, worker, DATAGRAM, e->number, in);
}

void rtc_pass(struct rtc_endpoint *e, unsigned worker, const struct udp_in *in)
{
    pass(e, worker, in, RTC_MAILS);
}

void rtc_pass_strange(struct rtc_endpoint *e, unsigned worker, const struct udp_in *in)
{
    pass(e, worker, in, RTC_MAILS_STRANGE);
}

void rtc_pass_mine(struct rtc_service *s, unsigned worker, unsigned endpoint,
                   const struct udp_addr *from, bool mine)
{
    const struct udp_in in = { .path.peer = *from };

    if (can_reach(s, worker))
        post(s, worker, mine ? MINE : NOT_MINE, endpoint, &in);
}

void rtc_pass_drop(struct rtc_service *s, struct rtc_route *r)
{
    if (r->worker != s->env->worker)
        rtc_pass_mine(s, r->worker, r->endpoint->number, &r->from, false);
    rtc_table_drop(&s->table, r);
}
