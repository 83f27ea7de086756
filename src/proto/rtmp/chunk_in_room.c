/* SPDX-License-Identifier: MIT */
/* chunk_in_room.c - memory for incomplete messages: it grows with the bytes received, within the
 * limits of the connection and of all connections.
 */
#include "proto/rtmp/chunk_in_room.h"

#include <string.h>

/* ---- the pool */

static void add_member(struct rtmp_in *in)
{
    struct rtmp_in **first = &in->setup->pool->members;

    in->pool_next = *first;
    in->pool_prev = first;
    if (*first)
        (*first)->pool_prev = &in->pool_next;
    *first = in;
    in->pooled_since = co_now();
}

static void remove_member(struct rtmp_in *in)
{
    *in->pool_prev = in->pool_next;
    if (in->pool_next)
        in->pool_next->pool_prev = in->pool_prev;
    in->pool_prev = NULL;
}

static size_t over_free(size_t inflight)
{
    return inflight > RTMP_IN_FREE ? inflight - RTMP_IN_FREE : 0;
}

/* Sets the memory of the connection's incomplete messages and updates the pool. */
static void account(struct rtmp_in *in, size_t inflight)
{
    struct rtmp_in_pool *pool = in->setup->pool;
    size_t over = pool ? over_free(inflight) : 0;

    in->inflight = inflight;
    if (over == in->pooled)
        return;
    pool->used += over - in->pooled;
    if (in->pooled == 0)
        add_member(in);
    else if (over == 0)
        remove_member(in);
    in->pooled = over;
}

/* Copies a payload out of the memory of its stream. Returns false if malloc fails. */
static bool move_out(const struct rtmp_in *in, uint8_t **payload, size_t cap, size_t used)
{
    uint8_t *copy = *payload ? in->setup->alloc(NULL, cap) : NULL;

    if (*payload && !copy)
        return false;
    if (copy)
        memcpy(copy, *payload, used);
    if (*payload)
        in->setup->release(*payload);
    *payload = copy;
    return true;
}

static void move_stream(struct rtmp_in *in, struct rtmp_in_stream *s)
{
    in->broken |= !move_out(in, &s->payload, s->cap, s->got);
}

void rtmp_in_detach(struct rtmp_in *in)
{
    size_t inflight = in->inflight;

    in->memory = NULL;
    account(in, 0);
    in->inflight = inflight;
    for (int i = 0; i < RTMP_IN_LOW; i++)
        move_stream(in, &in->low[i]);
    for (uint32_t i = 0; i < in->high_count; i++)
        move_stream(in, &in->high[i]);
    for (uint32_t i = in->ready_at; i < in->ready_end; i++)
        in->broken |= !move_out(in, &in->ready[i].payload, in->ready[i].size, in->ready[i].size);
}

void rtmp_in_attach(struct rtmp_in *in)
{
    account(in, in->inflight);
}

/* Bytes times microseconds: a peer that sends one large message holds much memory for a moment; a
 * peer that wants to fill the memory has to hold it for long. */
static uint64_t weight(const struct rtmp_in *in, co_usec now)
{
    return (uint64_t)in->pooled * (uint64_t)(now - in->pooled_since + 1);
}

static struct rtmp_in *heaviest(const struct rtmp_in_pool *pool)
{
    struct rtmp_in *worst = pool->members;
    co_usec now = co_now();

    for (struct rtmp_in *in = worst; in; in = in->pool_next) {
        if (weight(in, now) > weight(worst, now))
            worst = in;
    }
    return worst;
}

err_t rtmp_in_evicted(const struct rtmp_in *in)
{
    return err_new(ERR_TOO_LARGE, "incomplete messages of all peers exceed %zu bytes, this "
                   "peer holds most for longest", in->setup->pool->limit);
}

static void evict(struct rtmp_in *in)
{
    in->evicted = in->broken = true;
    in->setup->pool->evicted++;
    rtmp_in_room_drop_all(in);
    if (in->on_evict)
        in->on_evict(in);
}

/* Makes room in the pool for `inflight` bytes of this connection, by evicting others if needed. */
static err_t reserve_in_pool(struct rtmp_in *in, size_t inflight)
{
    struct rtmp_in_pool *pool = in->setup->pool;
    size_t more = pool ? over_free(inflight) - in->pooled : 0;

    while (more > 0 && pool->limit && pool->used + more > pool->limit) {
        struct rtmp_in *loser = heaviest(pool);

        if (!loser || loser == in) {
            pool->evicted++;
            return rtmp_in_evicted(in);
        }
        evict(loser);
    }
    return NULL;
}

/* ---- one message */

static uint32_t least(size_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

err_t rtmp_in_room_take(struct rtmp_in *in, struct rtmp_in_stream *s, uint32_t need)
{
    const struct rtmp_in_setup *set = in->setup;
    size_t others = in->inflight - s->cap;
    size_t most = set->max_inflight > others ? set->max_inflight - others : 0;
    size_t like = s->cap ? 2 * (size_t)s->cap : set->at_once;
    uint32_t cap = least(most, least(like > need ? like : need, s->size));
    uint8_t *p;
    err_t err;

    if (cap < need)
        return err_new(ERR_TOO_LARGE, "%zu bytes of incomplete messages and %u more, limit %zu",
                       in->inflight, need - s->cap, set->max_inflight);
    err = reserve_in_pool(in, others + cap);
    if (err)
        return err;
    p = s->payload ? set->grow(s->payload, cap) : set->alloc(in->memory, cap);
    if (!p)
        return err_new(ERR_NO_MEMORY, "%u bytes for a message of %u", cap, s->size);
    s->payload = p;
    s->cap = cap;
    account(in, others + cap);
    return NULL;
}

uint8_t *rtmp_in_room_give(struct rtmp_in *in, struct rtmp_in_stream *s)
{
    uint8_t *payload = s->payload;

    if (payload)
        account(in, in->inflight - s->cap);
    s->payload = NULL;
    s->cap = 0;
    return payload;
}

void rtmp_in_room_drop(struct rtmp_in *in, struct rtmp_in_stream *s)
{
    uint8_t *payload = rtmp_in_room_give(in, s);

    if (payload)
        in->setup->release(payload);
}

void rtmp_in_room_drop_all(struct rtmp_in *in)
{
    for (size_t i = 0; i < RTMP_IN_LOW; i++)
        rtmp_in_room_drop(in, &in->low[i]);
    for (uint32_t i = 0; i < in->high_count; i++)
        rtmp_in_room_drop(in, &in->high[i]);
    in->now = NULL;
}

/* ---- age of incomplete messages */

static co_usec older(co_usec oldest, const struct rtmp_in_stream *s)
{
    return s->payload && (oldest == 0 || s->begun_at < oldest) ? s->begun_at : oldest;
}

co_usec rtmp_in_oldest(const struct rtmp_in *in)
{
    co_usec oldest = 0;

    if (in->inflight == 0)
        return 0;
    for (size_t i = 0; i < RTMP_IN_LOW; i++)
        oldest = older(oldest, &in->low[i]);
    for (uint32_t i = 0; i < in->high_count; i++)
        oldest = older(oldest, &in->high[i]);
    return oldest;
}

void rtmp_in_restart_timeouts(struct rtmp_in *in)
{
    co_usec now = co_now();

    for (size_t i = 0; i < RTMP_IN_LOW; i++)
        in->low[i].begun_at = now;
    for (uint32_t i = 0; i < in->high_count; i++)
        in->high[i].begun_at = now;
}
