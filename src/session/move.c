/* SPDX-License-Identifier: MIT */
/* move.c - moves a client to the worker that serves its stream. */
#include "session/move.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "session/stream_owners.h"

#include <stdio.h>
#include <stdlib.h>

unsigned session_goes_to(struct session *s, bool publishes)
{
    struct session_env *env = s->env;
    const struct stream_owners_client guest = {
        .path = s->names.key->path, .here = env->worker, .publishes = publishes,
        .spread = (unsigned)s->conf->workers_spread,
    };
    unsigned to;

    if (!env->workers)
        return env->worker;
    session_leave_owner(s);
    s->owner = stream_owners_enter(env->workers, &guest, &to);
    s->plays = !publishes;
    return atomic_load(&env->workers->ending) ? env->worker : to;
}

void session_leave_owner(struct session *s)
{
    if (s->owner)
        stream_owners_leave(s->env->workers, s->owner, s->plays);
    s->owner = NULL;
}

err_t session_at_owner(const struct session *s)
{
    if (!s->owner || stream_owner_worker(s->owner) == s->env->worker)
        return NULL;
    return err_new(ERR_STREAM_BUSY, "%s is owned by worker %u", s->names.key->path,
                   stream_owner_worker(s->owner));
}

void session_publishes(const struct session *s, bool now)
{
    workers_note(s->env);
    if (s->owner)
        stream_owner_published(s->env->workers, s->owner, now);
}

/* A moving client. */
struct move {
    struct co_mail mail;
    struct session_env *to;
    struct session_mover how;
    void *session;
    char cid[9];
};

/* Runs in the mailbox's coroutine, which uses the client's id meanwhile. */
static void on_arrival(struct co_mail *mail)
{
    struct move *m = container_of(mail, struct move, mail);
    struct session_env *env = m->to;
    struct co_cid own = co_swap_cid(m->cid);
    err_t err = m->how.arrive(m->session, env);
    if (!err)
        err = co_go(env->connections, m->how.name, m->how.main, m->session);
    if (err) {
        log_end("came from another worker", &err);
        m->how.drop(m->session);
    } else {
        atomic_fetch_add_explicit(&env->workers->v[env->worker].gauges.moved_in, 1,
                                  memory_order_relaxed);
    }
    co_set_cid(own.text);
    free(m);
}

void session_move(struct session_env *env, unsigned to, const struct session_mover *how,
                  void *session)
{
    struct workers *w = env->workers;
    struct move *m = must(malloc(sizeof(*m)));

    *m = (struct move){ .mail.fn = on_arrival, .to = w->v[to].env, .how = *how,
                        .session = session };
    (void)snprintf(m->cid, sizeof(m->cid), "%s", co_cid());
    atomic_fetch_add_explicit(&w->v[env->worker].gauges.moved_out, 1, memory_order_relaxed);
    workers_post(w, to, &m->mail);
}
