/* SPDX-License-Identifier: MIT */
/* table.c - which session a datagram belongs to. */
#include "serve/rtc/table.h"

#include "base/must.h"
#include "serve/rtc/peer.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 256, SWEPT = 4 }; /* buckets; and those looked at for each new one of others */

void rtc_table_init(struct rtc_table *t)
{
    *t = (struct rtc_table){ .mask = FIRST - 1, .names_mask = FIRST - 1 };
    t->routes = must(calloc(FIRST, sizeof(*t->routes)));
    t->names = must(calloc(FIRST, sizeof(struct rtc_name *)));
    siphash_new_key(t->key);
}

void rtc_table_fini(struct rtc_table *t)
{
    for (size_t i = 0; i <= t->mask && t->routes; i++) {
        while (t->routes[i])
            rtc_table_drop(t, t->routes[i]);
    }
    free(t->routes);
    free(t->names);
}

/* ---- addresses */

static struct rtc_route **bucket_of(const struct rtc_table *t, const struct udp_addr *from)
{
    return &t->routes[udp_addr_hash(from, t->key) & t->mask];
}

struct rtc_route *rtc_table_find(const struct rtc_table *t, const struct rtc_endpoint *e,
                                 const struct udp_addr *from)
{
    struct rtc_route *r = *bucket_of(t, from);

    while (r && (r->endpoint != e || !udp_addr_same(&r->from, from)))
        r = r->next;
    return r;
}

static void grow(struct rtc_table *t)
{
    struct rtc_route **old = t->routes;
    size_t n = t->mask + 1;

    t->mask = n * 2 - 1;
    t->routes = must(calloc(n * 2, sizeof(struct rtc_route *)));
    for (size_t i = 0; i < n; i++) {
        for (struct rtc_route *r = old[i], *next; r; r = next) {
            struct rtc_route **at = bucket_of(t, &r->from);

            next = r->next;
            r->next = *at;
            *at = r;
        }
    }
    free(old);
}

static struct rtc_route *add(struct rtc_table *t, const struct rtc_endpoint *e,
                             const struct udp_addr *from)
{
    struct rtc_route *r = must(calloc(1, sizeof(*r))), **at;

    if (t->n++ > t->mask)
        grow(t);
    at = bucket_of(t, from);
    r->endpoint = e;
    r->from = *from;
    r->next = *at;
    *at = r;
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
    struct rtc_route **at = bucket_of(t, &r->from);

    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    if (r->peer)
        leave_peer(r);
    else
        t->foreign--;
    t->n--;
    free(r);
}

/* Anybody may have its checks come from anywhere, once more: those places go first. */
static bool is_spare(const struct rtc_route *r, const struct rtc_route *than)
{
    return r->sure != than->sure ? than->sure : r->used < than->used;
}

struct rtc_route *rtc_table_spare(const struct rtc_peer *p)
{
    struct rtc_route *spare = p->routes;
    unsigned n = 0;

    for (struct rtc_route *r = p->routes; r; r = r->next_own, n++) {
        if (is_spare(r, spare))
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
        r->sure = false; /* who gets it first does not know yet */
    }
    r->worker = via;
    r->used = now;
    r->sure |= sure;
    return r;
}

/* ---- those of others */

static void sweep(struct rtc_table *t, co_usec now)
{
    for (unsigned i = 0; i < SWEPT; i++) {
        struct rtc_route *r = t->routes[t->sweep++ & t->mask], *next;

        for (; r; r = next) {
            next = r->next;
            if (!r->peer && now - r->used > RTC_FOREIGN_KEEP)
                rtc_table_drop(t, r);
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
    for (size_t i = 0; i <= t->mask && t->foreign > 0; i++) {
        for (const struct rtc_route *r = t->routes[i]; r; r = r->next) {
            if (!r->peer && r->endpoint == e && now - r->used < RTC_FOREIGN_KEEP)
                return true;
        }
    }
    return false;
}

void rtc_table_forget_endpoint(struct rtc_table *t, const struct rtc_endpoint *e)
{
    for (size_t i = 0; i <= t->mask; i++) {
        for (struct rtc_route *r = t->routes[i], *next; r; r = next) {
            next = r->next;
            if (r->endpoint == e)
                rtc_table_drop(t, r);
        }
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

static struct rtc_name **name_bucket(const struct rtc_table *t, const char *text, size_t size)
{
    return &t->names[siphash(t->key, text, size) & t->names_mask];
}

static void put_name(struct rtc_table *t, struct rtc_name *name)
{
    struct rtc_name **at = name_bucket(t, name->text, strlen(name->text));

    name->next = *at;
    *at = name;
}

static void grow_names(struct rtc_table *t)
{
    struct rtc_name **old = t->names;
    size_t n = t->names_mask + 1;

    t->names_mask = n * 2 - 1;
    t->names = must(calloc(n * 2, sizeof(struct rtc_name *)));
    for (size_t i = 0; i < n; i++) {
        for (struct rtc_name *name = old[i], *next; name; name = next) {
            next = name->next;
            put_name(t, name);
        }
    }
    free(old);
}

void rtc_table_name(struct rtc_table *t, struct rtc_name *name, struct rtc_peer *p,
                    const char *text)
{
    if (t->n_names++ > t->names_mask)
        grow_names(t);
    name->peer = p;
    name->text = text;
    put_name(t, name);
}

void rtc_table_unname(struct rtc_table *t, struct rtc_name *name)
{
    struct rtc_name **at;

    if (!name->peer)
        return;
    at = name_bucket(t, name->text, strlen(name->text));
    while (*at != name)
        at = &(*at)->next;
    *at = name->next;
    name->peer = NULL;
    t->n_names--;
}

struct rtc_peer *rtc_table_named(const struct rtc_table *t, enum rtc_name_kind kind,
                                 const char *text, size_t size)
{
    const struct rtc_name *n = *name_bucket(t, text, size);

    while (n && (n->kind != kind || strlen(n->text) != size || memcmp(n->text, text, size) != 0))
        n = n->next;
    return n ? n->peer : NULL;
}
