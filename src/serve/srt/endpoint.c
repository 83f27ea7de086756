/* SPDX-License-Identifier: MIT */
/* endpoint.c - a socket of a worker: passes packets to their connections, which are served after
 * each batch. */
#include "base/container_of.h"
#include "base/must.h"
#include "serve/srt/impl.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 8 << 20 }; /* kernel buffer for all connections, bytes */

/* ---- receiving */

static void touch(struct srt_endpoint *e, struct srt_peer *p)
{
    if (p->touched)
        return;
    p->touched = true;
    p->next_touched = e->touched;
    e->touched = p;
}

/* The caller has received the response and will not repeat its conclusion, so the copy is freed. */
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
    if (p->base.state != DATAGRAM_ACTIVE)
        return; /* before its admission, or after its end */
    p->base.session.in += in->size;
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

    (void)via, (void)now; /* in->at counts, also for datagrams that were passed on */
    if (!srt_packet_read(&packet, in->data, in->size)) {
        s->stat.strangers++;
        return;
    }
    if (packet.to == 0) {
        srt_handshake_input(e, in, &packet);
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
        datagram_client_turn(&p->base, now);
    }
    datagram_out_flush(&e->out);
}

/* ---- functions of srt_protocol */

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

/* ---- the program that selects a worker's socket for a datagram */

enum { ID_AT = 12, CALLER_AT = 16 + 24 }; /* offsets: destination id; caller's id in a handshake */

/* A shorter datagram ends the program with 0: the first worker counts it as unknown. */
unsigned srt_dispatch_program(struct sock_filter out[SRT_DISPATCH_STEPS], unsigned workers)
{
    const struct sock_filter program[SRT_DISPATCH_STEPS] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ID_AT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, CALLER_AT),
        BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, workers),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };

    for (unsigned i = 0; i < SRT_DISPATCH_STEPS; i++)
        out[i] = program[i];
    return SRT_DISPATCH_STEPS;
}
