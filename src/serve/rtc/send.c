/* SPDX-License-Identifier: MIT */
/* send.c - to a session, on the way that ICE chose. What is full loses what comes. */
#include "serve/rtc/impl.h"

#include "base/log.h"

#include <string.h>

void rtc_peer_send_on(const struct ice_way *way, const void *data, size_t size)
{
    struct rtc_endpoint *e = way->link;
    const struct iovec iov = { (void *)(uintptr_t)data, size };
    const struct udp_out out = { &iov, 1, 0, &way->path, UDP_NOT_ECT };

    if (!e->socket)
        rtc_tcp_send(e->tcp, data, size);
    else if (udp_send(e->socket, &out, 1) == 0)
        e->socket->stat.drops++;
}

void rtc_peer_send(struct rtc_peer *p, const void *data, size_t size)
{
    const struct ice_way *way = ice_way(&p->ice);

    if (!way)
        return;
    p->base.out += size;
    rtc_peer_send_on(way, data, size);
}

static void first_packet(struct rtc_peer *p)
{
    char own[RTC_CID];

    p->first_packet = co_clock();
    rtc_peer_speak(p, own);
    log_trace("RTC: first packet to %s, %lld ms after the answer", p->ip,
              us_to_ms(p->first_packet - p->answered));
    rtc_peer_silent(own);
}

static void burst_tcp(struct rtc_endpoint *e, const uint8_t *data, size_t size, size_t segment)
{
    for (size_t at = 0; at < size; at += segment)
        rtc_tcp_send(e->tcp, data + at, size - at < segment ? size - at : segment);
}

void rtc_peer_burst(struct rtc_peer *p, const uint8_t *data, size_t size, size_t segment)
{
    const struct ice_way *way = ice_way(&p->ice);
    const struct iovec iov = { (void *)(uintptr_t)data, size };
    struct udp_out out = { &iov, 1, segment, NULL, UDP_NOT_ECT };
    size_t packets = segment ? (size + segment - 1) / segment : 1;
    struct rtc_endpoint *e;

    if (!way || size == 0)
        return;
    e = way->link;
    out.path = &way->path;
    p->base.out += size;
    p->sent += packets;
    if (!p->first_packet)
        first_packet(p);
    if (!e->socket)
        burst_tcp(e, data, size, segment ? segment : size);
    else if (udp_send(e->socket, &out, 1) == 0)
        e->socket->stat.drops += packets;
}

void rtc_peer_rtcp(struct rtc_peer *p, const uint8_t *rtcp, size_t size)
{
    uint8_t out[RTC_DATAGRAM_MAX];

    if (size > sizeof(out) - SRTCP_TAIL || !ice_way(&p->ice))
        return;
    if (p->srtp_out)
        size = srtcp_protect(p->srtp_out, out, rtcp, size);
    else if (p->clear)
        memcpy(out, rtcp, size);
    else
        return;
    if (size > 0)
        rtc_peer_send(p, out, size);
}
