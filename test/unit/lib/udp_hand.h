/* SPDX-License-Identifier: MIT */
/* udp_hand.h - a UDP socket that hands sent datagrams to the test at once. */
#ifndef UDP_HAND_H
#define UDP_HAND_H

#include "co/net/udp.h"

/* One for all: the address says whose function it is. */
struct udp *udp_hand_socket(void);
/* Datagrams sent there go to sent(arg, out). */
void udp_hand_path(struct udp_path *path, void *arg, void (*sent)(void *arg, const struct udp_out *out));

#endif
