/* SPDX-License-Identifier: MIT */
/* stats.c - statistics of a session in the list of clients: transport, loss and jitter. */
#include "format/rtp/formats.h"
#include "proto/rtp/rtcp.h"
#include "serve/rtsp/file.h"

static enum clients_transport transport_of(const struct rtsp_conn *c)
{
    switch (c->flowing->lower) {
    case RTSP_UDP:
        return CLIENTS_TRANSPORT_UDP;
    case RTSP_MULTICAST:
        return CLIENTS_TRANSPORT_MULTICAST;
    default:
        return c->tunnelled ? CLIENTS_TRANSPORT_TUNNEL : CLIENTS_TRANSPORT_TCP;
    }
}

void rtsp_conn_report(struct rtsp_conn *c, uint64_t lost, co_usec jitter)
{
    if (!c->flowing)
        return;
    clients_rtp(&c->base.entry, &(struct clients_rtp){
        .way = transport_of(c), .lost = lost < UINT32_MAX ? (uint32_t)lost : UINT32_MAX,
        .jitter = jitter });
}

void rtsp_conn_tracks(const struct rtsp_conn *c, struct rtp_wire_track out[RTP_WIRE_N])
{
    if (c->file)
        rtsp_file_tracks(c->file, out);
    else
        rtp_wire_tracks(c->base.src, out);
}

/* ---- receiver reports */

/* Returns the clock rate of a track in ticks per second; 0: the stream has no such track now. */
static uint32_t clock_of(const struct rtsp_conn *c, unsigned track)
{
    struct rtp_wire_track tracks[RTP_WIRE_N];
    struct rtp_map map;

    rtsp_conn_tracks(c, tracks);
    return rtp_map_of(&map, tracks[track].codec, tracks[track].config, tracks[track].size)
               ? map.clock : 0;
}

static void take_block(struct rtsp_conn *c, unsigned track, const struct rtcp_block *b)
{
    uint32_t clock = clock_of(c, track), lost = 0, jitter = 0;

    if (b->ssrc != rtp_wire_ssrc(rtp_wire_seed(live_source_name(c->base.src)), track) || !clock)
        return;
    c->receiver[track].lost = b->lost > 0 ? (uint32_t)b->lost : 0;
    c->receiver[track].jitter = (uint32_t)((uint64_t)b->jitter * CO_SECONDS(1) / clock);
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        lost += c->receiver[i].lost;
        if (c->receiver[i].jitter > jitter)
            jitter = c->receiver[i].jitter;
    }
    rtsp_conn_report(c, lost, jitter);
}

void rtsp_conn_take_rtcp(struct rtsp_conn *c, unsigned track, const uint8_t *data, size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet p;
    struct rtcp_block b;

    rtcp_begin(&r, data, size);
    while (c->flowing && track < RTP_WIRE_N && rtcp_next(&r, &p)) {
        while ((p.type == RTCP_RR || p.type == RTCP_SR) && rtcp_next_block(&p, &b))
            take_block(c, track, &b);
    }
}
