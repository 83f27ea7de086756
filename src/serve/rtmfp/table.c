/* SPDX-License-Identifier: MIT */
/* table.c - sessions and handshakes of a worker by address. */
#include "serve/rtmfp/table.h"

#include "base/must.h"

#include <assert.h>
#include <stdlib.h>

/* Buckets, fixed from the start: rehashing tens of thousands of sessions would block the thread.
 * Unused buckets take no memory. */
enum { BUCKETS = 1 << 15, KEYING = 1024 };

struct rtmfp_table {
    uint8_t key[SIPHASH_KEY];
    size_t n;                        /* sessions */
    struct rtmfp_peer **v;
    struct rtmfp_handshake *keying[KEYING];
};

struct rtmfp_table *rtmfp_table_new(void)
{
    struct rtmfp_table *t = must(calloc(1, sizeof(*t)));

    siphash_new_key(t->key);
    t->v = must(calloc(BUCKETS, sizeof(*t->v)));
    return t;
}

void rtmfp_table_free(struct rtmfp_table *t)
{
    assert(t->n == 0);
    free(t->v);
    free(t);
}

static struct rtmfp_peer **bucket(const struct rtmfp_table *t, const struct udp_addr *at)
{
    return &t->v[udp_addr_hash(at, t->key) % BUCKETS];
}

void rtmfp_table_add(struct rtmfp_table *t, struct rtmfp_peer *p)
{
    struct rtmfp_peer **to = bucket(t, &p->session.peer);

    p->next_at = *to;
    *to = p;
    t->n++;
}

void rtmfp_table_remove(struct rtmfp_table *t, struct rtmfp_peer *p, const struct udp_addr *at)
{
    for (struct rtmfp_peer **q = bucket(t, at); *q; q = &(*q)->next_at) {
        if (*q != p)
            continue;
        *q = p->next_at;
        p->next_at = NULL;
        t->n--;
        return;
    }
}

struct rtmfp_peer *rtmfp_table_find(const struct rtmfp_table *t, const struct udp_addr *at)
{
    struct rtmfp_peer *p = *bucket(t, at);

    while (p && !udp_addr_same(&p->session.peer, at))
        p = p->next_at;
    return p;
}

/* ---- handshakes */

static unsigned keying_at(const struct rtmfp_table *t, const struct udp_addr *at)
{
    return (unsigned)(udp_addr_hash(at, t->key) % KEYING);
}

void rtmfp_table_add_keying(struct rtmfp_table *t, struct rtmfp_handshake *h)
{
    struct rtmfp_handshake **to = &t->keying[keying_at(t, &h->path.peer)];

    h->next_at = *to;
    *to = h;
}

void rtmfp_table_remove_keying(struct rtmfp_table *t, struct rtmfp_handshake *h)
{
    struct rtmfp_handshake **q = &t->keying[keying_at(t, &h->path.peer)];

    while (*q != h)
        q = &(*q)->next_at;
    *q = h->next_at;
}

bool rtmfp_table_is_keying(const struct rtmfp_table *t, const struct udp_addr *at, uint32_t id)
{
    const struct rtmfp_handshake *h = t->keying[keying_at(t, at)];

    while (h && (h->id != id || !udp_addr_same(&h->path.peer, at)))
        h = h->next_at;
    return h;
}
