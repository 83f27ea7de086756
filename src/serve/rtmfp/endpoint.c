/* SPDX-License-Identifier: MIT */
/* endpoint.c - the UDP sockets of a worker: hands packets to their sessions and sends their output
 * in batches. */
#include "base/container_of.h"
#include "base/must.h"
#include "serve/rtmfp/peer.h"

#include <stdlib.h>

enum { BUFFER = 8 << 20 }; /* socket buffer for all sessions */

/* ---- in */

static void count_bad(struct rtmfp_service *s, enum rtmfp_opened why)
{
    s->stat.bad[why == RTMFP_BAD_SIZE ? RTMFP_BAD_SIZES
                : why == RTMFP_BAD_SUM ? RTMFP_BAD_SUMS : RTMFP_BAD_REPEATED]++;
}

static void on_packet(struct rtmfp_endpoint *e, struct rtmfp_peer *p, const struct udp_in *in)
{
    struct rtmfp_service *s = e->service;
    struct rtmfp_bytes plain;
    enum rtmfp_opened opened;

    if (p->endpoint != e) {
        s->stat.bad[RTMFP_BAD_STRANGER]++;
        return;
    }
    opened = rtmfp_open(p->cipher ? p->cipher : s->cipher, &p->opener, in->data, in->size,
                        s->plain, &plain);
    if (opened == RTMFP_OPENED)
        rtmfp_peer_take(p, plain, in);
    else
        count_bad(s, opened);
}

void rtmfp_endpoint_input(struct datagram_endpoint *base, const struct udp_in *in, unsigned via,
                          co_usec now)
{
    struct rtmfp_endpoint *e = container_of(base, struct rtmfp_endpoint, base);
    struct rtmfp_service *s = e->service;
    struct rtmfp_peer *p;
    unsigned worker;
    uint32_t id;

    (void)via;
    if (!rtmfp_session_id(in->data, in->size, &id)) {
        s->stat.bad[RTMFP_BAD_SIZES]++;
        return;
    }
    if (id == 0) {
        rtmfp_startup_take(e, in, now);
        return;
    }
    worker = datagram_worker_of(id, s->slots.workers);
    if (worker != s->slots.worker) {
        datagram_pass(base, worker, in, DATAGRAM_MAILS);
        return;
    }
    p = datagram_slots_find(&s->slots, id);
    if (p)
        on_packet(e, p, in);
    else
        s->stat.bad[RTMFP_BAD_STRANGER]++;
}

void rtmfp_endpoint_end_batch(struct datagram_endpoint *base)
{
    struct rtmfp_endpoint *e = container_of(base, struct rtmfp_endpoint, base);

    rtmfp_peers_turn(e->service, co_clock());
    datagram_out_flush(&e->out);
}

/* ---- functions of rtmfp_protocol */

struct datagram_endpoint *rtmfp_endpoint_new(struct datagram_service *service)
{
    struct rtmfp_endpoint *e = must(calloc(1, sizeof(*e)));

    e->service = container_of(service, struct rtmfp_service, base);
    e->out.endpoint = &e->base;
    return &e->base;
}

struct udp_opts rtmfp_endpoint_opts(const struct conf *conf)
{
    (void)conf;
    return (struct udp_opts){ .rcvbuf = BUFFER, .sndbuf = BUFFER };
}

void rtmfp_endpoint_closing(struct datagram_endpoint *base)
{
    struct rtmfp_endpoint *e = container_of(base, struct rtmfp_endpoint, base);

    datagram_out_end(&e->out);
}

/* ---- which worker's socket gets a datagram */

/* Larger than any socket index: the kernel then selects by addresses. */
enum { BY_ADDRESSES = 0x7fffffff };

/* A datagram shorter than three words ends the program with 0: the first worker counts it. */
unsigned rtmfp_dispatch_program(struct sock_filter out[RTMFP_DISPATCH_STEPS], unsigned workers)
{
    const struct sock_filter program[RTMFP_DISPATCH_STEPS] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
        BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
        BPF_STMT(BPF_MISC | BPF_TAX, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 8),
        BPF_STMT(BPF_ALU | BPF_XOR | BPF_X, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0),
        BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, workers),
        BPF_STMT(BPF_RET | BPF_A, 0),
        BPF_STMT(BPF_RET | BPF_K, BY_ADDRESSES),
    };

    for (unsigned i = 0; i < RTMFP_DISPATCH_STEPS; i++)
        out[i] = program[i];
    return RTMFP_DISPATCH_STEPS;
}
