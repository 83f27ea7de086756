/* SPDX-License-Identifier: MIT */
/* directory.c - finds peers by their peer ids. */
#include "serve/rtmfp/directory.h"

#include "base/ip.h"
#include "base/list.h"
#include "base/must.h"
#include "session/address_limits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One bucket per session of the default limit. Growing the table later would block all workers for
 * milliseconds; the memory of unused buckets is never touched. */
enum { BUCKETS = 1 << 16 };

struct rtmfp_presence {
    struct rtmfp_presence *next;   /* next in the bucket; entries with the same id in order of
                                    * arrival */
    struct rtmfp_seat seat;
    uint8_t id[RTMFP_PEER_ID];
    uint8_t n;
    struct udp_addr *reported;     /* n entries; or NULL */
};

struct rtmfp_directory {
    pthread_mutex_t lock;
    size_t n, most;
    uint8_t key[SIPHASH_KEY];
    struct rtmfp_presence **v;
};

struct rtmfp_directory *rtmfp_directory_new(size_t most)
{
    struct rtmfp_directory *d = must(calloc(1, sizeof(*d)));

    (void)pthread_mutex_init(&d->lock, NULL);
    siphash_new_key(d->key);
    d->most = most;
    d->v = must(calloc(BUCKETS, sizeof(struct rtmfp_presence *)));
    return d;
}

void rtmfp_directory_free(struct rtmfp_directory *d)
{
    if (!d)
        return;
    (void)pthread_mutex_destroy(&d->lock);
    free(d->v);
    free(d);
}

/* ---- the table, under the lock */

static struct rtmfp_presence **bucket_of(const struct rtmfp_directory *d, const uint8_t *id)
{
    return &d->v[siphash(d->key, id, RTMFP_PEER_ID) % BUCKETS];
}

/* Returns the first entry with this id, or the end of the bucket. */
static struct rtmfp_presence **find(const struct rtmfp_directory *d, const uint8_t *id)
{
    struct rtmfp_presence **at = bucket_of(d, id);

    while (*at && memcmp((*at)->id, id, RTMFP_PEER_ID) != 0)
        at = &(*at)->next;
    return at;
}

static void append(const struct rtmfp_directory *d, struct rtmfp_presence *p)
{
    struct rtmfp_presence **at = bucket_of(d, p->id);

    while (*at)
        at = &(*at)->next;
    p->next = NULL;
    *at = p;
}

static unsigned count_of(const struct rtmfp_directory *d, const uint8_t *id)
{
    unsigned n = 0;

    for (const struct rtmfp_presence *p = *bucket_of(d, id); p; p = p->next)
        n += memcmp(p->id, id, RTMFP_PEER_ID) == 0;
    return n;
}

/* ---- entries */

struct rtmfp_presence *rtmfp_directory_enter(struct rtmfp_directory *d,
                                             const uint8_t id[RTMFP_PEER_ID],
                                             const struct rtmfp_seat *seat,
                                             struct rtmfp_seat *holder)
{
    struct rtmfp_presence *p = must(calloc(1, sizeof(*p)));
    const struct rtmfp_presence *first;
    bool room;

    p->seat = *seat;
    memcpy(p->id, id, RTMFP_PEER_ID);
    (void)pthread_mutex_lock(&d->lock);
    first = *find(d, id);
    *holder = first ? first->seat : (struct rtmfp_seat){ .session = 0 };
    room = d->n < d->most && count_of(d, id) < RTMFP_SAME_ID_MAX;
    if (room) {
        d->n++;
        append(d, p);
    }
    (void)pthread_mutex_unlock(&d->lock);
    if (room)
        return p;
    free(p);
    return NULL;
}

void rtmfp_directory_leave(struct rtmfp_directory *d, struct rtmfp_presence *p)
{
    (void)pthread_mutex_lock(&d->lock);
    LIST_CUT(bucket_of(d, p->id), p);
    d->n--;
    (void)pthread_mutex_unlock(&d->lock);
    free(p->reported);
    free(p);
}

void rtmfp_directory_move(struct rtmfp_directory *d, struct rtmfp_presence *p,
                          const struct rtmfp_seat *seat)
{
    (void)pthread_mutex_lock(&d->lock);
    p->seat = *seat;
    (void)pthread_mutex_unlock(&d->lock);
}

void rtmfp_directory_pass(struct rtmfp_directory *d, const uint8_t id[RTMFP_PEER_ID],
                          unsigned worker, uint32_t session)
{
    struct rtmfp_presence **at, *p;

    (void)pthread_mutex_lock(&d->lock);
    at = find(d, id);
    p = *at;
    if (p && p->seat.worker == worker && p->seat.session == session) {
        *at = p->next;
        append(d, p);
    }
    (void)pthread_mutex_unlock(&d->lock);
}

size_t rtmfp_directory_count(struct rtmfp_directory *d)
{
    size_t n;

    (void)pthread_mutex_lock(&d->lock);
    n = d->n;
    (void)pthread_mutex_unlock(&d->lock);
    return n;
}

/* ---- addresses */

/* Returns whether another peer could use this address: not loopback, multicast, broadcast or
 * zero. */
static bool is_usable(const struct udp_addr *a)
{
    static const uint8_t loopback[IP_SIZE] = { [15] = 1 }, none[IP_SIZE];
    const uint8_t *v4 = a->ip + 12;

    if (a->port == 0)
        return false;
    if (ip_is_v4(a->ip))
        return v4[0] != 0 && v4[0] != 127 && v4[0] < 224;
    return a->ip[0] != 0xff && memcmp(a->ip, loopback, IP_SIZE) != 0 &&
           memcmp(a->ip, none, IP_SIZE) != 0;
}

static bool is_among(const struct udp_addr *v, size_t n, const struct udp_addr *a)
{
    for (size_t i = 0; i < n; i++) {
        if (udp_addr_same(&v[i], a))
            return true;
    }
    return false;
}

size_t rtmfp_directory_report(struct rtmfp_directory *d, struct rtmfp_presence *p,
                              const struct rtmfp_address *list, size_t n)
{
    struct udp_addr kept[RTMFP_REPORTED_MAX], *copy = NULL, *old;
    size_t k = 0, fine = 0;

    for (size_t i = 0; i < n; i++) {
        if (!is_usable(&list[i].at))
            continue;
        fine++;
        if (k < RTMFP_REPORTED_MAX && !is_among(kept, k, &list[i].at))
            kept[k++] = list[i].at;
    }
    if (k > 0) {
        copy = must(malloc(k * sizeof(*copy)));
        memcpy(copy, kept, k * sizeof(*copy));
    }
    (void)pthread_mutex_lock(&d->lock);
    old = p->reported;
    p->reported = copy;
    p->n = (uint8_t)k;
    (void)pthread_mutex_unlock(&d->lock);
    free(old);
    return fine;
}

/* Lists the addresses of a peer. Private ones are included only if both peers have the same public
 * address, hence are behind the same NAT. */
static size_t list_addresses(const struct rtmfp_presence *p, const struct udp_addr *requester,
                   struct rtmfp_address out[RTMFP_TOLD_MAX])
{
    bool same_network = memcmp(p->seat.at.ip, requester->ip, sizeof(requester->ip)) == 0;
    size_t n = 0;

    out[n++] = (struct rtmfp_address){ .origin = RTMFP_OBSERVED, .at = p->seat.at };
    for (size_t i = 0; i < p->n && n < RTMFP_TOLD_MAX; i++) {
        const struct udp_addr *a = &p->reported[i];

        if (udp_addr_same(a, &p->seat.at) || (address_is_private(a->ip) && !same_network))
            continue;
        out[n++] = (struct rtmfp_address){ .origin = RTMFP_LOCAL, .at = *a };
    }
    return n;
}

size_t rtmfp_directory_find(struct rtmfp_directory *d, const uint8_t id[RTMFP_PEER_ID],
                            const struct udp_addr *requester, struct rtmfp_seat *seat,
                            struct rtmfp_address out[RTMFP_TOLD_MAX])
{
    const struct rtmfp_presence *p;
    size_t n = 0;

    (void)pthread_mutex_lock(&d->lock);
    p = *find(d, id);
    if (p) {
        *seat = p->seat;
        n = list_addresses(p, requester, out);
    }
    (void)pthread_mutex_unlock(&d->lock);
    return n;
}
