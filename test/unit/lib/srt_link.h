/* SPDX-License-Identifier: MIT */
/* srt_link.h - two SRT connections, one sends and one receives, over an in-memory network: each
 * has its own clock, and packets may be corrupted. */
#ifndef SRT_LINK_H
#define SRT_LINK_H

#include "udp_net.h"
#include "proto/srt/conn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LINK_SENDER = 1, LINK_RECEIVER = 2 };

struct link_rules {
    struct udp_net_rules net;
    uint64_t seed;
    unsigned packets;           /* to send, about one each `every` µs */
    co_usec every, latency;
    unsigned damage;            /* per 1000 datagrams */
    int drift;                  /* ppm: how much faster the sender's clock is */
    bool no_tsbpd, no_drop;
    const struct srt_secret *secret;
    uint64_t renew_after, renew_before;
};

struct link_end {
    struct link *link;
    struct udp *udp;
    struct udp_path path;       /* to the other one */
    struct srt_conn conn;
    int drift;
    co_usec offset;
    uint8_t control[SRT_PACKET_MAX];
    struct iovec iov;
};

struct link {
    const struct link_rules *rules;
    struct udp_net *net;
    struct link_end send, recv;
    struct srt_log log;
    uint64_t random;
    unsigned fed;
    co_usec feed_at;            /* by the network's clock */
    co_usec began, first_delay; /* the handshake was sent then, and took this long */
    uint64_t damaged;
    /* packets that the receiver delivered */
    void (*on_message)(struct link *l, const struct srt_message *m, co_usec now);
    void (*on_data)(struct link *l, const struct srt_packet *p, co_usec now);
    void (*on_feed)(struct link *l, unsigned n, co_usec now);
    void *arg;
};

/* ---- sent data */

size_t link_size(unsigned n);

/* The sender's clock on the wire wraps in 30 s. */
void link_begin(struct link *l, const struct link_rules *rules);

void link_end(struct link *l);

#endif
