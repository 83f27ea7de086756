/* SPDX-License-Identifier: MIT */
/* udp_net.h - a network in memory: sockets of co/net/udp.h over a clock of its own, for tests.
 *
 * It loses, repeats, holds back, delays and marks by a seed: the same seed and the same calls give
 * the same, to the byte. Nothing here needs a scheduler.
 */
#ifndef LIB_UDP_NET_H
#define LIB_UDP_NET_H

#include "co/net/udp.h"

/* Shares are of 1000 datagrams. All zeros: all come at once and in order. */
struct udp_net_rules {
    unsigned drop, repeat, mark; /* mark: CE, of those that may be (RFC 3168) */
    unsigned hold;               /* come `held` later than they would have */
    co_usec held;
    co_usec delay, jitter;       /* each comes after delay .. delay + jitter */
    size_t mtu;                  /* larger ones are lost; 0: none are */
};

struct udp_net; /* owns its sockets' datagrams; free it after closing them */

struct udp_net *udp_net_new(uint64_t seed, const struct udp_net_rules *rules);
void udp_net_free(struct udp_net *net);
void udp_net_rule(struct udp_net *net, const struct udp_net_rules *rules); /* from now on */
co_usec udp_net_now(const struct udp_net *net);

/* A socket there. With an ip of "" it is asked by all addresses that nobody else has; of options,
 * `most` counts. udp_wait() lets the time of the network pass. ERR_SOCKET_BIND: it is taken. */
err_t udp_net_open(struct udp_net *net, struct udp **out, const char *ip, int port,
                   const struct udp_opts *opts) __attribute__((warn_unused_result));
/* This protocol is driven by udp_net_run() from now on, as by udp_drive(). */
void udp_net_attach(struct udp *u, const struct udp_proto *p, void *me);
/* Let so much time pass: datagrams come, deadlines are met, each at its time. */
void udp_net_run(struct udp_net *net, co_usec time);

#endif
