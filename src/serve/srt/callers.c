/* SPDX-License-Identifier: MIT */
/* callers.c - known callers: present ones, moved ones, and recently refused ones. */
#include "serve/srt/callers.h"

#include "base/container_of.h"

enum { NETWORK_V6 = 8 };

#define AWAY CO_SECONDS(10)
#define REFUSED CO_SECONDS(1)

void srt_callers_init(struct srt_callers *t)
{
    *t = (struct srt_callers){ 0 };
    siphash_new_key(t->secret);
}

void srt_callers_fini(struct srt_callers *t)
{
    table_free(&t->here);
}

/* ---- hashes */

static uint64_t hash_caller(const struct srt_callers *t, const struct udp_addr *from, uint32_t id)
{
    const uint64_t who[] = { udp_addr_hash(from, t->secret), id };

    return siphash(t->secret, who, sizeof(who));
}

/* Hashes everything that decides a refusal: besides the stream id, whether there is a key and which
 * unsupported features (groups, filters, files) are requested, because several callers may share an
 * address. */
static uint64_t hash_request(const struct srt_callers *t, const struct udp_addr *from,
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

/* ---- present callers */

void srt_callers_add(struct srt_callers *t, struct srt_caller *c)
{
    table_put(&t->here, &c->link, hash_caller(t, &c->from, c->id));
}

void srt_callers_remove(struct srt_callers *t, struct srt_caller *c)
{
    (void)table_remove(&t->here, &c->link);
}

struct srt_caller *srt_callers_find(const struct srt_callers *t, const struct udp_addr *from,
                                    uint32_t id)
{
    uint64_t hash = hash_caller(t, from, id);
    struct table_link *l = NULL;

    while ((l = table_find(&t->here, hash, l))) {
        struct srt_caller *c = container_of(l, struct srt_caller, link);

        if (c->id == id && udp_addr_same(&c->from, from))
            return c;
    }
    return NULL;
}

/* ---- moved callers */

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

/* ---- refused callers */

void srt_callers_refuse(struct srt_callers *t, const struct udp_addr *from,
                        const struct srt_handshake *h, uint32_t code, co_usec now)
{
    uint64_t hash = hash_request(t, from, h);

    t->refused[hash % SRT_REFUSED] = (struct srt_refused){ hash, code, now + REFUSED };
}

uint32_t srt_callers_refused(const struct srt_callers *t, const struct udp_addr *from,
                             const struct srt_handshake *h, co_usec now)
{
    uint64_t hash = hash_request(t, from, h);
    const struct srt_refused *r = &t->refused[hash % SRT_REFUSED];

    return now < r->until && r->hash == hash ? r->code : 0;
}

unsigned srt_callers_place(const struct srt_callers *t, const struct udp_addr *from, unsigned n)
{
    size_t size = udp_addr_is_v4(from) ? sizeof(from->ip) : NETWORK_V6;

    return (unsigned)(siphash(t->secret, from->ip, size) % n);
}
