/* SPDX-License-Identifier: MIT */
/* session_impl.h - internal interface between session*.c. */
#ifndef PROTO_RTMFP_SESSION_IMPL_H
#define PROTO_RTMFP_SESSION_IMPL_H

#include "proto/rtmfp/session.h"

/* A completed flow of the peer, which may still retransmit. */
struct rtmfp_flow_over {
    uint64_t id, upto;
    co_usec until;
    bool ack;
};

/* State of one received packet. */
struct rtmfp_arrival {
    const struct udp_addr *from;
    co_usec now;
    struct rtmfp_user_data data;    /* last User Data, which Next User Data continues */
    struct rtmfp_flow_in *flow;     /* its flow; NULL: no flow accepts it */
    bool has_data;                  /* there was User Data, and no other chunk since */
    bool any_data, ponged;
    struct rtmfp_ack_summary acks;       /* summary of the acks */
    bool freed;                     /* they freed data; `latest` is the latest transmission freed */
    uint32_t latest;
};

static inline co_usec rtmfp_sooner(co_usec a, co_usec b)
{
    if (a == CO_FOREVER || b == CO_FOREVER)
        return a == CO_FOREVER ? b : a;
    return a < b ? a : b;
}

/* Counts an invalid chunk, which is dropped. */
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
void rtmfp_flows_free_complete(struct rtmfp_session *s, co_usec now); /* frees completed flows */
struct rtmfp_flow_in *rtmfp_flows_in(const struct rtmfp_session *s, uint64_t id);
struct rtmfp_flow_out *rtmfp_flows_out(const struct rtmfp_session *s, uint64_t id);

/* ---- session_acks.c */
void rtmfp_acks_received(struct rtmfp_session *s, struct rtmfp_arrival *a, struct rtmfp_bytes body,
                         bool bitmap);
/* after all chunks of a packet */
void rtmfp_acks_after(struct rtmfp_session *s, struct rtmfp_arrival *a);
void rtmfp_acks_probe(struct rtmfp_session *s, struct rtmfp_bytes body, co_usec now);
/* Writes the acks that are due, as many as fit. */
void rtmfp_acks_write(struct rtmfp_session *s, struct wr *w, co_usec now);

/* ---- session_data.c: our user data */
void rtmfp_data_write(struct rtmfp_session *s, struct wr *w, co_usec now);
bool rtmfp_data_ready(const struct rtmfp_session *s); /* a packet of it may be sent now */
bool rtmfp_data_critical(const struct rtmfp_session *s);
void rtmfp_data_timeout(struct rtmfp_session *s, co_usec now);
co_usec rtmfp_data_deadline(const struct rtmfp_session *s);

/* ---- session_keepalive.c: timestamps, pings, moves */
void rtmfp_keepalive_head(struct rtmfp_session *s, const struct rtmfp_head *head, co_usec now);
void rtmfp_keepalive_begin(struct rtmfp_session *s, struct wr *w, bool critical, co_usec now);
/* called when the packet is sent */
void rtmfp_keepalive_sent(struct rtmfp_session *s, co_usec now);
void rtmfp_keepalive_from(struct rtmfp_session *s, const struct udp_addr *from, co_usec now);
void rtmfp_keepalive_ping(struct rtmfp_session *s, struct rtmfp_arrival *a,
                          struct rtmfp_bytes body);
void rtmfp_keepalive_reply(struct rtmfp_session *s, const struct rtmfp_arrival *a,
                        struct rtmfp_bytes body);
/* Write due pings: to the peer; or, as a separate packet, to an address to which it may have
 * moved. */
void rtmfp_keepalive_write(struct rtmfp_session *s, struct wr *w, co_usec now);
bool rtmfp_keepalive_move(struct rtmfp_session *s, struct wr *w, struct udp_addr *to, co_usec now);
co_usec rtmfp_keepalive_deadline(const struct rtmfp_session *s);
void rtmfp_keepalive_free(struct rtmfp_session *s); /* frees everything that waits to be sent */

#endif
