/* SPDX-License-Identifier: MIT */
/* callers.c - who called, who is elsewhere, and who was refused a moment ago. */
#include "serve/srt/callers.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FIRST_BUCKETS = 256, NETWORK_V6 = 8 };

#define AWAY CO_SECONDS(10)
#define REFUSED CO_SECONDS(1)

void srt_callers_init(struct srt_callers *t)
{
    *t = (struct srt_callers){ .mask = FIRST_BUCKETS - 1 };
    t->buckets = must(calloc(FIRST_BUCKETS, sizeof(*t->buckets)));
    if (getrandom(t->secret, sizeof(t->secret), GRND_NONBLOCK) != sizeof(t->secret))
        memcpy(t->secret, &t, sizeof(t));
}

void srt_callers_fini(struct srt_callers *t)
{
    free(t->buckets);
}

/* ---- hashes: words are mixed in one after the other, the secret first */

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0xd6e8feb86659fd93u;
    h = (h ^ (h >> 32)) * 0xd6e8feb86659fd93u;
    return h ^ (h >> 32);
}

static uint64_t mix_bytes(uint64_t h, const void *data, size_t size)
{
    const uint8_t *p = data;

    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        size_t left = size - at;
        uint64_t word = 0;

        memcpy(&word, p + at, left < sizeof(word) ? left : sizeof(word));
        h = mix(h, word);
    }
    return mix(h, size);
}

static uint64_t begin(const struct srt_callers *t)
{
    return mix_bytes(0x9e3779b97f4a7c15u, t->secret, sizeof(t->secret));
}

static uint64_t hash_caller(const struct srt_callers *t, const struct udp_addr *from, uint32_t id)
{
    uint64_t h = mix_bytes(begin(t), from->ip, sizeof(from->ip));

    return mix(h, (uint64_t)from->port << 32 | id);
}

/* One that has a key and one that has none are not the same, nor one that wants what there is not
 * (a group, a filter, files) and another behind its address that does not. */
static uint64_t hash_wish(const struct srt_callers *t, const struct udp_addr *from,
                          const struct srt_handshake *h)
{
    uint64_t x = mix_bytes(begin(t), from->ip, sizeof(from->ip));

    x = mix(x, (uint64_t)h->has_km << 32 | h->encryption);
    x = mix(x, (uint64_t)h->flags << 32 | h->version << 2 | h->filter << 1 | h->group);
    x = mix_bytes(x, h->congestion, sizeof(h->congestion));
    return mix_bytes(x, h->streamid, h->has_streamid ? h->streamid_size : 0);
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

    return (unsigned)(mix_bytes(begin(t), from->ip, size) % n);
}
