/* SPDX-License-Identifier: MIT */
/* session_impl.h - between the files of a session: session*.c alone. */
#ifndef PROTO_RTMFP_SESSION_IMPL_H
#define PROTO_RTMFP_SESSION_IMPL_H

#include "proto/rtmfp/session.h"

/* A flow of the peer that is complete: it may still repeat what it sent. */
struct rtmfp_flow_over {
    uint64_t id, upto;
    co_usec until;
    bool ack;
};

/* Of one packet that came. */
struct rtmfp_arrival {
    const struct udp_addr *from;
    co_usec now;
    struct rtmfp_user_data data;    /* of the User Data that the next ones follow */
    struct rtmfp_flow_in *flow;     /* its flow; NULL: none that takes it */
    bool has_data;                  /* there was one, and no other chunk since */
    bool any_data, ponged;
    struct rtmfp_heard heard;       /* of acks */
    bool freed;                     /* they brought something, of that transmission at the latest */
    uint32_t latest;
};

static inline co_usec rtmfp_sooner(co_usec a, co_usec b)
{
    if (a == CO_FOREVER || b == CO_FOREVER)
        return a == CO_FOREVER ? b : a;
    return a < b ? a : b;
}

/* A chunk made no sense, and is dropped. */
static inline void rtmfp_session_nonsense(struct rtmfp_session *s)
{
    s->stat.bad_chunks++;
    if (s->set->sums)
        s->set->sums->bad_chunks++;
}

/* ---- session.c */
void rtmfp_session_end(struct rtmfp_session *s, enum rtmfp_end end, enum rtmfp_state state);

/* ---- session_flows.c */
void rtmfp_flows_data(struct rtmfp_session *s, struct rtmfp_arrival *a, struct rtmfp_bytes body,
                      bool next);
void rtmfp_flows_free(struct rtmfp_session *s);
void rtmfp_flows_reap(struct rtmfp_session *s, co_usec now); /* those that are complete */
struct rtmfp_flow_in *rtmfp_flows_in(const struct rtmfp_session *s, uint64_t id);
struct rtmfp_flow_out *rtmfp_flows_out(const struct rtmfp_session *s, uint64_t id);

/* ---- session_acks.c */
void rtmfp_acks_heard(struct rtmfp_session *s, struct rtmfp_arrival *a, struct rtmfp_bytes body,
                      bool bitmap);
void rtmfp_acks_after(struct rtmfp_session *s, struct rtmfp_arrival *a); /* all of the packet */
void rtmfp_acks_probe(struct rtmfp_session *s, struct rtmfp_bytes body, co_usec now);
/* Those that are due, as many as there is room for. */
void rtmfp_acks_write(struct rtmfp_session *s, struct wr *w, co_usec now);

/* ---- session_data.c: user data of ours */
void rtmfp_data_write(struct rtmfp_session *s, struct wr *w, co_usec now);
bool rtmfp_data_ready(const struct rtmfp_session *s); /* a packet of it may go out now */
bool rtmfp_data_critical(const struct rtmfp_session *s);
void rtmfp_data_timeout(struct rtmfp_session *s, co_usec now);
co_usec rtmfp_data_deadline(const struct rtmfp_session *s);

/* ---- session_upkeep.c: timestamps, pings, moves */
void rtmfp_keepalive_head(struct rtmfp_session *s, const struct rtmfp_head *head, co_usec now);
void rtmfp_keepalive_begin(struct rtmfp_session *s, struct wr *w, bool critical, co_usec now);
void rtmfp_keepalive_said(struct rtmfp_session *s, co_usec now); /* that packet goes out */
void rtmfp_keepalive_from(struct rtmfp_session *s, const struct udp_addr *from, co_usec now);
void rtmfp_keepalive_ping(struct rtmfp_session *s, struct rtmfp_arrival *a,
                          struct rtmfp_bytes body);
void rtmfp_keepalive_reply(struct rtmfp_session *s, const struct rtmfp_arrival *a,
                        struct rtmfp_bytes body);
/* Pings that are due: to the peer; or, as a packet of its own, to where it may have moved. */
void rtmfp_keepalive_write(struct rtmfp_session *s, struct wr *w, co_usec now);
bool rtmfp_keepalive_move(struct rtmfp_session *s, struct wr *w, struct udp_addr *to, co_usec now);
co_usec rtmfp_keepalive_deadline(const struct rtmfp_session *s);
void rtmfp_keepalive_free(struct rtmfp_session *s); /* what waits to be said */

#endif
