/* SPDX-License-Identifier: MIT */
/* guard.c - locks addresses that use wrong passwords, passphrases or stream keys. */
#include "session/guard.h"

#include "base/ip.h"
#include "base/log.h"
#include "base/must.h"
#include "base/siphash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SAID = 4 };

struct key {
    uint8_t ip[IP_SIZE]; /* ip_customer() */
    enum guard_kind kind;
};

struct sinner {
    struct key key;
    co_usec until;    /* end of the lock; 0: not locked */
    co_usec forget;   /* when the entry is removed */
    int wrong;
    unsigned next;    /* next index in `said` */
    uint64_t said[SAID]; /* hashes of the last wrong secrets; 0: none */
};

struct guard {
    pthread_mutex_t lock; /* protects all members below */
    uint8_t secret[SIPHASH_KEY];
    struct sinner all[GUARD_ADDRESSES];
    size_t n; /* entries that were ever used */
};

struct guard *guard_new(void)
{
    struct guard *g = must(calloc(1, sizeof(struct guard)));

    siphash_new_key(g->secret);
    (void)pthread_mutex_init(&g->lock, NULL);
    return g;
}

void guard_free(struct guard *g)
{
    if (g)
        (void)pthread_mutex_destroy(&g->lock);
    free(g);
}

static struct key key_of(const char *ip, enum guard_kind kind)
{
    struct key key = { .kind = kind };

    ip_customer(ip, key.ip);
    return key;
}

static struct sinner *find(struct guard *g, const struct key *key)
{
    for (size_t i = 0; i < g->n; i++) {
        struct sinner *s = &g->all[i];

        if (s->key.kind == key->kind && memcmp(s->key.ip, key->ip, IP_SIZE) == 0)
            return s;
    }
    return NULL;
}

/* Returns a free entry, or the one that would be removed first. */
static struct sinner *take(struct guard *g)
{
    struct sinner *first = &g->all[0];

    if (g->n < GUARD_ADDRESSES)
        return &g->all[g->n++];
    for (size_t i = 1; i < g->n; i++) {
        if (g->all[i].forget < first->forget)
            first = &g->all[i];
    }
    return first;
}

co_usec guard_locked(struct guard *g, enum guard_kind kind, const char *ip, co_usec now)
{
    const struct key key = key_of(ip, kind);
    const struct sinner *s;
    co_usec left;

    if (!g)
        return 0;
    (void)pthread_mutex_lock(&g->lock);
    s = find(g, &key);
    left = s && s->until > now ? s->until - now : 0;
    (void)pthread_mutex_unlock(&g->lock);
    return left;
}

/* Returns true if the address used this secret recently. */
static bool is_repeat(const struct guard *g, struct sinner *s, const char *said, size_t size)
{
    uint64_t hash = said ? siphash(g->secret, said, size) | 1 : 0;

    for (unsigned i = 0; hash && i < SAID; i++) {
        if (s->said[i] == hash)
            return true;
    }
    s->said[s->next++ % SAID] = hash;
    return false;
}

static int count(struct guard *g, const struct key *key, const struct guard_rule *rule,
                 const char *said, size_t size, co_usec now)
{
    struct sinner *s = find(g, key);

    if (!s || s->forget <= now) {
        s = s ? s : take(g);
        *s = (struct sinner){ .key = *key };
    }
    s->forget = now + rule->lock;
    if (is_repeat(g, s, said, size))
        return s->wrong;
    if (++s->wrong >= rule->attempts && rule->attempts > 0)
        s->until = now + rule->lock;
    return s->wrong;
}

int guard_wrong(struct guard *g, enum guard_kind kind, const char *ip,
                const struct guard_rule *rule, const char *said, size_t size, co_usec now)
{
    const struct key key = key_of(ip, kind);
    int wrong;

    if (!g)
        return 0;
    (void)pthread_mutex_lock(&g->lock);
    wrong = count(g, &key, rule, said, size, now);
    (void)pthread_mutex_unlock(&g->lock);
    return wrong;
}

/* ---- with the configured limits */

co_usec session_guard_locked(const struct session_env *env, enum guard_kind kind, const char *ip)
{
    return guard_locked(env->guard, kind, ip, co_clock());
}

void session_guard_wrong(const struct session_env *env, enum guard_kind kind, const char *ip,
                         const char *said, size_t size)
{
    static const char *const what[] = {
#define XX(ID, text) [GUARD_##ID] = text,
        PROTOCOL_SECRET_LIST(XX)
#undef XX
    };
    struct guard_rule rule;
    co_usec now = co_clock();
    int wrong;

    if (!env->guard || guard_locked(env->guard, kind, ip, now) > 0)
        return;
    rule = (struct guard_rule){ env->conf->limits.wrong_secrets, env->conf->limits.wrong_lock };
    wrong = guard_wrong(env->guard, kind, ip, &rule, said, size, now);
    if (guard_locked(env->guard, kind, ip, now) > 0)
        log_warn("%s of %s are refused for %lld s after %d wrong ones "
                 "(limits.wrong_secrets)", what[kind], ip,
                 (long long)(rule.lock / CO_SECONDS(1)), wrong);
}
