/* SPDX-License-Identifier: MIT */
/* guard.c - wrong passwords: who gave them, who is locked for it, and how much was refused. */
#include "app/api/guard.h"

#include "base/log.h"
#include "base/must.h"
#include "conf/endpoint.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 8 };
#define LINE_EVERY CO_SECONDS(1)

struct sinner {
    uint8_t key[KEY];
    co_usec last;   /* when it was wrong; 0: the place is free */
    co_usec until;  /* locked; 0: not */
    co_usec forget; /* all of it */
    int wrong;
};

struct api_guard {
    struct sinner all[API_GUARD_ADDRESSES];
    size_t n; /* places that were ever taken */
    uint64_t denied[API_DENIALS];
    co_usec said;    /* when the last line was written */
    uint64_t unsaid; /* refused since, without a line */
};

struct api_guard *api_guard_new(void)
{
    return must(calloc(1, sizeof(struct api_guard)));
}

void api_guard_free(struct api_guard *g)
{
    free(g);
}

/* ---- addresses */

/* IPv4: 32 bits of 1 before it, which no address of IPv6 that connects begins with. */
static void key_of(const char *ip, uint8_t key[KEY])
{
    uint8_t addr[16];
    bool v4;

    memset(key, 0, KEY);
    if (!conf_address_parse(ip, strlen(ip), addr, &v4))
        return;
    if (v4) {
        memset(key, 0xff, 4);
        memcpy(key + 4, addr + 12, 4);
    } else {
        memcpy(key, addr, KEY);
    }
}

static struct sinner *find(const struct api_guard *g, const char *ip)
{
    uint8_t key[KEY];

    if (g->n == 0)
        return NULL;
    key_of(ip, key);
    for (size_t i = 0; i < g->n; i++) {
        if (memcmp(g->all[i].key, key, KEY) == 0)
            return (struct sinner *)(uintptr_t)&g->all[i];
    }
    return NULL;
}

/* A free place, or that of the one that would be forgotten first. */
static struct sinner *take(struct api_guard *g)
{
    struct sinner *first = &g->all[0];

    if (g->n < API_GUARD_ADDRESSES)
        return &g->all[g->n++];
    for (size_t i = 1; i < g->n; i++) {
        if (g->all[i].forget < first->forget)
            first = &g->all[i];
    }
    return first;
}

co_usec api_guard_locked(const struct api_guard *g, const char *ip, co_usec now)
{
    const struct sinner *s = find(g, ip);

    return s && s->until > now ? s->until - now : 0;
}

int api_guard_wrong(struct api_guard *g, const char *ip, const struct api_guard_rule *rule,
                    co_usec now)
{
    struct sinner *s = find(g, ip);

    if (!s || s->forget <= now) {
        s = s ? s : take(g);
        *s = (struct sinner){ .last = now };
        key_of(ip, s->key);
    }
    s->last = now;
    s->forget = now + rule->lock;
    if (++s->wrong >= rule->attempts && rule->attempts > 0)
        s->until = now + rule->lock;
    return s->wrong;
}

/* ---- what was refused */

void api_guard_deny(struct api_guard *g, enum api_denial why, co_usec now, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    g->denied[why]++;
    if (g->said && now - g->said < LINE_EVERY) {
        g->unsaid++;
        return;
    }
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (g->unsaid)
        log_always(LOG_WARN, "API: %s; %llu more were refused since the last line", text,
                   (unsigned long long)g->unsaid);
    else
        log_always(LOG_WARN, "API: %s", text);
    g->said = now;
    g->unsaid = 0;
}

uint64_t api_guard_denied(const struct api_guard *g, enum api_denial why)
{
    return g->denied[why];
}

const char *api_guard_name(enum api_denial why)
{
    static const char *const names[API_DENIALS] = { "password", "locked", "address", "page",
                                                    "public" };

    return names[why];
}
