/* SPDX-License-Identifier: MIT */
/* transport.h - the field Transport: how media is sent, as offered and as agreed (RFC 2326 section
 * 12.39).
 *
 * A client offers one or more transports in order of preference; the response names the chosen one
 * and its numbers. The same functions read and write both.
 */
#ifndef PROTO_RTSP_TRANSPORT_H
#define PROTO_RTSP_TRANSPORT_H

#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

enum { RTSP_OFFERS_MAX = 8, RTSP_ADDRESS_SIZE = 64 };

enum rtsp_lower { RTSP_TCP, RTSP_UDP, RTSP_MULTICAST };

/* Channels or ports of RTP and RTCP; -1: none. */
struct rtsp_pair {
    int rtp, rtcp;
};

struct rtsp_transport {
    enum rtsp_lower lower;
    bool secure;   /* SAVP */
    bool record;   /* the client sends */
    bool has_ssrc;
    uint32_t ssrc;
    int ttl;       /* -1: not given */
    struct rtsp_pair channels;    /* interleaved= */
    struct rtsp_pair client_port;
    struct rtsp_pair server_port;
    struct rtsp_pair port;        /* ports of a multicast group */
    char destination[RTSP_ADDRESS_SIZE], source[RTSP_ADDRESS_SIZE]; /* "": not given */
};

extern const struct rtsp_transport rtsp_transport_none; /* TCP, nothing else given */

/* Parses a field and appends its valid RTP transports to the *n that are in `out`, up to
 * RTSP_OFFERS_MAX; drops the others. */
void rtsp_transport_parse(const char *text, struct rtsp_transport out[RTSP_OFFERS_MAX], size_t *n);
/* Writes a transport: all given parameters, in the usual order. */
void rtsp_transport_put(struct wr *w, const struct rtsp_transport *t);

/* Transports that a server supports. */
struct rtsp_transport_rules {
    bool tcp, udp, multicast, secure;
};

/* Returns the first offer that these rules allow, or NULL: 461. Media is not sent to client ports
 * below 1024. */
const struct rtsp_transport *rtsp_transport_choose(const struct rtsp_transport *offers, size_t n,
                                                   const struct rtsp_transport_rules *rules);

#endif
