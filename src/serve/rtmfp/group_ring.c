/* SPDX-License-Identifier: MIT */
/* group_ring.c - members of NetGroups. */
#include "serve/rtmfp/group_ring.h"

#include "base/must.h"
#include "base/siphash.h"
#include "proto/rtmfp/certificate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { JOIN = 0x01, SPECIFIER = 0x10, HASHED = 0x15, BUCKETS = 1024, RING_FIRST = 4,
       LOOKED_AT = 64 /* newest members searched for some that are not silent */ };

struct netgroup {
    struct netgroup *next;                  /* next in the bucket */
    uint8_t id[RTMFP_GROUP_ID];
    struct rtmfp_member *newest;            /* newest first */
    size_t n, room;
    struct rtmfp_member **ring;             /* n members, by address */
};

struct rtmfp_member {
    struct netgroup *group;
    struct rtmfp_member *next_of_session;
    struct rtmfp_member *older, *newer;
    uint64_t flow;
    unsigned worker;
    uint32_t session;
    bool silent;
    uint8_t peer_id[RTMFP_PEER_ID];
    uint8_t address[RTMFP_HASH];
};

struct rtmfp_netgroups {
    pthread_mutex_t lock;
    size_t members, groups, most;
    uint64_t draws;                         /* random members drawn so far */
    uint8_t key[SIPHASH_KEY];
    struct netgroup *v[BUCKETS];
};

/* ---- the message */

bool rtmfp_group_read(struct rtmfp_bytes message, uint8_t id[RTMFP_GROUP_ID])
{
    struct rd r = rtmfp_rd(message), in;
    uint8_t format;

    if (rd_u8(&r) != JOIN)
        return false;
    in = rtmfp_rd(rtmfp_bytes_read(&r, message.n));
    format = rd_u8(&in);
    if (r.bad || in.bad)
        return false;
    if (format == HASHED && rd_left(&in) == RTMFP_GROUP_ID) {
        memcpy(id, rtmfp_rest(&in).p, RTMFP_GROUP_ID);
        return true;
    }
    if (format != SPECIFIER || rd_left(&in) == 0)
        return false;
    rtmfp_sha256(rtmfp_rest(&in), id);
    return true;
}

/* ---- groups, under the lock */

struct rtmfp_netgroups *rtmfp_netgroups_new(size_t most)
{
    struct rtmfp_netgroups *g = must(calloc(1, sizeof(*g)));

    (void)pthread_mutex_init(&g->lock, NULL);
    siphash_new_key(g->key);
    g->most = most;
    return g;
}

void rtmfp_netgroups_free(struct rtmfp_netgroups *g)
{
    if (!g)
        return;
    (void)pthread_mutex_destroy(&g->lock);
    free(g);
}

static struct netgroup **find_group(struct rtmfp_netgroups *g, const uint8_t *id)
{
    struct netgroup **at = &g->v[siphash(g->key, id, RTMFP_GROUP_ID) % BUCKETS];

    while (*at && memcmp((*at)->id, id, RTMFP_GROUP_ID) != 0)
        at = &(*at)->next;
    return at;
}

static struct netgroup *group_of(struct rtmfp_netgroups *g, const uint8_t *id)
{
    struct netgroup **at = find_group(g, id);

    if (!*at) {
        *at = must(calloc(1, sizeof(**at)));
        memcpy((*at)->id, id, RTMFP_GROUP_ID);
        g->groups++;
    }
    return *at;
}

static void drop_if_empty(struct rtmfp_netgroups *g, struct netgroup *group)
{
    struct netgroup **at;

    if (group->n > 0)
        return;
    at = find_group(g, group->id);
    *at = group->next;
    g->groups--;
    free(group->ring);
    free(group);
}

/* Returns the first position in the ring at or after this address. */
static size_t place_of(const struct netgroup *group, const uint8_t *address)
{
    size_t low = 0, high = group->n;

    while (low < high) {
        size_t at = low + (high - low) / 2;

        if (memcmp(group->ring[at]->address, address, RTMFP_HASH) < 0)
            low = at + 1;
        else
            high = at;
    }
    return low;
}

static void enter(struct netgroup *group, struct rtmfp_member *m)
{
    size_t at = place_of(group, m->address);

    if (group->n == group->room) {
        group->room = group->room ? group->room * 2 : RING_FIRST;
        group->ring = must(realloc(group->ring, group->room * sizeof(struct rtmfp_member *)));
    }
    memmove(group->ring + at + 1, group->ring + at,
            (group->n - at) * sizeof(struct rtmfp_member *));
    group->ring[at] = m;
    group->n++;
    m->group = group;
    m->older = group->newest;
    if (group->newest)
        group->newest->newer = m;
    group->newest = m;
}

static void take_out(struct rtmfp_netgroups *g, struct rtmfp_member *m)
{
    struct netgroup *group = m->group;
    size_t at = place_of(group, m->address);

    while (group->ring[at] != m) /* several sessions of one peer have the same address */
        at++;
    group->n--;
    memmove(group->ring + at, group->ring + at + 1,
            (group->n - at) * sizeof(struct rtmfp_member *));
    if (m->newer)
        m->newer->older = m->older;
    else
        group->newest = m->older;
    if (m->older)
        m->older->newer = m->newer;
    g->members--;
    drop_if_empty(g, group);
}

/* ---- members to notify, under the lock and before the new one is added */

static void add_peer(struct rtmfp_joined *out, const struct rtmfp_member *m, const uint8_t *to)
{
    if (m->silent || memcmp(m->peer_id, to, RTMFP_PEER_ID) == 0)
        return; /* or an earlier session of the same peer */
    for (size_t i = 0; i < out->n; i++) {
        if (memcmp(out->told[i], m->peer_id, RTMFP_PEER_ID) == 0)
            return;
    }
    memcpy(out->told[out->n++], m->peer_id, RTMFP_PEER_ID);
}

/* Adds one random member. Without it, peers that join in different parts of the ring would never
 * learn of each other. */
static void add_random(struct rtmfp_netgroups *g, const struct netgroup *group,
                           struct rtmfp_joined *out, const uint8_t *to)
{
    uint64_t draw = ++g->draws;
    size_t at = (size_t)(siphash(g->key, &draw, sizeof(draw)) % group->n);

    for (size_t i = 0, had = out->n; i <= RTMFP_JOINER_TOLD && i < group->n && out->n == had; i++)
        add_peer(out, group->ring[(at + i) % group->n], to);
}

static void find_peers(struct rtmfp_netgroups *g, const struct netgroup *group,
                       struct rtmfp_joined *out, const uint8_t *to)
{
    const struct rtmfp_member *m = group->newest;

    for (unsigned i = 0; m && i < LOOKED_AT && out->n < RTMFP_LAST_JOINED; i++, m = m->older)
        add_peer(out, m, to);
    if (group->n > 0)
        add_random(g, group, out, to);
}

static void add_neighbour(struct rtmfp_joined *out, const struct rtmfp_member *m, const uint8_t *of)
{
    struct rtmfp_neighbour *n = &out->neighbours[out->near];

    if (memcmp(m->peer_id, of, RTMFP_PEER_ID) == 0)
        return;
    n->worker = m->worker;
    n->session = m->session;
    n->flow = m->flow;
    memcpy(n->peer_id, m->peer_id, RTMFP_PEER_ID);
    out->near++;
}

/* Picks half of the neighbours on each side; all members, if there are no more. */
static void find_neighbours(const struct netgroup *group, struct rtmfp_joined *out,
                            const struct rtmfp_member *m)
{
    size_t at = place_of(group, m->address), n = group->n;

    if (n <= RTMFP_NEAREST) {
        for (size_t i = 0; i < n; i++)
            add_neighbour(out, group->ring[i], m->peer_id);
        return;
    }
    for (size_t i = 0; i < RTMFP_NEAREST / 2; i++) {
        add_neighbour(out, group->ring[(at + i) % n], m->peer_id);
        add_neighbour(out, group->ring[(at + n - 1 - i) % n], m->peer_id);
    }
}

/* ---- sessions */

static bool is_in(const struct rtmfp_groups_of *s, uint64_t flow, const uint8_t *id)
{
    for (const struct rtmfp_member *m = s->first; m; m = m->next_of_session) {
        if (m->flow == flow || memcmp(m->group->id, id, RTMFP_GROUP_ID) == 0)
            return true;
    }
    return false;
}

static void address_of(const uint8_t peer_id[RTMFP_PEER_ID], uint8_t out[RTMFP_HASH])
{
    uint8_t epd[RTMFP_EPD_OF_ID];
    struct wr w = rtmfp_wr(epd, sizeof(epd));

    rtmfp_epd_write_id(&w, peer_id);
    rtmfp_sha256(rtmfp_bytes(epd, w.len), out);
}

static struct rtmfp_member *member_of(const struct rtmfp_groups_of *s, uint64_t flow)
{
    struct rtmfp_member *m = must(calloc(1, sizeof(*m)));

    m->flow = flow;
    m->worker = s->worker;
    m->session = s->session;
    m->silent = s->silent;
    memcpy(m->peer_id, s->peer_id, RTMFP_PEER_ID);
    address_of(s->peer_id, m->address);
    return m;
}

bool rtmfp_netgroups_join(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s, uint64_t flow,
                          const uint8_t id[RTMFP_GROUP_ID], struct rtmfp_joined *out)
{
    struct netgroup *group;
    struct rtmfp_member *m;
    bool room;

    out->n = out->near = 0;
    if (s->n >= RTMFP_GROUPS_MAX || is_in(s, flow, id))
        return false;
    m = member_of(s, flow);
    (void)pthread_mutex_lock(&g->lock);
    room = g->members < g->most;
    if (room) {
        g->members++;
        group = group_of(g, id);
        find_peers(g, group, out, s->peer_id);
        find_neighbours(group, out, m);
        enter(group, m);
    }
    (void)pthread_mutex_unlock(&g->lock);
    if (!room) {
        free(m);
        return false;
    }
    m->next_of_session = s->first;
    s->first = m;
    s->n++;
    return true;
}

static void remove_member(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s,
                          struct rtmfp_member **at)
{
    struct rtmfp_member *m = *at;

    *at = m->next_of_session;
    s->n--;
    (void)pthread_mutex_lock(&g->lock);
    take_out(g, m);
    (void)pthread_mutex_unlock(&g->lock);
    free(m);
}

void rtmfp_netgroups_leave(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s, uint64_t flow)
{
    struct rtmfp_member **at = &s->first;

    while (*at && (*at)->flow != flow)
        at = &(*at)->next_of_session;
    if (*at)
        remove_member(g, s, at);
}

void rtmfp_netgroups_leave_all(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s)
{
    while (s->first)
        remove_member(g, s, &s->first);
}

void rtmfp_netgroups_silent(struct rtmfp_netgroups *g, struct rtmfp_groups_of *s, bool silent)
{
    s->silent = silent;
    (void)pthread_mutex_lock(&g->lock);
    for (struct rtmfp_member *m = s->first; m; m = m->next_of_session)
        m->silent = silent;
    (void)pthread_mutex_unlock(&g->lock);
}

void rtmfp_netgroups_count(struct rtmfp_netgroups *g, size_t *groups, size_t *members)
{
    (void)pthread_mutex_lock(&g->lock);
    *groups = g->groups;
    *members = g->members;
    (void)pthread_mutex_unlock(&g->lock);
}
