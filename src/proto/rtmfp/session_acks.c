/* SPDX-License-Identifier: MIT */
/* session_acks.c - acks from the peer, and our acks (RFC 7016, sections 3.6.2.4, 3.6.3.4). */
#include "proto/rtmfp/session_impl.h"

enum {
    ACK_EVERY = 2,                      /* packets with user data */
    ACK_AGAIN = 10000,                  /* for acks that did not fit into the packet */
    RANGES_OF_ONE = 64,                 /* ranges in one of our acks */
    BLOCK = 1024, SMALL_WINDOW = 2,
};

/* ---- acks from the peer */

static bool sent_so_far(const struct rtmfp_flow_out *f, const struct rtmfp_ack *ack)
{
    struct rtmfp_ack_reader r;
    struct rtmfp_range range = { .last = ack->cumulative };

    rtmfp_ack_begin(&r, ack);
    while (range.last < f->next_seq && rtmfp_ack_next(&r, &range))
        ;
    return range.last < f->next_seq;
}

static void free_acked(struct rtmfp_flow_out *f, const struct rtmfp_ack *ack,
                       struct rtmfp_freed *freed)
{
    struct rtmfp_ack_reader r;
    struct rtmfp_range range;

    rtmfp_flow_out_acked(f, 0, ack->cumulative, freed);
    rtmfp_ack_begin(&r, ack);
    while (rtmfp_ack_next(&r, &range))
        rtmfp_flow_out_acked(f, range.first, range.last, freed);
}

void rtmfp_acks_received(struct rtmfp_session *s, struct rtmfp_arrival *a, struct rtmfp_bytes body,
                         bool bitmap)
{
    struct rtmfp_freed freed = { .bytes = 0 };
    struct rtmfp_flow_out *f;
    struct rtmfp_ack ack;

    if (!rtmfp_ack_read(&ack, body, bitmap)) {
        rtmfp_session_nonsense(s);
        return;
    }
    f = rtmfp_flows_out(s, ack.flow);
    if (!f)
        return; /* the flow is over */
    /* The ack covers data that were never sent, or is the second one for a flow in one packet,
     * which would cost another walk over all fragments in flight. */
    if (f->ack_packet == (uint32_t)s->stat.received || !sent_so_far(f, &ack)) {
        rtmfp_session_nonsense(s);
        return;
    }
    f->ack_packet = (uint32_t)s->stat.received;
    f->room = ack.window > UINT32_MAX ? UINT32_MAX * (uint64_t)BLOCK : ack.window * BLOCK;
    if (ack.cumulative > f->confirmed)
        f->confirmed = ack.cumulative;
    free_acked(f, &ack, &freed);
    if (freed.any && (!a->freed || (int32_t)(freed.latest - a->latest) > 0))
        a->latest = freed.latest;
    a->freed |= freed.any;
    s->congestion.in_flight -= freed.bytes;
    a->acks.any = true;
    a->acks.acked += freed.bytes;
}

/* Transmissions are numbered per session: an ack for one flow shows that earlier packets of another
 * flow were lost (3.6.2.5). */
static void judge(struct rtmfp_session *s, struct rtmfp_arrival *a)
{
    for (struct rtmfp_flow_out *f = s->outs; f; f = f->next) {
        uint32_t lost = rtmfp_flow_out_judge(f, a->latest, &a->acks.gaps);

        s->congestion.in_flight -= lost;
        a->acks.lost |= lost > 0;
    }
}

void rtmfp_acks_after(struct rtmfp_session *s, struct rtmfp_arrival *a)
{
    if (a->freed)
        judge(s, a);
    if (a->acks.any)
        rtmfp_congestion_acked(&s->congestion, &a->acks, a->now);
    if (a->any_data && ++s->data_packets >= ACK_EVERY && s->ack_at)
        s->ack_at = a->now;
}

void rtmfp_acks_probe(struct rtmfp_session *s, struct rtmfp_bytes body, co_usec now)
{
    struct rtmfp_flow_in *f;
    uint64_t id;

    if (!rtmfp_probe_read(&id, body)) {
        rtmfp_session_nonsense(s);
        return;
    }
    f = rtmfp_flows_in(s, id);
    if (!f)
        return;
    f->ack_soon = true;
    s->ack_at = now;
}

/* ---- our acks */

static bool write_ack(struct rtmfp_session *s, struct wr *w, struct rtmfp_flow_in *f)
{
    struct rtmfp_ack ack = { .flow = f->id, .window = rtmfp_flow_in_window(f, &s->store),
                             .cumulative = f->seen.upto };
    unsigned n = f->seen.n < RANGES_OF_ONE ? f->seen.n : RANGES_OF_ONE;
    size_t before = w->len;

    if (f->rejected &&
        !rtmfp_exception_write(w, &(struct rtmfp_exception){ f->id, f->reject_code }))
        return false;
    if (!rtmfp_ack_write_ranges(w, &ack, f->seen.v, n)) {
        w->len = before;
        return false;
    }
    f->ack_soon = f->ack_now = false;
    f->was_small = ack.window < SMALL_WINDOW;
    return true;
}

static bool write_over(struct wr *w, struct rtmfp_flow_over *o)
{
    struct rtmfp_ack ack = { .flow = o->id, .window = RTMFP_FLOW_HELD / BLOCK,
                             .cumulative = o->upto };

    if (!rtmfp_ack_write_ranges(w, &ack, NULL, 0))
        return false;
    o->ack = false;
    return true;
}

/* Returns false if there is not room for all. */
static bool write_all(struct rtmfp_session *s, struct wr *w)
{
    for (struct rtmfp_flow_in *f = s->ins; f; f = f->next)
        if (f->ack_soon && !write_ack(s, w, f))
            return false;
    for (unsigned i = 0; s->over && i < RTMFP_FLOWS_OVER_MAX; i++)
        if (s->over[i].ack && !write_over(w, &s->over[i]))
            return false;
    return true;
}

void rtmfp_acks_write(struct rtmfp_session *s, struct wr *w, co_usec now)
{
    if (!s->ack_at || (now < s->ack_at && !rtmfp_data_ready(s)))
        return;
    s->ack_at = write_all(s, w) ? 0 : now + ACK_AGAIN;
    s->data_packets = 0;
}
