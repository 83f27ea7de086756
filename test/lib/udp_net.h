/* SPDX-License-Identifier: MIT */
/* udp_net.h - a network in memory for tests: sockets of co/net/udp.h with a simulated clock.
 *
 * It loses, duplicates, reorders, delays and marks datagrams from a seed: the same seed and the same calls give
 * the same result, to the byte. It needs no scheduler.
 */
#ifndef LIB_UDP_NET_H
#define LIB_UDP_NET_H

#include "co/net/udp.h"

/* Shares are of 1000 datagrams. All zeros: all arrive at once and in order. */
struct udp_net_rules {
    unsigned drop, repeat, mark; /* mark: CE, if ECN allows it (RFC 3168) */
    unsigned hold;               /* arrive `held` later than otherwise */
    co_usec held;
    co_usec delay, jitter;       /* each arrives after delay .. delay + jitter */
    size_t mtu;                  /* larger ones are lost; 0: no limit */
};

struct udp_net; /* owns its sockets' datagrams; free it after closing them */

struct udp_net *udp_net_new(uint64_t seed, const struct udp_net_rules *rules);
void udp_net_free(struct udp_net *net);
void udp_net_rule(struct udp_net *net, const struct udp_net_rules *rules); /* from now on */
co_usec udp_net_now(const struct udp_net *net);

/* Opens a socket. With an ip of "" it receives for all addresses without another socket. Only
 * the option `most` applies. udp_wait() lets the network's time pass. ERR_SOCKET_BIND: in use. */
err_t udp_net_open(struct udp_net *net, struct udp **out, const char *ip, int port,
                   const struct udp_opts *opts) __attribute__((warn_unused_result));
/* This protocol is driven by udp_net_run() from now on, as by udp_drive(). */
void udp_net_attach(struct udp *u, const struct udp_proto *p, void *me);
/* Lets this much time pass: datagrams arrive, deadlines expire, each at its time. */
void udp_net_run(struct udp_net *net, co_usec time);

#endif
