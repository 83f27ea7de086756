/* SPDX-License-Identifier: MIT */
/* own_transcodes.c - streams on this server that transcodes produce from others, on all workers. */
#include "sink/program/own_transcodes.h"

#include "base/list.h"
#include "base/must.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct made {
    struct made *next, **prev;
    char *target, *source;
};

static struct made *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct made *own_transcodes_enter(const struct session_env *env, const char *target,
                                  const char *source)
{
    struct made *m;

    if (!env->workers || !target)
        return NULL;
    m = must(calloc(1, sizeof(*m)));
    m->target = must_dup(target);
    m->source = must_dup(source);
    (void)pthread_mutex_lock(&lock);
    LIST_PUT(&all, m);
    (void)pthread_mutex_unlock(&lock);
    return m;
}

void own_transcodes_leave(struct made *m)
{
    if (!m)
        return;
    (void)pthread_mutex_lock(&lock);
    LIST_TAKE(m);
    (void)pthread_mutex_unlock(&lock);
    free(m->target);
    free(m->source);
    free(m);
}

char *own_transcodes_of(const struct session_env *env, const char *target)
{
    const struct made *m;
    char *source = NULL;

    if (!env->workers)
        return NULL;
    (void)pthread_mutex_lock(&lock);
    for (m = all; m && !source; m = m->next) {
        if (strcmp(m->target, target) == 0 && strcmp(m->source, target) != 0)
            source = must_dup(m->source);
    }
    (void)pthread_mutex_unlock(&lock);
    return source;
}
