/* SPDX-License-Identifier: MIT */
/* session.c - the states of a session, and the dispatch of chunks (RFC 7016, 3.5). */
#include "proto/rtmfp/session_impl.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000000, CLOSE_EVERY = 5 * SECOND, CLOSE_FOR = 90 * SECOND,
       LINGER_FOR = 19 * SECOND };

void rtmfp_session_init(struct rtmfp_session *s, const struct rtmfp_session_set *set,
                        const struct udp_addr *peer, co_usec now)
{
    *s = (struct rtmfp_session){ .set = set, .peer = *peer, .received_at = now,
                                 .store.most = RTMFP_SESSION_HELD };
    rtmfp_congestion_init(&s->congestion);
}

void rtmfp_session_fini(struct rtmfp_session *s)
{
    rtmfp_flows_free(s);
    rtmfp_keepalive_free(s);
}

/* ---- ending */

void rtmfp_session_end(struct rtmfp_session *s, enum rtmfp_end end, enum rtmfp_state state)
{
    if (!s->end)
        s->end = (uint8_t)end;
    s->state = (uint8_t)state;
    s->ack_at = 0;
    if (!s->taking) /* otherwise rtmfp_session_input() still uses them */
        rtmfp_session_fini(s);
}

void rtmfp_session_hostile(struct rtmfp_session *s, const char *why)
{
    if (s->state != RTMFP_OPEN)
        return;
    s->why = why;
    s->send_close_ack = true; /* by itself it ends the session at the peer at once */
    rtmfp_session_end(s, RTMFP_ENDED_HOSTILE, RTMFP_CLOSED);
}

void rtmfp_session_close(struct rtmfp_session *s, co_usec now)
{
    if (s->state != RTMFP_OPEN)
        return;
    rtmfp_session_end(s, RTMFP_ENDED_HERE, RTMFP_CLOSING);
    s->closing_since = s->send_close_at = now;
}

/* 3.5.5: acknowledges the close, and keeps acknowledging. */
static void peer_closes(struct rtmfp_session *s, co_usec now)
{
    s->send_close_ack = true;
    if (s->state == RTMFP_LINGERING || s->state == RTMFP_CLOSED)
        return;
    rtmfp_session_end(s, RTMFP_ENDED_THERE, RTMFP_LINGERING);
    s->closing_since = now;
}

/* ---- receiving */

static void take_chunk(struct rtmfp_session *s, struct rtmfp_arrival *a,
                       const struct rtmfp_chunk *c)
{
    if (c->type == RTMFP_CLOSE) {
        peer_closes(s, a->now);
        return;
    }
    if (c->type == RTMFP_CLOSE_ACK) {
        rtmfp_session_end(s, RTMFP_ENDED_THERE, RTMFP_CLOSED);
        return;
    }
    if (s->state != RTMFP_OPEN)
        return;
    switch (c->type) {
    case RTMFP_USER_DATA: rtmfp_flows_data(s, a, c->body, false); return;
    case RTMFP_NEXT_USER_DATA: rtmfp_flows_data(s, a, c->body, true); return;
    case RTMFP_ACK_RANGES: rtmfp_acks_received(s, a, c->body, false); break;
    case RTMFP_ACK_BITMAP: rtmfp_acks_received(s, a, c->body, true); break;
    case RTMFP_BUFFER_PROBE: rtmfp_acks_probe(s, c->body, a->now); break;
    case RTMFP_PING: rtmfp_keepalive_ping(s, a, c->body); break;
    case RTMFP_PING_REPLY: rtmfp_keepalive_reply(s, a, c->body); break;
    case RTMFP_FORWARDED_IHELLO:
        if (s->set->ops->forwarded)
            s->set->ops->forwarded(s, c->body);
        break;
    default: break;
    }
}

static void take_exception(struct rtmfp_session *s, struct rtmfp_bytes body)
{
    struct rtmfp_exception e;
    struct rtmfp_flow_out *f;

    if (s->state != RTMFP_OPEN)
        return;
    if (!rtmfp_exception_read(&e, body)) {
        rtmfp_session_nonsense(s);
        return;
    }
    f = rtmfp_flows_out(s, e.flow);
    if (f && !f->rejected)
        rtmfp_flow_out_reject(f);
}

void rtmfp_session_input(struct rtmfp_session *s, struct rtmfp_bytes plain,
                         const struct udp_addr *from, co_usec now)
{
    struct rtmfp_arrival a = { .from = from, .now = now, .acks.before = s->congestion.in_flight };
    struct rtmfp_packet p;
    struct rtmfp_chunk c;

    if (!rtmfp_packet_read(&p, plain) || p.head.mode == s->set->mode ||
        p.head.mode == RTMFP_STARTUP)
        return;
    s->stat.received++;
    s->received_at = now;
    s->pings = 0;
    rtmfp_keepalive_head(s, &p.head, now);
    s->taking = true;
    while (rtmfp_chunk_next(&p, &c)) {
        if (c.type != RTMFP_NEXT_USER_DATA && c.type != RTMFP_USER_DATA)
            a.has_data = false;
        if (c.type == RTMFP_FLOW_EXCEPTION)
            take_exception(s, c.body);
        else
            take_chunk(s, &a, &c);
    }
    if (s->state == RTMFP_OPEN) {
        rtmfp_acks_after(s, &a);
        rtmfp_flows_free_complete(s, now);
        rtmfp_keepalive_from(s, from, now);
    }
    s->taking = false;
    if (s->state != RTMFP_OPEN)
        rtmfp_session_fini(s);
}

/* ---- sending */

static bool write_empty(struct rtmfp_session *s, struct wr *w, enum rtmfp_type type, co_usec now)
{
    rtmfp_keepalive_begin(s, w, false, now);
    return rtmfp_plain_write(w, type, rtmfp_bytes(NULL, 0));
}

static bool output_end(struct rtmfp_session *s, struct wr *w, co_usec now)
{
    if (s->send_close_ack) {
        s->send_close_ack = false;
        return write_empty(s, w, RTMFP_CLOSE_ACK, now);
    }
    if (s->state == RTMFP_CLOSING && now >= s->closing_since + CLOSE_FOR)
        s->state = RTMFP_CLOSED;
    if (s->state == RTMFP_LINGERING && now >= s->closing_since + LINGER_FOR)
        s->state = RTMFP_CLOSED;
    if (s->state == RTMFP_CLOSING && now >= s->send_close_at) {
        s->send_close_at = now + CLOSE_EVERY;
        return write_empty(s, w, RTMFP_CLOSE, now);
    }
    return false;
}

/* Ends the session if the peer was silent too long; returns true then. */
static bool end_if_silent(struct rtmfp_session *s, co_usec now)
{
    if (now - s->received_at >= s->set->timeout) {
        rtmfp_session_end(s, RTMFP_ENDED_SILENT, RTMFP_CLOSED);
        return true;
    }
    return false;
}

static bool output_open(struct rtmfp_session *s, struct wr *w, co_usec now)
{
    size_t head;

    rtmfp_data_timeout(s, now);
    rtmfp_keepalive_begin(s, w, rtmfp_data_critical(s), now);
    head = w->len;
    rtmfp_acks_write(s, w, now);
    rtmfp_keepalive_write(s, w, now);
    if (s->state == RTMFP_OPEN)
        rtmfp_data_write(s, w, now);
    if (w->len > head)
        return true;
    w->len = 0;
    return false;
}

bool rtmfp_session_output(struct rtmfp_session *s, struct wr *w, struct udp_addr *to, co_usec now)
{
    bool any;

    *to = s->peer;
    if (s->state == RTMFP_OPEN && !end_if_silent(s, now))
        any = rtmfp_keepalive_move(s, w, to, now) || output_open(s, w, now);
    else
        any = output_end(s, w, now);
    if (any) {
        rtmfp_keepalive_sent(s, now);
        s->stat.sent++;
    }
    return any;
}

static co_usec end_deadline(const struct rtmfp_session *s)
{
    if (s->send_close_ack)
        return s->closing_since;
    if (s->state == RTMFP_CLOSING)
        return rtmfp_sooner(s->send_close_at, s->closing_since + CLOSE_FOR);
    return s->state == RTMFP_LINGERING ? s->closing_since + LINGER_FOR : CO_FOREVER;
}

co_usec rtmfp_session_deadline(const struct rtmfp_session *s)
{
    co_usec at = s->received_at + s->set->timeout;

    if (s->state != RTMFP_OPEN)
        return end_deadline(s);
    if (s->ack_at)
        at = rtmfp_sooner(at, s->ack_at);
    at = rtmfp_sooner(at, rtmfp_data_deadline(s));
    return rtmfp_sooner(at, rtmfp_keepalive_deadline(s));
}
