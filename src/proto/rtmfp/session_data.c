/* SPDX-License-Identifier: MIT */
/* session_data.c - fills packets with our user data and schedules them (RFC 7016, 3.6.2). */
#include "proto/rtmfp/session_impl.h"

#include "base/must.h"

#include <assert.h>

enum {
    OPTION_METADATA = 0x00, OPTION_ASSOCIATION = 0x0a,
    ECHO_SIZE = 2, SECOND = 1000000, PROBE_FIRST = SECOND, PROBE_MOST = 60 * SECOND,
    OPTIONS_MAX = RTMFP_METADATA_MAX + 2 * RTMFP_VLU_MAX + 4,
};

bool rtmfp_data_ready(const struct rtmfp_session *s)
{
    if (!rtmfp_congestion_open(&s->congestion))
        return false;
    for (const struct rtmfp_flow_out *f = s->outs; f; f = f->next)
        if (rtmfp_flow_out_ready(f))
            return true;
    return false;
}

bool rtmfp_data_critical(const struct rtmfp_session *s)
{
    const struct rtmfp_flow_out *f = s->outs;

    while (f && (f->order == RTMFP_COMMANDS || (!f->in_flight && !rtmfp_flow_out_ready(f))))
        f = f->next;
    return f != NULL;
}

/* ---- packets */

/* Options that describe a flow: sent with its first fragment in each packet until something was
 * acknowledged. */
static struct rtmfp_bytes options_of(const struct rtmfp_flow_out *f, uint8_t out[OPTIONS_MAX])
{
    struct wr w = rtmfp_wr(out, OPTIONS_MAX);

    rtmfp_option_write(&w, OPTION_METADATA, rtmfp_bytes(f->metadata, f->metadata_size));
    if (f->associated)
        rtmfp_option_write_vlu(&w, OPTION_ASSOCIATION, f->association);
    assert(!w.bad);
    return rtmfp_bytes(out, w.len);
}

static bool write_cut(struct rtmfp_flow_out *f, struct wr *w, struct rtmfp_user_data *d,
                      const struct rtmfp_cut *cut)
{
    d->seq = cut->seq;
    d->offset = cut->seq - f->forward;
    d->abandoned = cut->abandoned;
    d->final = cut->final;
    d->position = cut->position;
    d->data = rtmfp_bytes(cut->data, cut->size);
    return rtmfp_user_data_write(w, d);
}

/* Size of the head of the next fragment. A new fragment leaves room for an echo that this packet
 * may lack, so that it fits into any packet when it is retransmitted. */
static size_t head_size(const struct rtmfp_flow_out *f, struct rtmfp_user_data *d, bool next)
{
    size_t spare = f->lost > 0 ? 0 : ECHO_SIZE;

    d->next = next;
    d->seq = rtmfp_flow_out_next_seq(f);
    d->offset = d->seq - f->forward;
    d->data.n = 0;
    return rtmfp_user_data_head_size(d) - RTMFP_CHUNK_HEAD + spare;
}

/* Writes as many fragments of a flow as fit: the first as User Data, consecutive ones as Next User
 * Data. Returns false if there was none. */
static bool write_run(struct rtmfp_session *s, struct rtmfp_flow_out *f, struct wr *w)
{
    uint8_t options[OPTIONS_MAX];
    struct rtmfp_user_data d = { .flow = f->id, .has_options = !f->known };
    struct rtmfp_cut cut = { .seq = 0 };

    if (d.has_options)
        d.options = options_of(f, options);
    while (s->congestion.in_flight < s->congestion.cwnd || s->congestion.probing) {
        size_t head = head_size(f, &d, cut.seq > 0), room = rtmfp_chunk_room(w);
        uint32_t before = f->in_flight;

        if (room < head || !rtmfp_flow_out_next(f, room - head, cut.seq, s->number, &cut))
            break;
        s->congestion.in_flight += f->in_flight - before;
        must_be(write_cut(f, w, &d, &cut)); /* it was cut for this room */
        d.has_options = false;
        d.options.n = 0;
    }
    return cut.seq > 0;
}

/* ---- chunks sent when there is no data: abandoned fragments, and probes of the peer's window */

static bool is_held_up(const struct rtmfp_flow_out *f)
{
    return f->waiting_n > 0 && f->in_flight == 0 && f->room == 0;
}

static co_usec notice_at(const struct rtmfp_session *s, const struct rtmfp_flow_out *f)
{
    if (rtmfp_flow_out_must_announce(f))
        return f->announced_at ? f->announced_at + s->congestion.erto : 0;
    return is_held_up(f) ? f->probed_at + f->probe_wait : CO_FOREVER;
}

/* Window 0 (3.6.2.3): probes after a second, then at growing intervals. An older client does not
 * know the probe and gets a fragment. */
static void probe(struct rtmfp_session *s, struct rtmfp_flow_out *f, struct wr *w, co_usec now)
{
    bool first = f->probe_wait == 0;

    f->probed_at = now;
    f->probe_wait = first ? PROBE_FIRST : f->probe_wait * 2;
    if (f->probe_wait > PROBE_MOST)
        f->probe_wait = PROBE_MOST;
    if (!first && s->older)
        f->room = 1;
    else if (!first)
        (void)rtmfp_probe_write(w, f->id);
}

static void write_notice(struct rtmfp_session *s, struct rtmfp_flow_out *f, struct wr *w,
                         co_usec now)
{
    struct rtmfp_user_data d = { .flow = f->id, .seq = f->forward, .abandoned = true };

    if (!rtmfp_flow_out_must_announce(f)) {
        probe(s, f, w, now);
        return;
    }
    (void)rtmfp_user_data_write(w, &d);
    f->announced_at = now;
}

void rtmfp_data_write(struct rtmfp_session *s, struct wr *w, co_usec now)
{
    uint32_t before = s->congestion.in_flight;

    for (struct rtmfp_flow_out *f = s->outs; f; f = f->next) {
        co_usec at = notice_at(s, f);

        if (at != CO_FOREVER && now >= at)
            write_notice(s, f, w, now);
    }
    if (!rtmfp_data_ready(s))
        return;
    for (struct rtmfp_flow_out *f = s->outs; f; f = f->next) {
        if (f->room > 0)
            f->probe_wait = 0;
        while (rtmfp_flow_out_ready(f) && write_run(s, f, w))
            s->congestion.critical = f->order != RTMFP_COMMANDS;
    }
    if (s->congestion.in_flight == before)
        return;
    rtmfp_congestion_sent(&s->congestion, now);
    s->number++;
}

/* ---- timeouts */

/* Retransmits the oldest transmission in flight. The peer acknowledges what it has, immediately if
 * it has this already. */
static void retransmit_oldest(struct rtmfp_session *s)
{
    uint32_t oldest = 0, number;
    bool any = false;

    for (const struct rtmfp_flow_out *f = s->outs; f; f = f->next) {
        if (!rtmfp_flow_out_oldest_flying(f, &number) ||
            (any && (int32_t)(number - oldest) >= 0))
            continue;
        oldest = number;
        any = true;
    }
    for (struct rtmfp_flow_out *f = s->outs; any && f; f = f->next)
        s->congestion.in_flight -= rtmfp_flow_out_retransmit(f, oldest);
}

void rtmfp_data_timeout(struct rtmfp_session *s, co_usec now)
{
    co_usec at = rtmfp_congestion_deadline(&s->congestion);

    if (at == CO_FOREVER || now < at)
        return;
    if (rtmfp_congestion_probe(&s->congestion, now)) {
        retransmit_oldest(s);
        return;
    }
    rtmfp_congestion_timeout(&s->congestion, now);
    for (struct rtmfp_flow_out *f = s->outs; f; f = f->next)
        rtmfp_flow_out_timeout(f);
    s->congestion.in_flight = 0;
    rtmfp_flows_free_complete(s, now);
}

co_usec rtmfp_data_deadline(const struct rtmfp_session *s)
{
    co_usec at = rtmfp_congestion_deadline(&s->congestion);

    if (rtmfp_data_ready(s))
        return 0;
    for (const struct rtmfp_flow_out *f = s->outs; f; f = f->next)
        at = rtmfp_sooner(at, notice_at(s, f));
    return at;
}
