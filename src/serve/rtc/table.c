/* SPDX-License-Identifier: MIT */
/* table.c - finds the session of a datagram. */
#include "serve/rtc/table.h"

#include "base/container_of.h"
#include "base/must.h"
#include "serve/rtc/peer.h"

#include <stdlib.h>
#include <string.h>

enum { SWEPT = 4 }; /* lists checked for expiry at each new foreign route */

void rtc_table_init(struct rtc_table *t)
{
    *t = (struct rtc_table){ 0 };
    siphash_new_key(t->key);
}

static struct rtc_route *route_of(struct table_link *l)
{
    return l ? container_of(l, struct rtc_route, link) : NULL;
}

static struct rtc_route *next_of(const struct rtc_table *t, const struct rtc_route *r)
{
    return route_of(table_next(&t->routes, r ? &r->link : NULL));
}

void rtc_table_fini(struct rtc_table *t)
{
    for (struct rtc_route *r = next_of(t, NULL), *next; r; r = next) {
        next = next_of(t, r);
        rtc_table_drop(t, r);
    }
    table_free(&t->routes);
    table_free(&t->names);
}

/* ---- addresses */

struct rtc_route *rtc_table_find(const struct rtc_table *t, const struct rtc_endpoint *e,
                                 const struct udp_addr *from)
{
    uint64_t hash = udp_addr_hash(from, t->key);
    struct table_link *l = NULL;

    do
        l = table_find(&t->routes, hash, l);
    while (l && (route_of(l)->endpoint != e || !udp_addr_same(&route_of(l)->from, from)));
    return route_of(l);
}

static struct rtc_route *add(struct rtc_table *t, const struct rtc_endpoint *e,
                             const struct udp_addr *from)
{
    struct rtc_route *r = must(calloc(1, sizeof(*r)));

    r->endpoint = e;
    r->from = *from;
    table_put(&t->routes, &r->link, udp_addr_hash(from, t->key));
    return r;
}

static void leave_peer(struct rtc_route *r)
{
    struct rtc_route **at = &r->peer->routes;

    while (*at != r)
        at = &(*at)->next_own;
    *at = r->next_own;
    r->peer = NULL;
}

void rtc_table_drop(struct rtc_table *t, struct rtc_route *r)
{
    (void)table_remove(&t->routes, &r->link);
    if (r->peer)
        leave_peer(r);
    else
        t->foreign--;
    free(r);
}

/* Forged checks can add addresses to a session: unproven addresses are dropped first. */
static bool is_disposable(const struct rtc_route *r, const struct rtc_route *than)
{
    return r->sure != than->sure ? than->sure : r->used < than->used;
}

struct rtc_route *rtc_table_spare(const struct rtc_peer *p)
{
    struct rtc_route *spare = p->routes;
    unsigned n = 0;

    for (struct rtc_route *r = p->routes; r; r = r->next_own, n++) {
        if (is_disposable(r, spare))
            spare = r;
    }
    return n >= ICE_PATHS ? spare : NULL;
}

static bool is_live(const struct rtc_route *r, co_usec now)
{
    return now - r->used < RTC_OWNER_SILENT;
}

struct rtc_route *rtc_table_own(struct rtc_table *t, struct rtc_peer *p,
                                const struct rtc_endpoint *e, const struct udp_addr *from,
                                unsigned via, bool sure, co_usec now)
{
    struct rtc_route *r = rtc_table_find(t, e, from);

    if (r && r->peer != p) {
        if (!sure && is_live(r, now))
            return NULL;
        rtc_table_drop(t, r);
        r = NULL;
    }
    if (!r) {
        while ((r = rtc_table_spare(p)))
            rtc_table_drop(t, r);
        r = add(t, e, from);
        r->peer = p;
        r->next_own = p->routes;
        p->routes = r;
    } else if (r->worker != via) {
        r->sure = false; /* the peer has not proved yet that it receives there */
    }
    r->worker = via;
    r->used = now;
    r->sure |= sure;
    return r;
}

/* ---- addresses of sessions at other workers */

static void sweep(struct rtc_table *t, co_usec now)
{
    for (unsigned i = 0; t->routes.v && i < SWEPT; i++) {
        struct table_link *l = t->routes.v[t->sweep++ & t->routes.mask], *next;

        for (; l; l = next) {
            next = l->next;
            if (!route_of(l)->peer && now - route_of(l)->used > RTC_FOREIGN_KEEP)
                rtc_table_drop(t, route_of(l));
        }
    }
}

void rtc_table_foreign(struct rtc_table *t, const struct rtc_endpoint *e,
                       const struct udp_addr *from, unsigned worker, bool sure, co_usec now)
{
    struct rtc_route *r;

    sweep(t, now);
    r = rtc_table_find(t, e, from);
    if (r && (r->peer || r->worker != worker) && !sure && is_live(r, now))
        return;
    if (r && r->peer) {
        rtc_table_drop(t, r);
        r = NULL;
    }
    if (!r) {
        if (t->foreign == RTC_FOREIGN_MAX)
            return;
        t->foreign++;
        r = add(t, e, from);
    }
    r->worker = worker;
    r->used = now;
}

void rtc_table_forget(struct rtc_table *t, const struct rtc_endpoint *e,
                      const struct udp_addr *from, unsigned worker)
{
    struct rtc_route *r = rtc_table_find(t, e, from);

    if (r && !r->peer && r->worker == worker)
        rtc_table_drop(t, r);
}

bool rtc_table_passes(const struct rtc_table *t, const struct rtc_endpoint *e, co_usec now)
{
    const struct rtc_route *r = t->foreign > 0 ? next_of(t, NULL) : NULL;

    while (r && (r->peer || r->endpoint != e || now - r->used >= RTC_FOREIGN_KEEP))
        r = next_of(t, r);
    return r;
}

void rtc_table_forget_endpoint(struct rtc_table *t, const struct rtc_endpoint *e)
{
    for (struct rtc_route *r = next_of(t, NULL), *next; r; r = next) {
        next = next_of(t, r);
        if (r->endpoint == e)
            rtc_table_drop(t, r);
    }
    for (size_t i = 0; i < RTC_HINTS; i++) {
        if (t->hints[i].endpoint == e)
            t->hints[i] = (struct rtc_hint){ 0 };
    }
}

static struct rtc_hint *hint_of(struct rtc_table *t, const struct udp_addr *from)
{
    return &t->hints[udp_addr_hash(from, t->key) % RTC_HINTS];
}

void rtc_table_hint(struct rtc_table *t, const struct rtc_endpoint *e, const struct udp_addr *from,
                    unsigned worker, co_usec now)
{
    *hint_of(t, from) = (struct rtc_hint){ e, *from, worker, RTC_HINT_DATAGRAMS,
                                           now + RTC_HINT_KEEP };
}

bool rtc_table_hinted(struct rtc_table *t, const struct rtc_endpoint *e,
                      const struct udp_addr *from, co_usec now, unsigned *worker)
{
    struct rtc_hint *h = hint_of(t, from);

    *worker = h->worker;
    if (h->endpoint != e || now >= h->until || h->left == 0 || !udp_addr_same(&h->from, from))
        return false;
    h->left--;
    return true;
}

/* ---- names */

void rtc_table_name(struct rtc_table *t, struct rtc_name *name, struct rtc_peer *p,
                    const char *text)
{
    name->peer = p;
    name->text = text;
    table_put(&t->names, &name->link, siphash(t->key, text, strlen(text)));
}

void rtc_table_unname(struct rtc_table *t, struct rtc_name *name)
{
    if (name->peer)
        (void)table_remove(&t->names, &name->link);
    name->peer = NULL;
}

struct rtc_peer *rtc_table_named(const struct rtc_table *t, enum rtc_name_kind kind,
                                 const char *text, size_t size)
{
    uint64_t hash = siphash(t->key, text, size);
    struct table_link *l = NULL;

    while ((l = table_find(&t->names, hash, l))) {
        const struct rtc_name *n = container_of(l, struct rtc_name, link);

        if (n->kind == kind && strlen(n->text) == size && memcmp(n->text, text, size) == 0)
            return n->peer;
    }
    return NULL;
}
