/* SPDX-License-Identifier: MIT */
/* ice.c - checks of a session: what proves the peer, and which way to send. [ICE] RFC 8445. */
#include "proto/stun/ice.h"

#include <string.h>

/* A way that nothing came by for so long gives way to one that answers. A peer that nominates two
 * of them in turn moves us once in ICE_SETTLE; and one that nominates new ones all the time, who
 * may be at none of them, so often within it. */
#define ICE_SILENT CO_SECONDS(5)
#define ICE_SETTLE CO_SECONDS(1)

enum { BINDING = 1, ICE_HOPS = 3 };

/* "ours:theirs", [ICE] 7.2.2. */
static bool is_ours(const struct ice *ice, const struct stun_message *m)
{
    size_t ours = strlen(ice->ufrag), theirs = strlen(ice->peer_ufrag);

    return m->username && m->username_size == ours + 1 + theirs &&
           memcmp(m->username, ice->ufrag, ours) == 0 && m->username[ours] == ':' &&
           memcmp(m->username + ours + 1, ice->peer_ufrag, theirs) == 0;
}

static bool too_many(struct ice *ice, co_usec now)
{
    if (now - ice->second >= CO_SECONDS(1)) {
        ice->second = now;
        ice->rate = 0;
    }
    return ++ice->rate > ICE_RATE;
}

static bool same(const struct ice_way *a, const struct ice_way *b)
{
    return a->link == b->link && udp_addr_same(&a->path.peer, &b->path.peer) &&
           udp_addr_same(&a->path.local, &b->path.local);
}

static unsigned find(const struct ice *ice, const struct ice_way *way)
{
    unsigned i = 0;

    while (i < ice->n && !same(&ice->ways[i].way, way))
        i++;
    return i;
}

/* Its place; the one that was silent for the longest time makes room. */
static unsigned remember(struct ice *ice, const struct ice_way *way)
{
    unsigned i = find(ice, way), oldest = ice->chosen && ice->at == 0 ? 1 : 0;

    if (i < ice->n)
        return i;
    if (ice->n < ICE_PATHS) {
        i = ice->n++;
    } else {
        for (unsigned k = oldest + 1; k < ice->n; k++) {
            if (ice->ways[k].heard < ice->ways[oldest].heard && k != ice->at)
                oldest = k;
        }
        i = oldest;
    }
    memset(&ice->ways[i], 0, sizeof(ice->ways[i]));
    ice->ways[i].way = *way;
    return i;
}

static bool is_silent(const struct ice *ice, co_usec now)
{
    return now - ice->ways[ice->at].heard >= ICE_SILENT;
}

static void move(struct ice *ice, unsigned to, co_usec now)
{
    ice->hops = ice->chosen && now - ice->moved < ICE_SETTLE ? ice->hops + 1 : 0;
    ice->chosen = true;
    ice->at = to;
    ice->moved = now;
    ice->nominated = ice->ways[to].nominated;
}

/* Is that the way to send on from now? The first that is proven is; then one that is nominated, or
 * answers while the other is silent. */
static bool is_better(const struct ice *ice, unsigned i, bool nominated, co_usec now)
{
    if (!ice->chosen)
        return true;
    if (i == ice->at)
        return false;
    if (nominated && (now - ice->moved >= ICE_SETTLE ||
                      (!ice->ways[i].nominated && ice->hops < ICE_HOPS)))
        return true;
    return is_silent(ice, now);
}

static enum ice_said prove(struct ice *ice, const struct ice_way *way, bool nominated,
                           co_usec now)
{
    unsigned i = remember(ice, way);
    bool moves = is_better(ice, i, nominated, now);

    ice->ways[i].nominated |= nominated;
    if (moves)
        move(ice, i, now);
    ice->nominated = ice->ways[ice->at].nominated;
    ice->heard = ice->ways[i].heard = now;
    return moves ? ICE_MOVED : ICE_ANSWERED;
}

enum ice_said ice_input(struct ice *ice, const struct stun_message *m, const struct ice_way *way,
                        co_usec now, uint8_t out[STUN_MAX], size_t *size)
{
    unsigned error = 0;

    *size = 0;
    if (m->class != STUN_REQUEST || m->method != BINDING || !is_ours(ice, m) ||
        !stun_is_of(m, ice->pwd) || too_many(ice, now)) {
        ice->refused++;
        return ICE_DROPPED;
    }
    ice->checks++;
    if (m->n_unknown > 0)
        error = 420; /* [STUN] 6.3.1 */
    else if (ice->strict && m->controlled)
        error = 487; /* [ICE] 7.3.1.1: one that is lite never takes the other role */
    if (error) {
        *size = stun_write_error(out, m, error, ice->pwd);
        return ICE_ANSWERED;
    }
    *size = stun_write_success(out, m, &way->path.peer, ice->pwd);
    return prove(ice, way, m->use_candidate, now);
}

bool ice_heard(struct ice *ice, const struct ice_way *way, co_usec now)
{
    unsigned i = find(ice, way);
    bool moves;

    if (i == ice->n)
        return false;
    moves = is_better(ice, i, false, now);
    if (moves)
        move(ice, i, now);
    ice->heard = ice->ways[i].heard = now;
    return moves;
}

bool ice_knows(const struct ice *ice, const struct ice_way *way)
{
    return find(ice, way) < ice->n;
}

void ice_forget(struct ice *ice, const void *link)
{
    struct ice_way at = { 0 };
    unsigned n = 0, best = 0;

    if (ice->chosen)
        at = ice->ways[ice->at].way;
    for (unsigned i = 0; i < ice->n; i++) {
        if (ice->ways[i].way.link != link)
            ice->ways[n++] = ice->ways[i];
    }
    ice->n = n;
    if (!ice->chosen)
        return;
    ice->at = find(ice, &at);
    if (ice->at < n)
        return;
    for (unsigned i = 1; i < n; i++) {
        if (ice->ways[i].heard > ice->ways[best].heard)
            best = i;
    }
    ice->chosen = n > 0;
    ice->at = best;
    ice->nominated = n > 0 && ice->ways[best].nominated;
}

const struct ice_way *ice_way(const struct ice *ice)
{
    return ice->chosen ? &ice->ways[ice->at].way : NULL;
}
