/* SPDX-License-Identifier: MIT */
/* chunks_ack.c - what came of a flow, as bitmap and as ranges, [RTMFP] 2.3.13 and 2.3.14. */
#include "proto/rtmfp/chunks.h"

#include <assert.h>

/* Numbers that would not exist: the chunk is wrong. */
static bool is_possible(const struct rtmfp_ack *c)
{
    struct rtmfp_ack_reader r;
    struct rtmfp_range range;

    if (c->bitmap) /* its last bit is of a number that exists */
        return c->rest.n == 0 || UINT64_MAX - c->cumulative > c->rest.n * 8;
    rtmfp_ack_begin(&r, c);
    while (rtmfp_ack_next(&r, &range))
        ;
    return !r.wrong;
}

bool rtmfp_ack_read(struct rtmfp_ack *c, struct rtmfp_bytes body, bool bitmap)
{
    struct rd r = rtmfp_rd(body);

    *c = (struct rtmfp_ack){ .bitmap = bitmap };
    c->flow = rtmfp_vlu_read(&r);
    c->window = rtmfp_vlu_read(&r);
    c->cumulative = rtmfp_vlu_read(&r);
    c->rest = rtmfp_rest(&r);
    return !r.bad && is_possible(c);
}

static size_t begin(struct wr *w, const struct rtmfp_ack *c)
{
    size_t at = rtmfp_chunk_begin(w, c->bitmap ? RTMFP_ACK_BITMAP : RTMFP_ACK_RANGES);

    rtmfp_vlu_write(w, c->flow);
    rtmfp_vlu_write(w, c->window);
    rtmfp_vlu_write(w, c->cumulative);
    return at;
}

bool rtmfp_ack_write(struct wr *w, const struct rtmfp_ack *c)
{
    size_t at = begin(w, c);

    wr_bytes(w, c->rest.p, c->rest.n);
    return rtmfp_chunk_end(w, at);
}

bool rtmfp_ack_write_ranges(struct wr *w, const struct rtmfp_ack *c,
                            const struct rtmfp_range *ranges, size_t n)
{
    struct rtmfp_ack head = { .flow = c->flow, .window = c->window, .cumulative = c->cumulative };
    uint64_t above = c->cumulative;
    size_t at = begin(w, &head);

    for (size_t i = 0; i < n && !w->bad; i++) {
        uint64_t missing, came;

        assert(ranges[i].first > above + 1 && ranges[i].last >= ranges[i].first);
        missing = ranges[i].first - above - 2;
        came = ranges[i].last - ranges[i].first;
        if (rtmfp_vlu_size(missing) + rtmfp_vlu_size(came) > w->limit - w->len)
            break;
        rtmfp_vlu_write(w, missing);
        rtmfp_vlu_write(w, came);
        above = ranges[i].last;
    }
    return rtmfp_chunk_end(w, at);
}

/* ---- reading what came above the cumulative ack */

void rtmfp_ack_begin(struct rtmfp_ack_reader *r, const struct rtmfp_ack *c)
{
    *r = (struct rtmfp_ack_reader){ .r = rtmfp_rd(c->rest), .bitmap = c->bitmap };
    r->at = c->bitmap ? c->cumulative + 2 : c->cumulative;
}

/* A pair that is cut is as if it were not there. */
static bool next_range(struct rtmfp_ack_reader *r, struct rtmfp_range *out)
{
    uint64_t missing = rtmfp_vlu_read(&r->r), came = rtmfp_vlu_read(&r->r);

    if (r->r.bad)
        return false;
    if (missing > UINT64_MAX - 2 || UINT64_MAX - r->at < missing + 2 ||
        UINT64_MAX - r->at - missing - 2 < came) {
        r->wrong = r->r.bad = true;
        return false;
    }
    out->first = r->at + missing + 2;
    out->last = r->at = out->first + came;
    return true;
}

static bool take_bit(struct rtmfp_ack_reader *r)
{
    bool is = *r->r.p >> r->bit & 1;

    r->at++;
    if (++r->bit == 8) {
        r->bit = 0;
        r->r.p++;
    }
    return is;
}

static bool next_run(struct rtmfp_ack_reader *r, struct rtmfp_range *out)
{
    bool is = false;

    while (!is && rd_left(&r->r) > 0)
        is = take_bit(r);
    if (!is)
        return false;
    out->first = out->last = r->at - 1;
    while (rd_left(&r->r) > 0 && take_bit(r))
        out->last++;
    return true;
}

bool rtmfp_ack_next(struct rtmfp_ack_reader *r, struct rtmfp_range *out)
{
    return r->bitmap ? next_run(r, out) : next_range(r, out);
}
