/* SPDX-License-Identifier: MIT */
/* udp.c - media of a pull as datagrams: a pair of ports of our own for each of them. */
#include "pull/rtsp/pull.h"

#include "co/net/io_tcp.h"

#include <stdio.h>

/* Sent to where media are to come from, so that a router between lets them through: no RTP, as
 * others do it; and a report of nothing. */
static const uint8_t knock[] = { 0xfe, 0xed, 0xfa, 0xce };
static const uint8_t knock_rtcp[] = { 0x80, 201, 0, 1, 0, 0, 0, 0 };

err_t rtsp_pull_udp_offer(struct rtsp_pull *p, unsigned n, char *transport, size_t size)
{
    struct rtsp_pull_media *m = &p->media[n];
    struct rtsp_pair ports;
    err_t err = rtsp_udp_private(&m->pair, p->pull.session.env);

    if (err) {
        m->pair = NULL;
        return err;
    }
    ports = rtsp_udp_ports(m->pair);
    (void)snprintf(transport, size, "RTP/AVP;unicast;client_port=%d-%d", ports.rtp, ports.rtcp);
    return NULL;
}

static void on_datagram(void *pull, unsigned n, bool rtcp, const uint8_t *data, size_t size,
                        co_usec now)
{
    struct rtsp_pull *p = pull;

    (void)now;
    p->call.io->bytes_in += size; /* it is what the connection is for */
    rtsp_pull_packet(p, n, rtcp, data, size);
    if (p->publishing && rtsp_intake_due(p->rx) < p->waits_until)
        co_unpark(p->pull.session.co);
}

err_t rtsp_pull_udp_take(struct rtsp_pull *p, unsigned n, const struct rtsp_transport *said)
{
    struct rtsp_pull_media *m = &p->media[n];
    struct rtsp_pair to = said->server_port;
    char ip[IO_ADDR_SIZE];
    err_t err;

    if (said->lower != RTSP_UDP || to.rtp <= 0 || to.rtp > 65535)
        return err_new(ERR_RTSP, "SETUP: no port of the server");
    if (to.rtcp <= 0 || to.rtcp > 65535)
        to.rtcp = to.rtp < 65535 ? to.rtp + 1 : to.rtp;
    io_tcp_peer(p->call.io, ip, &(int){ 0 });
    err = rtsp_udp_peer_new(&m->peer, m->pair, ip, "", on_datagram, p);
    if (!err)
        err = rtsp_udp_add(m->peer, n, to);
    if (err)
        return err;
    rtsp_udp_send(m->peer, n, false, knock, sizeof(knock));
    rtsp_udp_send(m->peer, n, true, knock_rtcp, sizeof(knock_rtcp));
    return NULL;
}

void rtsp_pull_udp_close(struct rtsp_pull *p)
{
    for (unsigned n = 0; n < SDP_MEDIA_MAX; n++) {
        rtsp_udp_peer_free(p->media[n].peer);
        rtsp_udp_close(p->media[n].pair);
        p->media[n].peer = NULL;
        p->media[n].pair = NULL;
    }
}
