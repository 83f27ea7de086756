/* SPDX-License-Identifier: MIT */
/* send.c - sends datagrams to a session over the path that ICE chose. A full socket drops them. */
#include "serve/rtc/impl.h"

#include "base/log.h"

#include <string.h>

void rtc_peer_send_on(const struct ice_path *way, const void *data, size_t size)
{
    struct rtc_endpoint *e = way->link;
    const struct iovec iov = { (void *)(uintptr_t)data, size };
    const struct udp_out out = { &iov, 1, 0, &way->path, UDP_NOT_ECT };

    if (!e->base.socket)
        rtc_tcp_send(e->tcp, data, size);
    else if (udp_send(e->base.socket, &out, 1) == 0)
        e->base.socket->stat.drops++;
}

bool rtc_peer_is_full(const struct rtc_peer *p)
{
    const struct ice_path *way = ice_path(&p->ice);
    const struct rtc_endpoint *e = way ? way->link : NULL;

    return e && !e->base.socket && rtc_tcp_is_full(e->tcp);
}

void rtc_peer_send(struct rtc_peer *p, const void *data, size_t size)
{
    const struct ice_path *way = ice_path(&p->ice);

    if (!way)
        return;
    p->base.session.out += size;
    rtc_peer_send_on(way, data, size);
}

static void first_packet(struct rtc_peer *p)
{
    struct co_cid own;

    p->first_packet = co_clock();
    own = co_swap_cid(p->base.cid);
    log_trace("RTC: first packet to %s, %lld ms after the answer", p->base.ip,
              us_to_ms(p->first_packet - p->answered));
    co_set_cid(own.text);
}

static void burst_tcp(struct rtc_endpoint *e, const uint8_t *data, size_t size, size_t segment)
{
    for (size_t at = 0; at < size; at += segment)
        rtc_tcp_send(e->tcp, data + at, size - at < segment ? size - at : segment);
}

static size_t packets_of(const struct udp_out *out)
{
    return (out->iov->iov_len + out->segment - 1) / out->segment;
}

void rtc_batch_send(struct rtc_batch *b)
{
    struct udp *u = b->n > 0 ? b->endpoint->base.socket : NULL;
    size_t gone = b->n > 0 ? udp_send(u, b->out, b->n) : 0;

    for (; gone < b->n; gone++)
        u->stat.drops += packets_of(&b->out[gone]);
    b->n = 0;
}

void rtc_batch_add(struct rtc_batch *b, struct rtc_peer *p, const uint8_t *data, size_t size,
                   size_t segment)
{
    const struct ice_path *way = ice_path(&p->ice);
    struct rtc_endpoint *e;

    if (!way || size == 0)
        return;
    e = way->link;
    p->base.session.out += size;
    p->sent += (size + segment - 1) / segment;
    if (!p->first_packet)
        first_packet(p);
    if (!e->base.socket) {
        burst_tcp(e, data, size, segment);
        return;
    }
    if (b->n == RTC_BATCH || (b->n > 0 && b->endpoint != e))
        rtc_batch_send(b);
    b->endpoint = e;
    b->iov[b->n] = (struct iovec){ (void *)(uintptr_t)data, size };
    b->out[b->n] = (struct udp_out){ &b->iov[b->n], 1, segment, &way->path, UDP_NOT_ECT };
    b->n++;
}

void rtc_peer_rtcp(struct rtc_peer *p, const uint8_t *rtcp, size_t size)
{
    uint8_t out[RTC_DATAGRAM_MAX];

    if (size > sizeof(out) - SRTCP_TAIL || !ice_path(&p->ice))
        return;
    if (p->srtp_out)
        size = srtcp_protect(p->srtp_out, out, rtcp, size);
    else if (p->clear)
        memcpy(out, rtcp, size);
    else
        return;
    if (size == 0)
        return;
    p->service->stat.rtcp_out++;
    rtc_peer_send(p, out, size);
}
