/* SPDX-License-Identifier: MIT */
/* callers.c - who called, who is elsewhere, and who was refused a moment ago. */
#include "serve/srt/callers.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 256, NETWORK_V6 = 8 };

#define AWAY CO_SECONDS(10)
#define REFUSED CO_SECONDS(1)

void srt_callers_init(struct srt_callers *t)
{
    *t = (struct srt_callers){ .mask = FIRST_BUCKETS - 1 };
    t->buckets = must(calloc(FIRST_BUCKETS, sizeof(*t->buckets)));
    siphash_new_key(t->secret);
}

void srt_callers_fini(struct srt_callers *t)
{
    free(t->buckets);
}

/* ---- hashes */

static uint64_t hash_caller(const struct srt_callers *t, const struct udp_addr *from, uint32_t id)
{
    const uint64_t who[] = { udp_addr_hash(from, t->secret), id };

    return siphash(t->secret, who, sizeof(who));
}

/* One that has a key and one that has none are not the same, nor one that wants what there is not
 * (a group, a filter, files) and another behind its address that does not. */
static uint64_t hash_wish(const struct srt_callers *t, const struct udp_addr *from,
                          const struct srt_handshake *h)
{
    const uint32_t asks[] = { h->has_km, h->encryption, h->flags, h->version, h->filter,
                              h->group };
    struct siphash x;

    siphash_begin(&x, t->secret);
    siphash_more(&x, from->ip, sizeof(from->ip));
    siphash_more(&x, asks, sizeof(asks));
    siphash_more(&x, h->congestion, sizeof(h->congestion));
    siphash_more(&x, h->streamid, h->has_streamid ? h->streamid_size : 0);
    return siphash_end(&x);
}

/* ---- who is here */

static struct srt_caller **bucket_of(const struct srt_callers *t, const struct udp_addr *from,
                                     uint32_t id)
{
    return &t->buckets[hash_caller(t, from, id) & t->mask];
}

static void grow(struct srt_callers *t)
{
    struct srt_caller **old = t->buckets;
    size_t n = t->mask + 1;

    t->mask = n * 2 - 1;
    t->buckets = must(calloc(n * 2, sizeof(*t->buckets)));
    for (size_t i = 0; i < n; i++) {
        for (struct srt_caller *c = old[i], *next; c; c = next) {
            struct srt_caller **at = bucket_of(t, &c->from, c->id);

            next = c->next;
            c->next = *at;
            *at = c;
        }
    }
    free(old);
}

void srt_callers_add(struct srt_callers *t, struct srt_caller *c)
{
    struct srt_caller **at;

    if (t->count++ > t->mask)
        grow(t);
    at = bucket_of(t, &c->from, c->id);
    c->next = *at;
    *at = c;
}

void srt_callers_remove(struct srt_callers *t, struct srt_caller *c)
{
    struct srt_caller **at = bucket_of(t, &c->from, c->id);

    while (*at && *at != c)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = c->next;
    t->count--;
}

struct srt_caller *srt_callers_find(const struct srt_callers *t, const struct udp_addr *from,
                                    uint32_t id)
{
    struct srt_caller *c = *bucket_of(t, from, id);

    while (c && (c->id != id || !udp_addr_same(&c->from, from)))
        c = c->next;
    return c;
}

/* ---- who went elsewhere */

void srt_callers_went(struct srt_callers *t, const struct srt_caller *c, unsigned worker,
                      co_usec now)
{
    t->away[hash_caller(t, &c->from, c->id) % SRT_AWAY] = (struct srt_away){
        .from = c->from, .id = c->id, .first_seq = c->first_seq, .worker = worker,
        .until = now + AWAY,
    };
}

bool srt_callers_away(const struct srt_callers *t, const struct udp_addr *from,
                      const struct srt_handshake *h, co_usec now, unsigned *worker)
{
    const struct srt_away *a = &t->away[hash_caller(t, from, h->id) % SRT_AWAY];

    *worker = a->worker;
    return now < a->until && a->id == h->id && a->first_seq == h->first_seq &&
           udp_addr_same(&a->from, from);
}

/* ---- who was refused */

void srt_callers_refuse(struct srt_callers *t, const struct udp_addr *from,
                        const struct srt_handshake *h, uint32_t code, co_usec now)
{
    uint64_t hash = hash_wish(t, from, h);

    t->refused[hash % SRT_REFUSED] = (struct srt_refused){ hash, code, now + REFUSED };
}

uint32_t srt_callers_refused(const struct srt_callers *t, const struct udp_addr *from,
                             const struct srt_handshake *h, co_usec now)
{
    uint64_t hash = hash_wish(t, from, h);
    const struct srt_refused *r = &t->refused[hash % SRT_REFUSED];

    return now < r->until && r->hash == hash ? r->code : 0;
}

unsigned srt_callers_place(const struct srt_callers *t, const struct udp_addr *from, unsigned n)
{
    size_t size = udp_addr_is_v4(from) ? sizeof(from->ip) : NETWORK_V6;

    return (unsigned)(siphash(t->secret, from->ip, size) % n);
}
