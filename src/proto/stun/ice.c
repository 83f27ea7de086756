/* SPDX-License-Identifier: MIT */
/* ice.c - checks of a session: authentication and path selection. [ICE] RFC 8445. */
#include "proto/stun/ice.h"

#include <stdio.h>
#include <string.h>

/* A path that was silent this long is replaced by one that answers. A peer that nominates two paths
 * alternately switches at most once in ICE_SETTLE. A peer that keeps nominating new paths, and may
 * be at none of them, switches at most ICE_HOPS times within it. */
#define ICE_SILENT CO_SECONDS(5)
/* Shorter limit if the other path appeared after the last packet on this one: a NAT forgot the
 * peer, which continues its checks without a nomination. */
#define ICE_QUIET CO_MS(500)
#define ICE_SETTLE CO_SECONDS(1)
/* Our check is repeated with the peer's next one, with the same id for this long, because a late
 * response is just as good. */
#define CHECK_INTERVAL CO_MS(50)
#define CHECK_LIFETIME CO_SECONDS(3)

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

static unsigned find(const struct ice *ice, const struct ice_path *path)
{
    unsigned i = 0;

    while (i < ice->n && !same(&ice->paths[i].path, path))
        i++;
    return i;
}

/* Returns the index of the path; replaces the one that was silent longest if there is no room. */
static unsigned remember(struct ice *ice, const struct ice_path *path, co_usec now)
{
    unsigned i = find(ice, path), oldest = ice->chosen && ice->at == 0 ? 1 : 0;

    if (i < ice->n)
        return i;
    if (ice->n < ICE_PATHS) {
        i = ice->n++;
    } else {
        for (unsigned k = oldest + 1; k < ice->n; k++) {
            if (ice->paths[k].received_at < ice->paths[oldest].received_at && k != ice->at)
                oldest = k;
        }
        i = oldest;
    }
    memset(&ice->paths[i], 0, sizeof(ice->paths[i]));
    ice->paths[i].path = *path;
    ice->paths[i].since = now;
    return i;
}

/* Whether the chosen path is silent, so that another one may replace it. */
static bool is_silent(const struct ice *ice, unsigned other, co_usec now)
{
    co_usec received = ice->paths[ice->at].received_at;

    return now - received >= (ice->paths[other].since > received ? ICE_QUIET : ICE_SILENT);
}

static void move(struct ice *ice, unsigned to, co_usec now)
{
    ice->hops = ice->chosen && now - ice->moved < ICE_SETTLE ? ice->hops + 1 : 0;
    ice->chosen = true;
    ice->at = to;
    ice->moved = now;
    ice->nominated = ice->paths[to].nominated;
}

/* Whether a check alone makes this the path to send on. The first proven path is chosen. Then, as
 * long as no path is known to reach the peer, a nominated one replaces it, or one that answers
 * while the chosen path is silent. */
static bool is_better(const struct ice *ice, unsigned i, bool nominated, co_usec now)
{
    if (!ice->chosen)
        return true;
    if (i == ice->at || ice->sure)
        return false;
    if (nominated && (now - ice->moved >= ICE_SETTLE ||
                      (!ice->paths[i].nominated && ice->hops < ICE_HOPS)))
        return true;
    return is_silent(ice, i, now);
}

/* ---- repeated checks */

static uint32_t digest_of(const struct ice_path *path)
{
    uint32_t h = 2166136261u ^ path->path.peer.port;

    for (size_t i = 0; i < sizeof(path->path.peer.ip); i++)
        h = (h ^ path->path.peer.ip[i]) * 16777619u;
    return h;
}

enum seen { CHECK_NEW, CHECK_REPEATED, CHECK_REPLAYED };

/* Classifies a check. A peer that got no response repeats its check from the same address; from
 * another address it is a replay. */
static enum seen find_replay(struct ice *ice, const struct stun_message *m,
                           const struct ice_path *path)
{
    uint32_t from = digest_of(path);
    unsigned n = ice->n_seen < ICE_SEEN ? ice->n_seen : ICE_SEEN;
    uint64_t id;

    memcpy(&id, m->id + STUN_ID - sizeof(id), sizeof(id));
    for (unsigned i = 0; i < STUN_ID - sizeof(id); i++)
        id ^= (uint64_t)m->id[i] << 8 * i;
    for (unsigned i = 0; i < n; i++) {
        if (ice->seen_id[i] == id)
            return ice->seen_from[i] == from ? CHECK_REPEATED : CHECK_REPLAYED;
    }
    ice->seen_id[ice->n_seen % ICE_SEEN] = id;
    ice->seen_from[ice->n_seen++ % ICE_SEEN] = from;
    return CHECK_NEW;
}

static enum ice_result prove(struct ice *ice, const struct ice_path *path, bool nominated,
                             co_usec now)
{
    unsigned i = remember(ice, path, now);
    bool moves = is_better(ice, i, nominated, now);

    ice->paths[i].nominated |= nominated;
    if (moves)
        move(ice, i, now);
    ice->nominated = ice->paths[ice->at].nominated;
    ice->received_at = ice->paths[i].received_at = now;
    return moves ? ICE_MOVED : ICE_ANSWERED;
}

enum ice_result ice_input(struct ice *ice, const struct stun_message *m,
                          const struct ice_path *path,
                          co_usec now, uint8_t out[STUN_MAX], size_t *size)
{
    unsigned error = 0;
    enum seen seen = CHECK_NEW;

    *size = 0;
    if (m->class != STUN_REQUEST || m->method != BINDING || !is_ours(ice, m) ||
        !stun_is_of(m, ice->pwd) || (seen = find_replay(ice, m, path)) == CHECK_REPLAYED ||
        too_many(ice, now)) {
        ice->refused++;
        return ICE_DROPPED;
    }
    ice->checks++;
    if (m->n_unknown > 0)
        error = 420; /* [STUN] 6.3.1 */
    else if (ice->strict && m->controlled)
        error = 487; /* [ICE] 7.3.1.1: a lite agent never takes the other role */
    if (error) {
        *size = stun_write_error(out, m, error, ice->pwd);
        return ICE_ANSWERED;
    }
    *size = stun_write_success(out, m, &path->path.peer, ice->pwd);
    if (seen == CHECK_REPEATED && ice_knows(ice, path)) /* nothing new */
        return ICE_ANSWERED;
    return prove(ice, path, m->use_candidate, now);
}

bool ice_received(struct ice *ice, const struct ice_path *path, co_usec now)
{
    unsigned i = find(ice, path);
    bool moves;

    if (i == ice->n)
        return false;
    moves = i != ice->at && (!ice->sure || is_silent(ice, i, now));
    if (moves)
        move(ice, i, now);
    ice->sure |= i == ice->at;
    ice->received_at = ice->paths[i].received_at = now;
    return moves;
}

/* ---- location of the peer */

void ice_reached(struct ice *ice, const struct ice_path *path)
{
    ice->sure |= ice->chosen && find(ice, path) == ice->at;
}

bool ice_needs_check(const struct ice *ice, const struct ice_path *path, co_usec now)
{
    unsigned i = find(ice, path);

    return ice->chosen && i < ice->n && i != ice->at &&
           (ice->paths[i].nominated || is_silent(ice, i, now));
}

size_t ice_write_check(struct ice *ice, const struct ice_path *path, const uint8_t id[STUN_ID],
                       const char *peer_pwd, co_usec now, uint8_t out[STUN_MAX])
{
    char name[ICE_UFRAG_MAX + ICE_OURS_MAX + 2];
    struct stun_check c = { .username = name, .password = peer_pwd, .controlled = true,
                            .has_priority = true, .priority = 1 };
    unsigned i = find(ice, path);

    if (i == ice->n ||
        (ice->paths[i].checked_at && now - ice->paths[i].checked_at < CHECK_INTERVAL))
        return 0;
    if (!ice->paths[i].checked_at || now - ice->paths[i].first_checked_at >= CHECK_LIFETIME) {
        memcpy(ice->paths[i].check_id, id, STUN_ID);
        ice->paths[i].first_checked_at = now;
    }
    ice->paths[i].checked_at = now;
    memcpy(c.id, ice->paths[i].check_id, STUN_ID);
    memcpy(&c.tie, c.id, sizeof(c.tie));
    (void)snprintf(name, sizeof(name), "%s:%s", ice->peer_ufrag, ice->ufrag);
    return stun_write_check(out, &c);
}

enum ice_result ice_answer(struct ice *ice, const struct stun_message *m,
                           const struct ice_path *path, const char *peer_pwd, co_usec now)
{
    unsigned i = find(ice, path);
    bool moves;

    if (i == ice->n || !ice->paths[i].checked_at || m->method != BINDING ||
        (m->class != STUN_SUCCESS && m->class != STUN_ERROR) ||
        memcmp(m->id, ice->paths[i].check_id, STUN_ID) != 0 || !stun_is_of(m, peer_pwd)) {
        ice->refused++;
        return ICE_DROPPED;
    }
    moves = !ice->chosen || !ice->sure || ice_needs_check(ice, path, now);
    ice->paths[i].checked_at = 0;
    ice->received_at = ice->paths[i].received_at = now;
    if (moves && i != ice->at)
        move(ice, i, now);
    else
        moves = false;
    ice->sure |= i == ice->at;
    return moves ? ICE_MOVED : ICE_ANSWERED;
}

bool ice_knows(const struct ice *ice, const struct ice_path *path)
{
    return find(ice, path) < ice->n;
}

void ice_forget(struct ice *ice, const void *link)
{
    struct ice_path at = { 0 };
    unsigned n = 0, best = 0;

    if (ice->chosen)
        at = ice->paths[ice->at].path;
    for (unsigned i = 0; i < ice->n; i++) {
        if (ice->paths[i].path.link != link)
            ice->paths[n++] = ice->paths[i];
    }
    ice->n = n;
    if (!ice->chosen)
        return;
    ice->at = find(ice, &at);
    if (ice->at < n)
        return;
    for (unsigned i = 1; i < n; i++) {
        if (ice->paths[i].received_at > ice->paths[best].received_at)
            best = i;
    }
    ice->chosen = n > 0;
    ice->sure = false;
    ice->at = best;
    ice->nominated = n > 0 && ice->paths[best].nominated;
}

const struct ice_path *ice_path(const struct ice *ice)
{
    return ice->chosen ? &ice->paths[ice->at].path : NULL;
}
