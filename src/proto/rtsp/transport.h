/* SPDX-License-Identifier: MIT */
/* transport.h - the Transport field: how media goes, offered and agreed on: RFC 2326 section 12.39.
 *
 * A client offers one way or several, the first is the one it likes best; the answer says which
 * one is in force, and its numbers. Both are read and written by the same functions.
 */
#ifndef PROTO_RTSP_TRANSPORT_H
#define PROTO_RTSP_TRANSPORT_H

#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

enum { RTSP_OFFERS_MAX = 8, RTSP_ADDRESS_SIZE = 64 };

enum rtsp_lower { RTSP_TCP, RTSP_UDP, RTSP_MULTICAST };

/* Two channels or ports, of RTP and RTCP; -1: there is none. */
struct rtsp_pair {
    int rtp, rtcp;
};

struct rtsp_transport {
    enum rtsp_lower lower;
    bool secure;   /* SAVP */
    bool record;   /* the client sends */
    bool has_ssrc;
    uint32_t ssrc;
    int ttl;       /* -1: not told */
    struct rtsp_pair channels;    /* interleaved= */
    struct rtsp_pair client_port;
    struct rtsp_pair server_port;
    struct rtsp_pair port;        /* of a multicast group */
    char destination[RTSP_ADDRESS_SIZE], source[RTSP_ADDRESS_SIZE]; /* "": not told */
};

extern const struct rtsp_transport rtsp_transport_none; /* TCP, nothing told */

/* Those of one field that are RTP, and whose numbers are such, behind the *n that are in `out`
 * already: up to RTSP_OFFERS_MAX, the others are dropped. */
void rtsp_transport_parse(const char *text, struct rtsp_transport out[RTSP_OFFERS_MAX], size_t *n);
/* One of them as text: what was told, in the usual order. */
void rtsp_transport_put(struct wr *w, const struct rtsp_transport *t);

/* Which ways a server has. */
struct rtsp_transport_rules {
    bool tcp, udp, multicast, secure;
};

/* The first offer that these rules allow, or NULL: 461. Ports of the client below 1024 are none
 * that media is sent to. */
const struct rtsp_transport *rtsp_transport_choose(const struct rtsp_transport *offers, size_t n,
                                                   const struct rtsp_transport_rules *rules);

#endif
