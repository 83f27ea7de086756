/* SPDX-License-Identifier: MIT */
/* pull.c - a stream that the server fetches. */
#include "pull/pull.h"

#include "base/log.h"
#include "base/random_id.h"
#include "session/stream_owners.h"
#include "session/move.h"

void pull_init(struct pull *p, struct pulls *all, struct stream_key *key,
               struct stream_owner *owner)
{
    struct session *s = &p->session;

    p->all = all;
    p->owner = owner;
    session_init(s, all->sink.env, NULL);
    s->names = (struct session_stream){ .param = "", .tc_url = "", .page_url = "", .ip = "" };
    session_stream_set_key(&s->names, key);
    s->id = p->id;
    random_id(p->id, sizeof(p->id) - 1);
    condition_be(&p->condition, CONDITION_STARTING);
}

bool pull_start(struct pull *p, const char *name, co_fn *main)
{
    struct pulls *all = p->all;
    err_t err = co_go(&all->sink.group, name, main, p);

    if (err) {
        log_end(name, &err);
        return false;
    }
    p->session.co = co_newest(&all->sink.group);
    p->next = all->list;
    all->list = p;
    return true;
}

void pull_unlink(struct pull *p)
{
    struct pull **at = &p->all->list;

    while (*at && *at != p)
        at = &(*at)->next;
    if (*at)
        *at = p->next;
}

void pull_fini(struct pull *p)
{
    struct session_env *env = p->session.env;

    pull_unlink(p);
    session_fini(&p->session);
    if (p->owner)
        stream_owners_release(env->workers, p->owner);
}

err_t pull_enter_owner(struct pull *p)
{
    struct session *s = &p->session;

    return session_goes_to(s, true) != s->env->worker ? session_at_owner(s) : NULL;
}
