/* SPDX-License-Identifier: MIT */
/* tell.c - what the list of clients shows of a session: how its media go, and what is lost. */
#include "serve/rtsp/conn.h"

static enum clients_way way_of(const struct rtsp_conn *c)
{
    switch (c->flowing->lower) {
    case RTSP_UDP:
        return CLIENTS_WAY_UDP;
    case RTSP_MULTICAST:
        return CLIENTS_WAY_MULTICAST;
    default:
        return c->tunnelled ? CLIENTS_WAY_TUNNEL : CLIENTS_WAY_TCP;
    }
}

void rtsp_conn_tell(struct rtsp_conn *c, uint64_t lost, co_usec jitter)
{
    if (!c->flowing)
        return;
    clients_rtp(&c->base.entry, &(struct clients_rtp){
        .way = way_of(c), .lost = lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX,
        .jitter = jitter });
}
