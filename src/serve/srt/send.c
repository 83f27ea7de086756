/* SPDX-License-Identifier: MIT */
/* send.c - sends datagrams to clients: control packets of a batch together, and the packets of a
 * player's turn in one call. */
#include "serve/srt/impl.h"

#include <string.h>

void srt_endpoint_send(struct srt_endpoint *e, const struct udp_path *path, const void *data,
                       size_t size)
{
    memcpy(datagram_out_room(&e->out, size), data, size);
    datagram_out_put(&e->out, size, path);
}

void srt_peer_send(struct srt_peer *p, const void *data, size_t size)
{
    p->base.session.out += size;
    srt_endpoint_send(p->endpoint, &p->path, data, size);
}

void srt_peer_burst(struct srt_peer *p, const struct srt_burst *b)
{
    const struct udp_out out = { b->iov, b->pieces, b->segment, &p->path, UDP_NOT_ECT };
    struct udp *u = p->endpoint->base.socket;

    p->base.session.out += b->bytes;
    if (udp_send(u, &out, 1) == 0)
        u->stat.drops += b->packets;
}

static err_t end_of(const struct srt_peer *p)
{
    switch (p->conn.end) {
    case SRT_ENDED_SHUTDOWN:
        return err_new(ERR_IO_CLOSED, "%s sent a shutdown", p->base.ip);
    case SRT_ENDED_IDLE:
        return err_new(ERR_SRT_TIMEOUT, "no packet from %s for peer_idle_timeout", p->base.ip);
    case SRT_ENDED_STUCK:
        return err_new(ERR_SRT, "recvbuf is full because of a gap, and tlpktdrop is off");
    default:
        return err_new(ERR_SRT, "%s referred to impossible packet numbers", p->base.ip);
    }
}

void srt_peer_flush(struct srt_peer *p, co_usec now)
{
    uint8_t data[SRT_PACKET_MAX];
    size_t size;

    while ((size = srt_conn_control(&p->conn, data, now)) > 0)
        srt_peer_send(p, data, size);
    if (p->base.state == DATAGRAM_ENDING)
        return;
    if (p->conn.end != SRT_OPEN)
        datagram_client_close(&p->base, end_of(p));
    else
        datagram_client_timer(&p->base, srt_conn_deadline(&p->conn), now);
}
