/* SPDX-License-Identifier: MIT */
/* address.h - addresses in chunks ([RTMFP] 2.1.5): who says so, IP address and port. */
#ifndef PROTO_RTMFP_ADDRESS_H
#define PROTO_RTMFP_ADDRESS_H

#include "co/net/udp.h"
#include "proto/rtmfp/vlu.h"

/* Older clients take an address of unknown origin for "the peer is gone". */
enum rtmfp_origin {
    RTMFP_UNKNOWN, RTMFP_LOCAL, /* of one of its own interfaces */
    RTMFP_OBSERVED,             /* by who sends it */
    RTMFP_RELAY,                /* of a relay or an introducer */
};

struct rtmfp_address {
    enum rtmfp_origin origin;
    struct udp_addr at; /* an IPv6 address that is a mapped IPv4 one is the latter */
};

/* r->bad: it is cut. */
void rtmfp_address_read(struct rd *r, struct rtmfp_address *out);
void rtmfp_address_write(struct wr *w, const struct rtmfp_address *a);

#endif
