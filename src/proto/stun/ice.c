/* SPDX-License-Identifier: MIT */
/* ice.c - checks of a session: what proves the peer, and which way to send. [ICE] RFC 8445. */
#include "proto/stun/ice.h"

#include <stdio.h>
#include <string.h>

/* A way that nothing came by for so long gives way to one that answers. A peer that nominates two
 * of them in turn moves us once in ICE_SETTLE; and one that nominates new ones all the time, who
 * may be at none of them, so often within it. */
#define ICE_SILENT CO_SECONDS(5)
/* The same of a way that was not there when something last came by the other: a NAT has forgotten
 * the peer, who checks on without a nomination. */
#define ICE_QUIET CO_MS(500)
#define ICE_SETTLE CO_SECONDS(1)
/* A check of ours is sent again with the peer's next one, as it is for so long: a late answer is as
 * good. */
#define ASK_AGAIN CO_MS(50)
#define ASK_ANEW CO_SECONDS(3)

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

static bool same(const struct ice_path *a, const struct ice_path *b)
{
    return a->link == b->link && udp_addr_same(&a->path.peer, &b->path.peer) &&
           udp_addr_same(&a->path.local, &b->path.local);
}

static unsigned find(const struct ice *ice, const struct ice_path *way)
{
    unsigned i = 0;

    while (i < ice->n && !same(&ice->ways[i].way, way))
        i++;
    return i;
}

/* Its place; the one that was silent for the longest time makes room. */
static unsigned remember(struct ice *ice, const struct ice_path *way, co_usec now)
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
    ice->ways[i].since = now;
    return i;
}

/* Is the chosen way, so that another one may take its place? */
static bool is_silent(const struct ice *ice, unsigned other, co_usec now)
{
    co_usec heard = ice->ways[ice->at].heard;

    return now - heard >= (ice->ways[other].since > heard ? ICE_QUIET : ICE_SILENT);
}

static void move(struct ice *ice, unsigned to, co_usec now)
{
    ice->hops = ice->chosen && now - ice->moved < ICE_SETTLE ? ice->hops + 1 : 0;
    ice->chosen = true;
    ice->at = to;
    ice->moved = now;
    ice->nominated = ice->ways[to].nominated;
}

/* Is that the way to send on from now, by a check alone? The first that is proven is; then one that
 * is nominated, or answers while the other is silent, as long as the peer is not known to be
 * anywhere. */
static bool is_better(const struct ice *ice, unsigned i, bool nominated, co_usec now)
{
    if (!ice->chosen)
        return true;
    if (i == ice->at || ice->sure)
        return false;
    if (nominated && (now - ice->moved >= ICE_SETTLE ||
                      (!ice->ways[i].nominated && ice->hops < ICE_HOPS)))
        return true;
    return is_silent(ice, i, now);
}

/* ---- checks that came before */

static uint32_t digest_of(const struct ice_path *way)
{
    uint32_t h = 2166136261u ^ way->path.peer.port;

    for (size_t i = 0; i < sizeof(way->path.peer.ip); i++)
        h = (h ^ way->path.peer.ip[i]) * 16777619u;
    return h;
}

enum seen { NEW, AGAIN, ELSEWHERE };

/* Whoever has no answer sends the same again from where it is; from elsewhere it is another. */
static enum seen look_back(struct ice *ice, const struct stun_message *m,
                           const struct ice_path *way)
{
    uint32_t from = digest_of(way);
    unsigned n = ice->n_seen < ICE_SEEN ? ice->n_seen : ICE_SEEN;
    uint64_t id;

    memcpy(&id, m->id + STUN_ID - sizeof(id), sizeof(id));
    for (unsigned i = 0; i < STUN_ID - sizeof(id); i++)
        id ^= (uint64_t)m->id[i] << 8 * i;
    for (unsigned i = 0; i < n; i++) {
        if (ice->seen_id[i] == id)
            return ice->seen_from[i] == from ? AGAIN : ELSEWHERE;
    }
    ice->seen_id[ice->n_seen % ICE_SEEN] = id;
    ice->seen_from[ice->n_seen++ % ICE_SEEN] = from;
    return NEW;
}

static enum ice_said prove(struct ice *ice, const struct ice_path *way, bool nominated,
                           co_usec now)
{
    unsigned i = remember(ice, way, now);
    bool moves = is_better(ice, i, nominated, now);

    ice->ways[i].nominated |= nominated;
    if (moves)
        move(ice, i, now);
    ice->nominated = ice->ways[ice->at].nominated;
    ice->heard = ice->ways[i].heard = now;
    return moves ? ICE_MOVED : ICE_ANSWERED;
}

enum ice_said ice_input(struct ice *ice, const struct stun_message *m, const struct ice_path *way,
                        co_usec now, uint8_t out[STUN_MAX], size_t *size)
{
    unsigned error = 0;
    enum seen seen = NEW;

    *size = 0;
    if (m->class != STUN_REQUEST || m->method != BINDING || !is_ours(ice, m) ||
        !stun_is_of(m, ice->pwd) || (seen = look_back(ice, m, way)) == ELSEWHERE ||
        too_many(ice, now)) {
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
    if (seen == AGAIN && ice_knows(ice, way)) /* it tells nothing new */
        return ICE_ANSWERED;
    return prove(ice, way, m->use_candidate, now);
}

bool ice_heard(struct ice *ice, const struct ice_path *way, co_usec now)
{
    unsigned i = find(ice, way);
    bool moves;

    if (i == ice->n)
        return false;
    moves = i != ice->at && (!ice->sure || is_silent(ice, i, now));
    if (moves)
        move(ice, i, now);
    ice->sure |= i == ice->at;
    ice->heard = ice->ways[i].heard = now;
    return moves;
}

/* ---- where the peer is */

void ice_reached(struct ice *ice, const struct ice_path *way)
{
    ice->sure |= ice->chosen && find(ice, way) == ice->at;
}

bool ice_is_wanted(const struct ice *ice, const struct ice_path *way, co_usec now)
{
    unsigned i = find(ice, way);

    return ice->chosen && i < ice->n && i != ice->at &&
           (ice->ways[i].nominated || is_silent(ice, i, now));
}

size_t ice_ask(struct ice *ice, const struct ice_path *way, const uint8_t id[STUN_ID],
               const char *peer_pwd, co_usec now, uint8_t out[STUN_MAX])
{
    char name[ICE_UFRAG_MAX + ICE_OURS_MAX + 2];
    struct stun_check c = { .username = name, .password = peer_pwd, .controlled = true,
                            .has_priority = true, .priority = 1 };
    unsigned i = find(ice, way);

    if (i == ice->n || (ice->ways[i].asked && now - ice->ways[i].asked < ASK_AGAIN))
        return 0;
    if (!ice->ways[i].asked || now - ice->ways[i].asked_first >= ASK_ANEW) {
        memcpy(ice->ways[i].asked_id, id, STUN_ID);
        ice->ways[i].asked_first = now;
    }
    ice->ways[i].asked = now;
    memcpy(c.id, ice->ways[i].asked_id, STUN_ID);
    memcpy(&c.tie, c.id, sizeof(c.tie));
    (void)snprintf(name, sizeof(name), "%s:%s", ice->peer_ufrag, ice->ufrag);
    return stun_write_check(out, &c);
}

enum ice_said ice_answer(struct ice *ice, const struct stun_message *m, const struct ice_path *way,
                         const char *peer_pwd, co_usec now)
{
    unsigned i = find(ice, way);
    bool moves;

    if (i == ice->n || !ice->ways[i].asked || m->method != BINDING ||
        (m->class != STUN_SUCCESS && m->class != STUN_ERROR) ||
        memcmp(m->id, ice->ways[i].asked_id, STUN_ID) != 0 || !stun_is_of(m, peer_pwd)) {
        ice->refused++;
        return ICE_DROPPED;
    }
    moves = !ice->chosen || !ice->sure || ice_is_wanted(ice, way, now);
    ice->ways[i].asked = 0;
    ice->heard = ice->ways[i].heard = now;
    if (moves && i != ice->at)
        move(ice, i, now);
    else
        moves = false;
    ice->sure |= i == ice->at;
    return moves ? ICE_MOVED : ICE_ANSWERED;
}

bool ice_knows(const struct ice *ice, const struct ice_path *way)
{
    return find(ice, way) < ice->n;
}

void ice_forget(struct ice *ice, const void *link)
{
    struct ice_path at = { 0 };
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
    ice->sure = false;
    ice->at = best;
    ice->nominated = n > 0 && ice->ways[best].nominated;
}

const struct ice_path *ice_path(const struct ice *ice)
{
    return ice->chosen ? &ice->ways[ice->at].way : NULL;
}
