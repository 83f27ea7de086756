/* SPDX-License-Identifier: MIT */
/* ufrag.c - finds the worker of a session by our ufrag. The first letter of a generated ufrag names
 * the worker. A ufrag chosen by a client may begin with any letter, so those are in a table shared
 * by all workers. */
#include "base/must.h"
#include "base/random_id.h"
#include "base/siphash.h"
#include "serve/rtc/impl.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256 };

struct name {
    struct name *next;
    unsigned worker;
    char ufrag[ICE_OURS_MAX + 1];
};

struct rtc_names {
    pthread_mutex_t lock;
    atomic_uint n;
    uint8_t key[SIPHASH_KEY];
    struct name *v[BUCKETS];
};

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

_Static_assert(sizeof(letters) - 1 >= WORKERS_MAX, "a letter for each worker");

struct rtc_names *rtc_names_new(void)
{
    struct rtc_names *t = must(calloc(1, sizeof(*t)));

    (void)pthread_mutex_init(&t->lock, NULL);
    siphash_new_key(t->key);
    return t;
}

void rtc_names_free(struct rtc_names *t)
{
    for (unsigned i = 0; i < BUCKETS; i++) {
        while (t->v[i]) {
            struct name *n = t->v[i];

            t->v[i] = n->next;
            free(n);
        }
    }
    (void)pthread_mutex_destroy(&t->lock);
    free(t);
}

/* Returns the entry, or where it would be; call under the lock. */
static struct name **find(struct rtc_names *t, const char *ufrag, size_t size)
{
    struct name **at = &t->v[siphash(t->key, ufrag, size) % BUCKETS];

    while (*at && (strlen((*at)->ufrag) != size || memcmp((*at)->ufrag, ufrag, size) != 0))
        at = &(*at)->next;
    return at;
}

static unsigned by_letter(char first)
{
    const char *at = first ? strchr(letters, first) : NULL;

    return at ? (unsigned)(at - letters) : UINT_MAX;
}

/* Returns true if it looks like a generated ufrag of another worker, where it could hijack a
 * session. */
static bool is_theirs(const struct rtc_service *s, const char *ufrag)
{
    unsigned worker = by_letter(*ufrag);

    return strlen(ufrag) == ICE_UFRAG && worker < s->shared->base.workers &&
           worker != s->base.env->worker;
}

bool rtc_names_take(const struct rtc_service *s, const char *ufrag)
{
    struct rtc_names *t = s->shared->names;
    size_t size = strlen(ufrag);
    struct name **at, *n;
    bool taken = false;

    if (size == 0 || size > ICE_OURS_MAX || is_theirs(s, ufrag) ||
        rtc_table_named(&s->table, RTC_NAME_CHECKS, ufrag, size) ||
        rtc_table_named(&s->table, RTC_NAME_LOCATION, ufrag, size))
        return false;
    n = must(calloc(1, sizeof(*n)));
    n->worker = s->base.env->worker;
    memcpy(n->ufrag, ufrag, size);
    (void)pthread_mutex_lock(&t->lock);
    at = find(t, ufrag, size);
    if (!*at && atomic_load(&t->n) < RTC_NAMES_MAX) {
        *at = n;
        atomic_fetch_add(&t->n, 1);
        taken = true;
    }
    (void)pthread_mutex_unlock(&t->lock);
    if (!taken)
        free(n);
    return taken;
}

void rtc_names_leave(const struct rtc_service *s, const char *ufrag)
{
    struct rtc_names *t = s->shared->names;
    struct name **at, *n;

    (void)pthread_mutex_lock(&t->lock);
    at = find(t, ufrag, strlen(ufrag));
    n = *at;
    if (n) {
        *at = n->next;
        atomic_fetch_sub(&t->n, 1);
    }
    (void)pthread_mutex_unlock(&t->lock);
    free(n);
}

unsigned rtc_worker_of(const struct rtc_service *s, const char *ufrag, size_t size)
{
    struct rtc_names *t = s->shared->names;
    unsigned worker = UINT_MAX;
    const struct name *n;

    if (size == 0 || size > ICE_OURS_MAX)
        return UINT_MAX;
    if (atomic_load(&t->n) > 0) {
        (void)pthread_mutex_lock(&t->lock);
        n = *find(t, ufrag, size);
        worker = n ? n->worker : UINT_MAX;
        (void)pthread_mutex_unlock(&t->lock);
    }
    if (worker == UINT_MAX)
        worker = by_letter(*ufrag);
    return worker < s->shared->base.workers ? worker : UINT_MAX;
}

void rtc_new_ufrag(const struct rtc_service *s, struct ice *ice)
{
    do {
        random_id(ice->ufrag, ICE_UFRAG);
        ice->ufrag[0] = letters[s->base.env->worker];
    } while (rtc_table_named(&s->table, RTC_NAME_CHECKS, ice->ufrag, ICE_UFRAG));
    random_id(ice->pwd, ICE_PWD);
}
