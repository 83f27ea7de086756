/* SPDX-License-Identifier: MIT */
/* session_flows.c - opening and closing of flows, and received user data (RFC 7016, sections 3.6.1,
 * 3.6.3).
 */
#include "proto/rtmfp/session_impl.h"

#include "base/mem.h"
#include "base/must.h"

#include <stdlib.h>
#include <string.h>

enum {
    OPTION_METADATA = 0x00, OPTION_ASSOCIATION = 0x0a,
    OPTION_MAY_IGNORE = 8192,      /* unknown options from here on may be ignored */
    SECOND = 1000000, OVER_FOR = 120 * SECOND, ACK_WITHIN = 200000,
};

struct rtmfp_flow_in *rtmfp_flows_in(const struct rtmfp_session *s, uint64_t id)
{
    struct rtmfp_flow_in *f = s->ins;

    while (f && f->id != id)
        f = f->next;
    return f;
}

struct rtmfp_flow_out *rtmfp_flows_out(const struct rtmfp_session *s, uint64_t id)
{
    struct rtmfp_flow_out *f = s->outs;

    while (f && f->id != id)
        f = f->next;
    return f;
}

/* ---- our flows */

struct rtmfp_flow_out *rtmfp_flow_open(struct rtmfp_session *s, struct rtmfp_bytes metadata,
                                       const struct rtmfp_flow_in *answers,
                                       enum rtmfp_order order)
{
    struct rtmfp_flow_out *f, **at = &s->outs;

    if (s->state != RTMFP_OPEN || s->n_outs >= RTMFP_FLOWS_MAX ||
        metadata.n > RTMFP_METADATA_MAX)
        return NULL;
    f = must(malloc(sizeof(*f)));
    rtmfp_flow_out_init(f, ++s->next_id, order);
    f->sums = s->set->sums ? &s->set->sums->flows : NULL;
    memcpy(f->metadata, metadata.p, metadata.n);
    f->metadata_size = (uint8_t)metadata.n;
    f->associated = answers != NULL;
    f->association = answers ? answers->id : 0;
    while (*at && (*at)->order <= order)
        at = &(*at)->next;
    f->next = *at;
    *at = f;
    s->n_outs++;
    return f;
}

static void free_out(struct rtmfp_session *s, struct rtmfp_flow_out **at)
{
    struct rtmfp_flow_out *f = *at;

    *at = f->next;
    s->n_outs--;
    s->congestion.in_flight -= f->in_flight;
    if (s->congestion.in_flight == 0)
        s->congestion.burst = 0; /* no ack would end it */
    s->stat.lost += f->missed;
    s->stat.retransmitted += f->retransmitted;
    s->stat.abandoned += f->abandoned;
    if (s->set->ops->done)
        s->set->ops->done(s, f, f->rejected);
    rtmfp_flow_out_fini(f);
    free(f);
}

/* ---- the peer's flows */

static void free_in(struct rtmfp_session *s, struct rtmfp_flow_in **at)
{
    struct rtmfp_flow_in *f = *at;

    *at = f->next;
    s->n_ins--;
    if (f->accepted && s->set->ops->closed)
        s->set->ops->closed(s, f);
    rtmfp_flow_in_fini(f, &s->store);
    free(f);
}

void rtmfp_flows_free(struct rtmfp_session *s)
{
    while (s->ins)
        free_in(s, &s->ins);
    while (s->outs)
        free_out(s, &s->outs);
    free(s->over);
    s->over = NULL;
}

/* Remembers a completed flow: its id, and the ack for retransmissions (3.6.3.6). */
static void remember_over(struct rtmfp_session *s, const struct rtmfp_flow_in *f, co_usec now)
{
    if (!s->over)
        s->over = must(calloc(RTMFP_FLOWS_OVER_MAX, sizeof(*s->over)));
    s->over[s->over_next++ % RTMFP_FLOWS_OVER_MAX] = (struct rtmfp_flow_over){
        .id = f->id, .upto = f->seen.upto, .until = now + OVER_FOR, .ack = f->ack_soon,
    };
}

/* Acknowledges data for a completed flow; returns false if the flow is not one. */
static bool ack_over(struct rtmfp_session *s, uint64_t id, co_usec now)
{
    for (unsigned i = 0; s->over && i < RTMFP_FLOWS_OVER_MAX; i++) {
        struct rtmfp_flow_over *o = &s->over[i];

        if (o->until <= now || o->id != id)
            continue;
        o->ack = true;
        s->ack_at = now;
        return true;
    }
    return false;
}

void rtmfp_flows_free_complete(struct rtmfp_session *s, co_usec now)
{
    for (struct rtmfp_flow_out **at = &s->outs; *at;)
        if (rtmfp_flow_out_complete(*at))
            free_out(s, at);
        else
            at = &(*at)->next;
    for (struct rtmfp_flow_in **at = &s->ins; *at;) {
        if (!rtmfp_flow_in_complete(*at)) {
            at = &(*at)->next;
            continue;
        }
        remember_over(s, *at, now);
        free_in(s, at);
    }
}

static bool too_many(struct rtmfp_session *s, co_usec now)
{
    if (now - s->opened_since >= 10 * SECOND) {
        s->opened_since = now;
        s->opened_lately = 0;
    }
    if (s->n_ins < RTMFP_FLOWS_MAX && ++s->opened_lately <= RTMFP_FLOWS_OPENED_MAX)
        return false;
    rtmfp_session_hostile(s, "the peer opened more flows than a session may have");
    return true;
}

struct opening {
    struct rtmfp_bytes metadata;
    struct rtmfp_flow_out *answers;
    bool has_metadata, wrong;
};

static void read_option(struct rtmfp_session *s, const struct rtmfp_option *o, struct opening *out)
{
    struct rd r = rtmfp_rd(o->value);

    if (o->type == OPTION_METADATA) {
        out->metadata = o->value;
        out->has_metadata = o->value.n <= RTMFP_LIST_MAX;
    } else if (o->type == OPTION_ASSOCIATION) {
        uint64_t id = rtmfp_vlu_read(&r);

        out->answers = r.bad ? NULL : rtmfp_flows_out(s, id);
        out->wrong |= !out->answers || out->answers->closing;
    } else if (o->type < OPTION_MAY_IGNORE) {
        out->wrong = true;
    }
}

/* 3.6.3.1: a flow is rejected if it lacks metadata, responds to an unknown flow, or has an unknown
 * mandatory option; but it exists and is acknowledged. */
static struct rtmfp_flow_in *open_in(struct rtmfp_session *s, const struct rtmfp_user_data *d)
{
    struct rtmfp_options list = rtmfp_options_of(d->options);
    struct rtmfp_flow_in *f = must(calloc(1, sizeof(*f)));
    struct opening o = { .answers = NULL };
    struct rtmfp_option option;

    f->id = d->flow;
    while (d->has_options && rtmfp_option_next(&list, &option))
        if (!option.marker)
            read_option(s, &option, &o);
    if (!rtmfp_options_bad(&list) && !o.wrong && o.has_metadata)
        f->accepted = !s->set->ops->opened ||
                      s->set->ops->opened(s, f, o.metadata, o.answers);
    f->rejected = !f->accepted;
    f->next = s->ins;
    s->ins = f;
    s->n_ins++;
    f->ack_now = true;
    return f;
}

static struct rtmfp_flow_in *flow_of(struct rtmfp_session *s, const struct rtmfp_user_data *d,
                                     co_usec now)
{
    struct rtmfp_flow_in *f = rtmfp_flows_in(s, d->flow);

    if (f || ack_over(s, d->flow, now) || too_many(s, now))
        return f;
    return open_in(s, d);
}

static bool deliver(void *user, struct rtmfp_flow_in *f, const uint8_t *data, size_t size)
{
    struct rtmfp_session *s = user;

    return s->state == RTMFP_OPEN && s->set->ops->message(s, f, data, size);
}

/* Decides when to acknowledge: section 3.6.3.4.1. */
static void plan_ack(struct rtmfp_session *s, struct rtmfp_flow_in *f,
                     const struct rtmfp_user_data *d, bool was_seen, bool had_gap, co_usec now)
{
    bool gap = f->seen.n > 0;

    if (was_seen || gap || had_gap || d->abandoned || d->final || f->rejected || f->was_small)
        f->ack_now = true;
    f->ack_soon = true;
    if (!s->ack_at || f->ack_now)
        s->ack_at = f->ack_now ? now : now + ACK_WITHIN;
}

static void put(struct rtmfp_session *s, struct rtmfp_arrival *a)
{
    struct rtmfp_flow_in *f = a->flow;
    bool was_seen = rtmfp_ranges_has(&f->seen, a->data.seq), had_gap = f->seen.n > 0;

    switch (rtmfp_flow_in_put(f, &a->data, &s->store, s->set->message_max, deliver, s)) {
    case RTMFP_TOO_LARGE:
        rtmfp_session_hostile(s, "a message is over the size limit");
        break;
    case RTMFP_NONSENSE:
        rtmfp_session_nonsense(s);
        break;
    case RTMFP_TAKEN:
    case RTMFP_NO_ROOM:
        break;
    }
    plan_ack(s, f, &a->data, was_seen, had_gap, a->now);
}

static bool read_data(struct rtmfp_arrival *a, struct rtmfp_bytes body, bool next)
{
    if (next)
        return a->has_data && rtmfp_user_data_read_next(&a->data, body);
    return rtmfp_user_data_read(&a->data, body);
}

void rtmfp_flows_data(struct rtmfp_session *s, struct rtmfp_arrival *a, struct rtmfp_bytes body,
                      bool next)
{
    bool read = read_data(a, body, next);

    if (!read) {
        rtmfp_session_nonsense(s);
        a->has_data = false;
        return;
    }
    a->any_data = true;
    if (!next || !a->has_data)
        a->flow = flow_of(s, &a->data, a->now);
    a->has_data = s->state == RTMFP_OPEN;
    if (a->has_data && a->flow)
        put(s, a);
}
