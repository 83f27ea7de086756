/* SPDX-License-Identifier: MIT */
/* endpoint.c - a socket of a worker: packets go to their connections, and what these have to say
 * goes out together. */
#include "base/container_of.h"
#include "base/must.h"
#include "serve/srt/impl.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 8 << 20 }; /* of the kernel, for all connections */

/* ---- out */

void srt_endpoint_send(struct srt_endpoint *e, const struct udp_path *path, const void *data,
                       size_t size)
{
    memcpy(datagram_out_room(&e->out, size), data, size);
    datagram_out_put(&e->out, size, path);
}

void srt_peer_send(struct srt_peer *p, const void *data, size_t size)
{
    p->base.out += size;
    srt_endpoint_send(p->endpoint, &p->path, data, size);
}

void srt_peer_burst(struct srt_peer *p, const struct srt_burst *b)
{
    const struct udp_out out = { b->iov, b->pieces, b->segment, &p->path, UDP_NOT_ECT };
    struct udp *u = p->endpoint->base.socket;

    p->base.out += b->bytes;
    if (udp_send(u, &out, 1) == 0)
        u->stat.drops += b->packets;
}

/* ---- one connection */

static err_t end_of(const struct srt_peer *p)
{
    switch (p->conn.end) {
    case SRT_ENDED_SHUTDOWN:
        return err_new(ERR_IO_CLOSED, "%s said shutdown", p->ip);
    case SRT_ENDED_IDLE:
        return err_new(ERR_SRT_TIMEOUT, "nothing came of %s for peer_idle_timeout", p->ip);
    case SRT_ENDED_STUCK:
        return err_new(ERR_SRT, "a gap was not filled before recvbuf was, and tlpktdrop is off");
    default:
        return err_new(ERR_SRT, "%s spoke of packets that cannot be", p->ip);
    }
}

/* What it has to say in the log is its own, whoever runs. */
static void turn(struct srt_peer *p, co_usec now)
{
    char own[SRT_CID];

    memcpy(own, co_cid(), sizeof(own));
    co_set_cid(p->cid);
    if (p->state == SRT_PUBLISHES)
        srt_publish_turn(p, now);
    else if (p->state == SRT_PLAYS)
        srt_play_turn(p, now);
    if (p->state == SRT_PUBLISHES || p->state == SRT_PLAYS)
        srt_peer_flush(p, now);
    co_set_cid(own);
}

static void on_timer(struct co_timer *t)
{
    turn(container_of(t, struct srt_peer, timer), co_now());
}

static void set_timer(struct srt_peer *p, co_usec now)
{
    datagram_timer_set(&p->timer, srt_conn_deadline(&p->conn), now, on_timer);
}

void srt_peer_flush(struct srt_peer *p, co_usec now)
{
    uint8_t data[SRT_PACKET_MAX];
    size_t size;

    while ((size = srt_conn_control(&p->conn, data, now)) > 0)
        srt_peer_send(p, data, size);
    if (p->state == SRT_LEAVES)
        return;
    if (p->conn.end != SRT_OPEN)
        srt_peer_leave(p, end_of(p));
    else
        set_timer(p, now);
}

/* ---- in */

static void touch(struct srt_endpoint *e, struct srt_peer *p)
{
    if (p->touched)
        return;
    p->touched = true;
    p->next_touched = e->touched;
    e->touched = p;
}

/* It has heard that it is let in: its conclusion does not come again. */
static void forget_answer(struct srt_peer *p)
{
    free(p->answer);
    p->answer = NULL;
}

static void on_packet(struct srt_endpoint *e, struct srt_peer *p, const struct udp_in *in,
                      const struct srt_packet *packet)
{
    if (p->endpoint != e || !udp_addr_same(&p->path.peer, &in->path.peer)) {
        e->service->stat.strangers++;
        return;
    }
    if (p->state != SRT_PUBLISHES && p->state != SRT_PLAYS)
        return; /* before it is let in, or behind its end */
    p->base.in += in->size;
    if (p->answer)
        forget_answer(p);
    srt_conn_input(&p->conn, packet, in->at);
    touch(e, p);
}

void srt_endpoint_input(struct datagram_endpoint *base, const struct udp_in *in, unsigned via,
                        co_usec now)
{
    struct srt_endpoint *e = container_of(base, struct srt_endpoint, base);
    struct srt_service *s = e->service;
    struct srt_packet packet;
    struct srt_peer *p;
    unsigned worker;

    (void)via, (void)now; /* in->at is what counts, also of one that was passed on */
    if (!srt_packet_read(&packet, in->data, in->size)) {
        s->stat.strangers++;
        return;
    }
    if (packet.to == 0) {
        srt_greet(e, in, &packet);
        return;
    }
    worker = datagram_worker_of(packet.to, s->slots.workers);
    if (worker != s->slots.worker) {
        datagram_pass(base, worker, in, DATAGRAM_MAILS);
        return;
    }
    p = datagram_slots_find(&s->slots, packet.to);
    if (p)
        on_packet(e, p, in, &packet);
    else
        s->stat.strangers++;
}

void srt_endpoint_end_batch(struct datagram_endpoint *base)
{
    struct srt_endpoint *e = container_of(base, struct srt_endpoint, base);
    co_usec now = co_clock();

    while (e->touched) {
        struct srt_peer *p = e->touched;

        e->touched = p->next_touched;
        p->touched = false;
        turn(p, now);
    }
    datagram_out_flush(&e->out);
}

/* ---- of srt_protocol */

struct datagram_endpoint *srt_endpoint_new(struct datagram_service *service)
{
    struct srt_endpoint *e = must(calloc(1, sizeof(*e)));

    e->service = container_of(service, struct srt_service, base);
    e->out.endpoint = &e->base;
    return &e->base;
}

struct udp_opts srt_endpoint_opts(const struct conf *conf)
{
    return (struct udp_opts){ .rcvbuf = BUFFER, .sndbuf = BUFFER, .plain = !conf->srt_server.gso };
}

void srt_endpoint_closing(struct datagram_endpoint *base)
{
    struct srt_endpoint *e = container_of(base, struct srt_endpoint, base);

    datagram_out_end(&e->out);
}
