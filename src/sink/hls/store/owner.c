/* SPDX-License-Identifier: MIT */
/* owner.c - finds the worker that has a file of HLS or DASH in memory, or a player's session. */
#include "sink/hls/store/owner.h"

#include "base/must.h"
#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 16384 }; /* for 1,000 streams with low latency and as many players */

struct place {
    struct place *next;
    unsigned worker;
    char name[];
};

static struct place *buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Called under the lock. */
static struct place **find(const char *name)
{
    struct place **at = &buckets[text_hash(name) % BUCKETS];

    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

void hls_owner_set(const struct session_env *env, const char *name)
{
    size_t size = strlen(name) + 1;
    struct place **at, *p;

    if (!env->workers)
        return;
    (void)pthread_mutex_lock(&lock);
    at = find(name);
    if (!*at) {
        *at = p = must(calloc(1, sizeof(*p) + size));
        memcpy(p->name, name, size);
    }
    (*at)->worker = env->worker;
    (void)pthread_mutex_unlock(&lock);
}

void hls_owner_clear(const struct session_env *env, const char *name)
{
    struct place **at, *p = NULL;

    if (!env->workers)
        return;
    (void)pthread_mutex_lock(&lock);
    at = find(name);
    if (*at && (*at)->worker == env->worker) {
        p = *at;
        *at = p->next;
    }
    (void)pthread_mutex_unlock(&lock);
    free(p);
}

int hls_owner_of(const struct session_env *env, const char *name)
{
    const struct place *p;
    int worker;

    if (!env->workers)
        return HLS_NO_OWNER;
    (void)pthread_mutex_lock(&lock);
    p = *find(name);
    worker = p ? (int)p->worker : HLS_NO_OWNER;
    (void)pthread_mutex_unlock(&lock);
    return worker;
}
