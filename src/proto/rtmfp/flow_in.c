/* SPDX-License-Identifier: MIT */
/* flow_in.c - fragments to messages (RFC 7016, section 3.6.3.3). */
#include "proto/rtmfp/flow_in.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- sequence numbers that came (RFC 7016, section 3.6.3.2) */

void rtmfp_ranges_fini(struct rtmfp_ranges *r)
{
    free(r->v);
    *r = (struct rtmfp_ranges){ .upto = r->upto };
}

/* The first range that ends at seq or behind it; n: there is none. */
static unsigned place(const struct rtmfp_ranges *r, uint64_t seq)
{
    unsigned low = 0, high = r->n;

    if (r->n > 0 && seq > r->v[r->n - 1].last)
        return r->n; /* the newest, as nearly always */
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
    i = place(r, seq);
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
    i = place(r, seq);
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
    uint8_t place;
    uint8_t bytes[];
};

enum { HELD_LEAST = 1024 };

/* What a fragment that waits counts for: of small ones there may not be many more than of others,
 * as all that waited is given out in one go. */
static size_t cost(size_t size)
{
    size_t n = sizeof(struct rtmfp_held) + size;

    return n > HELD_LEAST ? n : HELD_LEAST;
}

/* One call of rtmfp_flow_in_put(). */
struct intake {
    struct rtmfp_flow_in *flow;
    struct rtmfp_store *store;
    size_t most;
    rtmfp_take *take;
    void *user;
    bool too_large;
};


/* ---- the message whose fragments come in order */

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

static void give_out(struct intake *t, const uint8_t *bytes, size_t size)
{
    if (size > t->most)
        t->too_large = true;
    else if (!t->flow->rejected &&
             !t->take(t->user, t->flow, size ? bytes : (const uint8_t *)"", size))
        t->flow->rejected = true;
}

static void give_part(struct intake *t)
{
    struct rtmfp_flow_in *f = t->flow;
    uint8_t *part = f->part;
    size_t size = f->part_size;

    /* it is nobody's while it is given out: who takes it may reject the flow */
    t->store->held -= f->part_room;
    f->part = NULL;
    f->part_size = f->part_room = 0;
    f->in_part = false;
    give_out(t, part, size);
    free(part);
}

/* Nothing came of what is behind `given`, up to that one: one message at least, but where that is
 * the end of the flow alone. What had begun in front of it is counted when it is dropped. */
static void count_hole(struct rtmfp_flow_in *f, uint64_t last)
{
    bool end = last == f->final_seq && f->given + 1 == last;

    if (!f->in_part && !f->direct && !f->rejected && !end)
        f->lost++;
}

/* The next fragment in order. */
static void in_turn(struct intake *t, uint64_t seq, uint8_t place, const uint8_t *bytes,
                    size_t size)
{
    struct rtmfp_flow_in *f = t->flow;
    bool follows = f->in_part && f->part_seq + 1 == seq;
    bool begins = place == RTMFP_WHOLE || place == RTMFP_BEGIN;

    if (begins && f->given + 1 < seq)
        count_hole(f, seq - 1);
    f->given = seq;
    if (begins || !follows)
        drop_part(t); /* its end never comes */
    if (place == RTMFP_WHOLE) {
        give_out(t, bytes, size);
        return;
    }
    if (place == RTMFP_BEGIN)
        f->in_part = true;
    if (!f->in_part) { /* a middle or an end without its begin */
        f->lost += place == RTMFP_END;
        return;
    }
    append_part(t, seq, bytes, size);
    if (f->in_part && place == RTMFP_END)
        give_part(t);
}

/* ---- what waits for others */

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
    *h = (struct rtmfp_held){ .next = *at, .seq = d->seq, .size = d->data.n, .place = d->place };
    if (d->data.n > 0)
        memcpy(h->bytes, d->data.p, d->data.n);
    if (!*at)
        f->last = h;
    *at = h;
    f->held += cost(d->data.n);
    t->store->held += cost(d->data.n);
    return true;
}

/* All that came up to the first gap; what was given up among it is passed over. */
static void give_all(struct intake *t)
{
    struct rtmfp_flow_in *f = t->flow;

    while (f->first && f->first->seq <= f->seen.upto) {
        struct rtmfp_held *h = take_first(f, t->store);

        in_turn(t, h->seq, h->place, h->bytes, h->size);
        free(h);
    }
    if (f->given < f->seen.upto) {
        count_hole(f, f->seen.upto);
        f->given = f->seen.upto;
        drop_part(t); /* what follows it is a hole */
    }
}

/* ---- */

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

/* Messages of one fragment are all that such flows can have out of their turn. */
static bool goes_at_once(const struct rtmfp_flow_in *f, const struct rtmfp_user_data *d)
{
    return in_order(f, d) || (f->direct && d->place == RTMFP_WHOLE);
}

static enum rtmfp_taken put_new(struct intake *t, const struct rtmfp_user_data *d)
{
    struct rtmfp_flow_in *f = t->flow;
    bool at_once = goes_at_once(f, d), ordered = in_order(f, d), bytes;

    bytes = !d->abandoned && !f->rejected;
    /* the one that the others wait for is taken in any case: it makes room */
    if (bytes && !at_once && d->seq != f->seen.upto + 1 && !has_room(t, d->data.n))
        return RTMFP_NO_ROOM;
    if (!rtmfp_ranges_add(&f->seen, d->seq))
        return RTMFP_NO_ROOM;
    if (bytes && at_once && ordered)
        in_turn(t, d->seq, d->place, d->data.p, d->data.n);
    else if (bytes && at_once)
        give_out(t, d->data.p, d->data.n);
    else if (bytes && !hold(t, d))
        f->lost++; /* it counts as seen already: only where memory is short */
    return RTMFP_TAKEN;
}

/* Nothing more is taken: what waits is dropped. */
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
    give_all(&t);
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
