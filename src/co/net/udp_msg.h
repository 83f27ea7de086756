/* SPDX-License-Identifier: MIT */
/* udp_msg.h - what goes with a datagram as control messages, to bytes and back; for co/ alone. */
#ifndef CO_NET_UDP_MSG_H
#define CO_NET_UDP_MSG_H

#include "co/net/udp.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

/* Room for all that the kernel tells with one datagram, or takes. */
enum { UDP_CONTROL = 192 };

/* What was told. */
struct udp_told {
    struct udp_addr local; /* without the port */
    struct timespec at;    /* of the wall clock; zeros: not told */
    size_t segment;        /* 0: it is one datagram */
    uint32_t overflow;     /* dropped by the socket since it was opened */
    enum udp_ecn ecn;
};

void udp_msg_read(const struct msghdr *msg, struct udp_told *out);
/* Fill in msg->msg_control, which has UDP_CONTROL bytes, and its length; without any, both are
 * zeros. segment 0: none. */
void udp_msg_write(struct msghdr *msg, const struct udp_out *v, size_t segment);

#endif
