/* SPDX-License-Identifier: MIT */
/* missing_stream.c - logs players that wait long for a publisher. */
#include "session/missing_stream.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/text.h"
#include "session/stream_owners.h"
#include "session/address_slot.h"
#include "session/session.h"

#include <stdio.h>
#include <string.h>

/* PATIENCE: the wait until it is logged. BETWEEN: the least time between two checks. */
#define PATIENCE CO_SECONDS(3)
#define BETWEEN CO_SECONDS(1)

enum { LINES = 10 };                 /* log lines per check */
enum { NAMES = 5, NAME_MOST = 100 }; /* live streams named in a line, and their size */
enum { SEARCHED = 2000 };            /* streams searched for live ones */

struct on_air {
    char text[NAMES * (NAME_MOST + 2) + 80];
    size_t size;
    unsigned n;
};

static _Thread_local struct missing_stream *first, **end;
static _Thread_local struct co_timer timer;

static struct session *session_of(struct missing_stream *a)
{
    return container_of(a, struct session, missing);
}

/* ---- live streams */

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
        stream_owners_each_published(env->workers, SEARCHED, add_name, all);
        return;
    }
    for (int i = 0; i < SEARCHED && (src = live_registry_next(env->streams, src)); i++) {
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

/* ---- the list, in order of arrival */

static void take_out(struct missing_stream *a)
{
    *a->prev = a->next;
    if (a->next)
        a->next->prev = a->prev;
    else
        end = a->prev;
    a->prev = NULL;
}

static bool is_waiting(const struct session *s)
{
    if (live_source_publishing(s->src))
        return false;
    return !s->env->workers ||
           !stream_owners_is_published(s->env->workers, live_source_name(s->src));
}

/* Logs with the id of the player. */
static void log_one(struct session *s, const struct on_air *all)
{
    char id[CLIENTS_ID_SIZE];
    struct co_cid own;

    client_id(&s->entry, id);
    own = co_swap_cid(id);
    session_log_as_client(s->env, s->names.ip);
    log_trace("%.*s/%.*s has no publisher yet, the %s waits%s", NAME_MOST,
              text_or_empty(s->names.app), NAME_MOST, text_or_empty(s->names.name),
              clients_type_text(s->entry.type), all->text);
    co_set_cid(own.text);
}

static void check(struct co_timer *t)
{
    static _Thread_local struct on_air all;
    co_usec now = co_now();
    unsigned found = 0;

    while (first && now - first->since >= PATIENCE) {
        struct session *s = session_of(first);

        take_out(first);
        if (!is_waiting(s))
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
                                                                : now + BETWEEN, check);
}

void missing_stream_begin(struct session *s)
{
    struct missing_stream *a = &s->missing;

    if (a->prev)
        return;
    a->since = co_now();
    a->next = NULL;
    a->prev = first ? end : &first;
    *a->prev = a;
    end = &a->next;
    if (first == a)
        co_timer_set(&timer, a->since + PATIENCE, check);
}

void missing_stream_end(struct session *s)
{
    if (!s->missing.prev)
        return;
    take_out(&s->missing);
    if (!first)
        co_timer_cancel(&timer);
}
