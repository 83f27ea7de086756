/* SPDX-License-Identifier: MIT */
/* ranges.c - sequence numbers that came (RFC 7016, section 3.6.3.2). */
#include "proto/rtmfp/ranges.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

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
