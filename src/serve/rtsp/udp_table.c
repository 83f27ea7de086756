/* SPDX-License-Identifier: MIT */
/* udp_table.c - which address is whose. */
#include "serve/rtsp/udp_table.h"

#include "base/container_of.h"

#include <assert.h>
#include <string.h>

void rtsp_udp_table_init(struct rtsp_udp_table *t)
{
    *t = (struct rtsp_udp_table){ 0 };
    siphash_new_key(t->secret);
}

void rtsp_udp_table_fini(struct rtsp_udp_table *t)
{
    assert(t->count == 0);
    table_free(&t->by_port);
    table_free(&t->by_ip);
}

/* Whatever its port is. */
static uint64_t hash_of_ip(const struct rtsp_udp_table *t, const struct udp_addr *a)
{
    return siphash(t->secret, a->ip, sizeof(a->ip));
}

static bool same_ip(const struct udp_addr *a, const struct udp_addr *b)
{
    return memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

static void put_key(struct rtsp_udp_table *t, struct rtsp_udp_key *k)
{
    table_put(&t->by_port, &k->link, udp_addr_hash(&k->at, t->secret));
}

struct rtsp_udp_port *rtsp_udp_table_find(const struct rtsp_udp_table *t,
                                          const struct udp_addr *from)
{
    uint64_t hash = udp_addr_hash(from, t->secret);
    struct table_link *l = NULL;

    while ((l = table_find(&t->by_port, hash, l))) {
        const struct rtsp_udp_key *k = container_of(l, struct rtsp_udp_key, link);

        if (udp_addr_same(&k->at, from))
            return k->port;
    }
    return NULL;
}

bool rtsp_udp_table_add(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
{
    if (rtsp_udp_table_find(t, &p->path.peer))
        return false;
    p->said = (struct rtsp_udp_key){ .at = p->path.peer, .port = p };
    p->other.port = NULL;
    p->table = t;
    t->count++;
    put_key(t, &p->said);
    if (p->waits)
        table_put(&t->by_ip, &p->wait, hash_of_ip(t, &p->path.peer));
    return true;
}

void rtsp_udp_table_remove(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
{
    (void)table_remove(&t->by_port, &p->said.link);
    if (p->other.port)
        (void)table_remove(&t->by_port, &p->other.link);
    rtsp_udp_table_known(p);
    t->count--;
}

void rtsp_udp_table_known(struct rtsp_udp_port *p)
{
    if (p->waits && p->table)
        (void)table_remove(&p->table->by_ip, &p->wait);
    p->waits = false;
}

struct rtsp_udp_port *rtsp_udp_table_move(struct rtsp_udp_table *t, const struct udp_addr *from)
{
    struct rtsp_udp_port *only = NULL;
    struct table_link *l = NULL;
    uint64_t hash = hash_of_ip(t, from);

    while ((l = table_find(&t->by_ip, hash, l))) {
        struct rtsp_udp_port *p = container_of(l, struct rtsp_udp_port, wait);

        if (!same_ip(&p->path.peer, from))
            continue;
        if (only)
            return NULL;
        only = p;
    }
    if (!only)
        return NULL;
    only->path.peer.port = from->port;
    only->other = (struct rtsp_udp_key){ .at = only->path.peer, .port = only };
    put_key(t, &only->other);
    rtsp_udp_table_known(only);
    return only;
}

void rtsp_udp_table_back(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
{
    if (!p->other.port)
        return;
    (void)table_remove(&t->by_port, &p->other.link);
    p->other.port = NULL;
    p->path.peer.port = p->said.at.port;
}
