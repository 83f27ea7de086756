/* SPDX-License-Identifier: MIT */
/* flow_in.c - reassembles fragments into messages (RFC 7016, section 3.6.3.3). */
#include "proto/rtmfp/flow_in.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- received sequence numbers (RFC 7016, section 3.6.3.2) */

void rtmfp_ranges_fini(struct rtmfp_ranges *r)
{
    free(r->v);
    *r = (struct rtmfp_ranges){ .upto = r->upto };
}

/* Index of the first range that ends at or after seq; n if there is none. */
static unsigned find_range(const struct rtmfp_ranges *r, uint64_t seq)
{
    unsigned low = 0, high = r->n;

    if (r->n > 0 && seq > r->v[r->n - 1].last)
        return r->n; /* the newest number, the usual case */
    while (low < high) {
        unsigned mid = (low + high) / 2;

        if (r->v[mid].last < seq)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool rtmfp_ranges_has(const struct rtmfp_ranges *r, uint64_t seq)
{
    unsigned i;

    if (seq <= r->upto)
        return true;
    i = find_range(r, seq);
    return i < r->n && r->v[i].first <= seq;
}

static void drop_first(struct rtmfp_ranges *r, unsigned n)
{
    r->n = (uint16_t)(r->n - n);
    memmove(r->v, r->v + n, r->n * sizeof(*r->v));
    if (r->n == 0)
        rtmfp_ranges_fini(r);
}

void rtmfp_ranges_forward(struct rtmfp_ranges *r, uint64_t upto)
{
    unsigned n = 0;

    if (upto > r->upto)
        r->upto = upto;
    /* first - 1 cannot wrap: no range begins at 0 */
    while (n < r->n && r->v[n].first - 1 <= r->upto) {
        if (r->v[n].last > r->upto)
            r->upto = r->v[n].last;
        n++;
    }
    if (n > 0)
        drop_first(r, n);
}

static bool grow(struct rtmfp_ranges *r)
{
    uint16_t room = r->room ? (uint16_t)(r->room * 2) : 4;
    struct rtmfp_range *v;

    if (r->n < r->room)
        return true;
    if (r->n >= RTMFP_RANGES_MAX)
        return false;
    v = mem_try_more(r->v, room * sizeof(*v));
    if (!v)
        return false;
    r->v = v;
    r->room = room;
    return true;
}

static bool insert(struct rtmfp_ranges *r, unsigned i, uint64_t seq)
{
    if (!grow(r))
        return false;
    memmove(r->v + i + 1, r->v + i, (r->n - i) * sizeof(*r->v));
    r->v[i] = (struct rtmfp_range){ seq, seq };
    r->n++;
    return true;
}

bool rtmfp_ranges_add(struct rtmfp_ranges *r, uint64_t seq)
{
    unsigned i;
    bool before, behind;

    if (seq <= r->upto)
        return true;
    if (seq == r->upto + 1) {
        rtmfp_ranges_forward(r, seq);
        return true;
    }
    i = find_range(r, seq);
    if (i < r->n && r->v[i].first <= seq)
        return true;
    before = i > 0 && r->v[i - 1].last == seq - 1;
    behind = i < r->n && r->v[i].first - 1 == seq;
    if (before && behind) {
        r->v[i - 1].last = r->v[i].last;
        r->n--;
        memmove(r->v + i, r->v + i + 1, (r->n - i) * sizeof(*r->v));
    } else if (before) {
        r->v[i - 1].last = seq;
    } else if (behind) {
        r->v[i].first = seq;
    } else {
        return insert(r, i, seq);
    }
    return true;
}

struct rtmfp_held {
    struct rtmfp_held *next;
    uint64_t seq;
    size_t size;
    uint8_t position;
    uint8_t bytes[];
};

enum { HELD_LEAST = 1024 };

/* Bytes that a waiting fragment counts. Small ones count more, which limits their number, because
 * all waiting fragments are delivered at once. */
static size_t cost(size_t size)
{
    size_t n = sizeof(struct rtmfp_held) + size;

    return n > HELD_LEAST ? n : HELD_LEAST;
}

/* State of one call of rtmfp_flow_in_put(). */
struct intake {
    struct rtmfp_flow_in *flow;
    struct rtmfp_store *store;
    size_t most;
    rtmfp_take *take;
    void *user;
    bool too_large;
};


/* ---- messages whose fragments arrive in order */

static void end_part(struct rtmfp_flow_in *f, struct rtmfp_store *store)
{
    store->held -= f->part_room;
    free(f->part);
    f->part = NULL;
    f->part_size = f->part_room = 0;
    f->in_part = false;
}

static void drop_part(struct intake *t)
{
    if (!t->flow->in_part)
        return;
    t->flow->lost++;
    end_part(t->flow, t->store);
}

static bool grow_part(struct intake *t, size_t size)
{
    struct rtmfp_flow_in *f = t->flow;
    size_t need = f->part_size + size, room = f->part_room ? f->part_room * 2 : 4096;
    uint8_t *p;

    if (need > t->most || t->store->held + size > t->store->most + t->most) {
        t->too_large = true;
        return false;
    }
    if (need <= f->part_room)
        return true;
    while (room < need)
        room *= 2;
    p = mem_try_more(f->part, room);
    if (!p)
        return false;
    t->store->held += room - f->part_room;
    f->part = p;
    f->part_room = room;
    return true;
}

static void append_part(struct intake *t, uint64_t seq, const uint8_t *bytes, size_t size)
{
    struct rtmfp_flow_in *f = t->flow;

    if (!grow_part(t, size)) {
        drop_part(t);
        return;
    }
    if (size > 0)
        memcpy(f->part + f->part_size, bytes, size);
    f->part_size += size;
    f->part_seq = seq;
}

static void deliver(struct intake *t, const uint8_t *bytes, size_t size)
{
    if (size > t->most)
        t->too_large = true;
    else if (!t->flow->rejected &&
             !t->take(t->user, t->flow, size ? bytes : (const uint8_t *)"", size))
        t->flow->rejected = true;
}

static void deliver_part(struct intake *t)
{
    struct rtmfp_flow_in *f = t->flow;
    uint8_t *part = f->part;
    size_t size = f->part_size;

    /* detached during delivery, because the receiver may reject the flow */
    t->store->held -= f->part_room;
    f->part = NULL;
    f->part_size = f->part_room = 0;
    f->in_part = false;
    deliver(t, part, size);
    free(part);
}

/* Counts the gap from `given` to `last` as at least one lost message, unless it is only the end of
 * the flow. A message that had begun before it is counted when it is dropped. */
static void count_hole(struct rtmfp_flow_in *f, uint64_t last)
{
    bool end = last == f->final_seq && f->given + 1 == last;

    if (!f->in_part && !f->direct && !f->rejected && !end)
        f->lost++;
}

/* Handles the next fragment in order. */
static void in_turn(struct intake *t, uint64_t seq, uint8_t position, const uint8_t *bytes,
                    size_t size)
{
    struct rtmfp_flow_in *f = t->flow;
    bool follows = f->in_part && f->part_seq + 1 == seq;
    bool begins = position == RTMFP_WHOLE || position == RTMFP_BEGIN;

    if (begins && f->given + 1 < seq)
        count_hole(f, seq - 1);
    f->given = seq;
    if (begins || !follows)
        drop_part(t); /* its end was lost */
    if (position == RTMFP_WHOLE) {
        deliver(t, bytes, size);
        return;
    }
    if (position == RTMFP_BEGIN)
        f->in_part = true;
    if (!f->in_part) { /* a middle or end without a beginning */
        f->lost += position == RTMFP_END;
        return;
    }
    append_part(t, seq, bytes, size);
    if (f->in_part && position == RTMFP_END)
        deliver_part(t);
}

/* ---- waiting fragments */

static struct rtmfp_held *take_first(struct rtmfp_flow_in *f, struct rtmfp_store *store)
{
    struct rtmfp_held *h = f->first;

    f->first = h->next;
    if (!f->first)
        f->last = NULL;
    f->held -= cost(h->size);
    store->held -= cost(h->size);
    return h;
}

static bool hold(struct intake *t, const struct rtmfp_user_data *d)
{
    struct rtmfp_flow_in *f = t->flow;
    struct rtmfp_held *h = mem_try(sizeof(*h) + d->data.n), **at = &f->first;

    if (!h)
        return false;
    if (f->last && f->last->seq < d->seq)
        at = &f->last->next;
    while (*at && (*at)->seq < d->seq)
        at = &(*at)->next;
    *h = (struct rtmfp_held){ .next = *at, .seq = d->seq, .size = d->data.n,
                              .position = d->position };
    if (d->data.n > 0)
        memcpy(h->bytes, d->data.p, d->data.n);
    if (!*at)
        f->last = h;
    *at = h;
    f->held += cost(d->data.n);
    t->store->held += cost(d->data.n);
    return true;
}

/* Delivers everything up to the first gap and skips what was given up. */
static void deliver_all(struct intake *t)
{
    struct rtmfp_flow_in *f = t->flow;

    while (f->first && f->first->seq <= f->seen.upto) {
        struct rtmfp_held *h = take_first(f, t->store);

        in_turn(t, h->seq, h->position, h->bytes, h->size);
        free(h);
    }
    if (f->given < f->seen.upto) {
        count_hole(f, f->seen.upto);
        f->given = f->seen.upto;
        drop_part(t); /* followed by a gap */
    }
}

/* ---- receiving */

static bool came_behind(const struct rtmfp_flow_in *f, uint64_t seq)
{
    return (f->seen.n > 0 ? f->seen.v[f->seen.n - 1].last : f->seen.upto) > seq;
}

static bool contradicts(const struct rtmfp_flow_in *f, const struct rtmfp_user_data *d)
{
    if (d->offset > d->seq || (d->offset == 0 && !d->abandoned))
        return true;
    if (d->final && f->final_seq && f->final_seq != d->seq)
        return true;
    if (d->final && !f->final_seq && came_behind(f, d->seq))
        return true;
    return f->final_seq && d->seq > f->final_seq;
}

static bool has_room(const struct intake *t, size_t size)
{
    size_t more = cost(size);

    return t->flow->held + more <= RTMFP_FLOW_HELD && t->store->held + more <= t->store->most;
}

static bool in_order(const struct rtmfp_flow_in *f, const struct rtmfp_user_data *d)
{
    return d->seq == f->seen.upto + 1 && !f->first && f->given == f->seen.upto;
}

/* Flows with direct delivery can deliver messages of one fragment out of order. */
static bool goes_at_once(const struct rtmfp_flow_in *f, const struct rtmfp_user_data *d)
{
    return in_order(f, d) || (f->direct && d->position == RTMFP_WHOLE);
}

static enum rtmfp_taken put_new(struct intake *t, const struct rtmfp_user_data *d)
{
    struct rtmfp_flow_in *f = t->flow;
    bool at_once = goes_at_once(f, d), ordered = in_order(f, d), bytes;

    bytes = !d->abandoned && !f->rejected;
    /* the fragment that others wait for is always accepted, because it frees space */
    if (bytes && !at_once && d->seq != f->seen.upto + 1 && !has_room(t, d->data.n))
        return RTMFP_NO_ROOM;
    if (!rtmfp_ranges_add(&f->seen, d->seq))
        return RTMFP_NO_ROOM;
    if (bytes && at_once && ordered)
        in_turn(t, d->seq, d->position, d->data.p, d->data.n);
    else if (bytes && at_once)
        deliver(t, d->data.p, d->data.n);
    else if (bytes && !hold(t, d))
        f->lost++; /* already counted as received; happens only when memory is short */
    return RTMFP_TAKEN;
}

/* Rejects the flow and drops waiting fragments. */
static void reject(struct rtmfp_flow_in *f, uint64_t code, struct rtmfp_store *store)
{
    f->rejected = true;
    f->reject_code = code;
    while (f->first)
        free(take_first(f, store));
    end_part(f, store);
}

enum rtmfp_taken rtmfp_flow_in_put(struct rtmfp_flow_in *f, const struct rtmfp_user_data *d,
                                   struct rtmfp_store *store, size_t most, rtmfp_take *take,
                                   void *user)
{
    struct intake t = {
        .flow = f, .store = store, .most = f->most ? f->most : most, .take = take, .user = user,
    };
    enum rtmfp_taken taken = RTMFP_TAKEN;

    if (contradicts(f, d))
        return RTMFP_NONSENSE;
    if (d->final)
        f->final_seq = d->seq;
    if (!rtmfp_ranges_has(&f->seen, d->seq))
        taken = put_new(&t, d);
    rtmfp_ranges_forward(&f->seen, rtmfp_user_data_fsn(d));
    deliver_all(&t);
    if (f->rejected)
        reject(f, f->reject_code, store);
    return t.too_large ? RTMFP_TOO_LARGE : taken;
}

void rtmfp_flow_in_fini(struct rtmfp_flow_in *f, struct rtmfp_store *store)
{
    reject(f, 0, store);
    rtmfp_ranges_fini(&f->seen);
}

uint64_t rtmfp_flow_in_window(const struct rtmfp_flow_in *f, const struct rtmfp_store *store)
{
    size_t mine = f->held < RTMFP_FLOW_HELD ? RTMFP_FLOW_HELD - f->held : 0;
    size_t all = store->held < store->most ? store->most - store->held : 0, room;

    if (f->suspended)
        return 0;
    room = mine < all ? mine : all;
    return room == 0 ? 1 : (room + 1023) / 1024;
}
