/* SPDX-License-Identifier: MIT */
/* missing_stream.c - players that wait for a publisher for long. */
#include "session/missing_stream.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/text.h"
#include "session/stream_owners.h"
#include "session/address_slot.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

/* How long one waits before that is logged; and between two looks, however many come. */
#define PATIENCE CO_SECONDS(3)
#define BETWEEN CO_SECONDS(1)

enum { LINES = 10 };                 /* of one look */
enum { NAMES = 5, NAME_MOST = 100 }; /* streams that a line names */
enum { LOOK_AT = 2000 };             /* streams that are looked at for that */

struct on_air {
    char text[NAMES * (NAME_MOST + 2) + 80];
    size_t size;
    unsigned n;
};

static _Thread_local struct alone *first, **end;
static _Thread_local struct co_timer timer;

static struct session *session_of(struct alone *a)
{
    return container_of(a, struct session, alone);
}

/* ---- what is on air */

static void add_name(void *on_air, const char *path)
{
    static const char usual[] = "__defaultVhost__/";
    struct on_air *all = on_air;

    if (all->n++ >= NAMES)
        return;
    if (strncmp(path, usual, sizeof(usual) - 1) == 0)
        path += sizeof(usual) - 1;
    all->size += (size_t)snprintf(all->text + all->size, sizeof(all->text) - all->size, "%s%.*s",
                                  all->n > 1 ? ", " : "; on air: ", NAME_MOST, path);
}

static void add_names(const struct session_env *env, struct on_air *all)
{
    struct live_source *src = NULL;

    if (env->workers) {
        stream_owners_each_published(env->workers, LOOK_AT, add_name, all);
        return;
    }
    for (int i = 0; i < LOOK_AT && (src = live_registry_next(env->streams, src)); i++) {
        if (live_source_publishing(src))
            add_name(all, live_source_name(src));
    }
}

static void describe_on_air(const struct session_env *env, struct on_air *all)
{
    all->size = all->n = 0;
    add_names(env, all);
    if (all->n == 0)
        (void)snprintf(all->text, sizeof(all->text), "; no stream is on air");
    else if (all->n > NAMES)
        (void)snprintf(all->text + all->size, sizeof(all->text) - all->size, " and %u more",
                       all->n - NAMES);
}

/* ---- the list, by the time that they came */

static void take_out(struct alone *a)
{
    *a->prev = a->next;
    if (a->next)
        a->next->prev = a->prev;
    else
        end = a->prev;
    a->prev = NULL;
}

static bool is_alone(const struct session *s)
{
    if (live_source_publishing(s->src))
        return false;
    return !s->env->workers ||
           !stream_owners_is_published(s->env->workers, live_source_name(s->src));
}

/* With the id of the player, as all its lines. */
static void log_one(struct session *s, const struct on_air *all)
{
    char id[CLIENTS_ID_SIZE];
    struct co_cid own;

    client_id(&s->entry, id);
    own = co_swap_cid(id);
    session_log_as_client(s->env, s->names.ip);
    log_trace("no publisher of %.*s/%.*s yet, the %s waits%s", NAME_MOST,
              text_or_empty(s->names.app), NAME_MOST, text_or_empty(s->names.name),
              clients_type_text(s->entry.type), all->text);
    co_set_cid(own.text);
}

static void look(struct co_timer *t)
{
    static _Thread_local struct on_air all;
    co_usec now = co_now();
    unsigned found = 0;

    while (first && now - first->since >= PATIENCE) {
        struct session *s = session_of(first);

        take_out(first);
        if (!is_alone(s))
            continue;
        if (found == 0)
            describe_on_air(s->env, &all);
        if (found++ < LINES)
            log_one(s, &all);
    }
    if (found > LINES)
        log_trace("and %u more players wait for streams without a publisher", found - LINES);
    if (first)
        co_timer_set(t, first->since + PATIENCE > now + BETWEEN ? first->since + PATIENCE
                                                                : now + BETWEEN, look);
}

void missing_stream_begin(struct session *s)
{
    struct alone *a = &s->alone;

    if (a->prev)
        return;
    a->since = co_now();
    a->next = NULL;
    a->prev = first ? end : &first;
    *a->prev = a;
    end = &a->next;
    if (first == a)
        co_timer_set(&timer, a->since + PATIENCE, look);
}

void missing_stream_end(struct session *s)
{
    if (!s->alone.prev)
        return;
    take_out(&s->alone);
    if (!first)
        co_timer_cancel(&timer);
}
