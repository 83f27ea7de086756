/* SPDX-License-Identifier: MIT */
/* udp_table.c - which address is whose. */
#include "serve/rtsp/udp_table.h"

#include "base/must.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 64 };

static void *make_buckets(size_t n)
{
    return must(calloc(n, sizeof(void *)));
}

void rtsp_udp_table_init(struct rtsp_udp_table *t)
{
    *t = (struct rtsp_udp_table){ .mask = FIRST_SIZE - 1 };
    t->by_port = make_buckets(FIRST_SIZE);
    t->by_ip = make_buckets(FIRST_SIZE);
    siphash_new_key(t->secret);
}

void rtsp_udp_table_fini(struct rtsp_udp_table *t)
{
    assert(t->count == 0);
    free(t->by_port);
    free(t->by_ip);
}

static size_t place(const struct rtsp_udp_table *t, const struct udp_addr *a)
{
    return (size_t)udp_addr_hash(a, t->secret) & t->mask;
}

/* Whatever its port is. */
static size_t place_of_ip(const struct rtsp_udp_table *t, const struct udp_addr *a)
{
    return (size_t)siphash(t->secret, a->ip, sizeof(a->ip)) & t->mask;
}

static bool same_ip(const struct udp_addr *a, const struct udp_addr *b)
{
    return memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

/* ---- those who wait */

static void wait_at(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
{
    struct rtsp_udp_port **head = &t->by_ip[place_of_ip(t, &p->path.peer)];

    p->wait_next = *head;
    p->wait_prev = head;
    if (*head)
        (*head)->wait_prev = &p->wait_next;
    *head = p;
}

static void wait_no_more(struct rtsp_udp_port *p)
{
    if (!p->wait_prev)
        return;
    *p->wait_prev = p->wait_next;
    if (p->wait_next)
        p->wait_next->wait_prev = p->wait_prev;
    p->wait_prev = NULL;
}

/* ---- all */

static void link_key(struct rtsp_udp_table *t, struct rtsp_udp_key *k)
{
    struct rtsp_udp_key **head = &t->by_port[place(t, &k->at)];

    k->next = *head;
    *head = k;
}

static void unlink_key(struct rtsp_udp_table *t, struct rtsp_udp_key *k)
{
    struct rtsp_udp_key **at = &t->by_port[place(t, &k->at)];

    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
}

static void grow(struct rtsp_udp_table *t)
{
    struct rtsp_udp_key **old = t->by_port;
    size_t n = t->mask + 1;

    free(t->by_ip);
    t->mask = n * 2 - 1;
    t->by_port = make_buckets(n * 2);
    t->by_ip = make_buckets(n * 2);
    for (size_t i = 0; i < n; i++) {
        for (struct rtsp_udp_key *k = old[i], *next; k; k = next) {
            next = k->next;
            link_key(t, k);
            if (k == &k->port->said && k->port->wait_prev)
                wait_at(t, k->port);
        }
    }
    free(old);
}

struct rtsp_udp_port *rtsp_udp_table_find(const struct rtsp_udp_table *t,
                                          const struct udp_addr *from)
{
    const struct rtsp_udp_key *k = t->by_port[place(t, from)];

    while (k && !udp_addr_same(&k->at, from))
        k = k->next;
    return k ? k->port : NULL;
}

bool rtsp_udp_table_add(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
{
    if (rtsp_udp_table_find(t, &p->path.peer))
        return false;
    if (t->count > t->mask)
        grow(t);
    t->count++;
    p->said = (struct rtsp_udp_key){ .at = p->path.peer, .port = p };
    p->other.port = NULL;
    p->wait_prev = NULL;
    link_key(t, &p->said);
    if (p->waits)
        wait_at(t, p);
    return true;
}

void rtsp_udp_table_remove(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
{
    unlink_key(t, &p->said);
    if (p->other.port)
        unlink_key(t, &p->other);
    wait_no_more(p);
    t->count--;
}

void rtsp_udp_table_known(struct rtsp_udp_port *p)
{
    p->waits = false;
    wait_no_more(p);
}

struct rtsp_udp_port *rtsp_udp_table_move(struct rtsp_udp_table *t, const struct udp_addr *from)
{
    struct rtsp_udp_port *only = NULL;

    for (struct rtsp_udp_port *p = t->by_ip[place_of_ip(t, from)]; p; p = p->wait_next) {
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
    link_key(t, &only->other);
    rtsp_udp_table_known(only);
    return only;
}

void rtsp_udp_table_back(struct rtsp_udp_table *t, struct rtsp_udp_port *p)
{
    if (!p->other.port)
        return;
    unlink_key(t, &p->other);
    p->other.port = NULL;
    p->path.peer.port = p->said.at.port;
}
