/* SPDX-License-Identifier: MIT */
/* rtmp.h - what flows of RTMP say over RTMFP (RFC 7425, section 5): which flow it is, messages,
 * user control, and addresses of setPeerInfo.
 *
 * Over bytes alone: no I/O, nothing yields.
 */
#ifndef PROTO_RTMFP_RTMP_H
#define PROTO_RTMFP_RTMP_H

#include "proto/rtmfp/chunks.h"
#include "proto/rtmfp/message.h"

enum rtmfp_flow_kind { RTMFP_FLOW_STRANGE, RTMFP_FLOW_RTMP, RTMFP_FLOW_GROUP };

/* What the metadata of a flow say. */
struct rtmfp_flow_metadata {
    enum rtmfp_flow_kind kind;
    bool direct;             /* RTMP: messages are wanted when they arrive, in any order */
    uint32_t stream;         /* RTMP: 0 is the control flow */
};
struct rtmfp_flow_metadata rtmfp_flow_metadata_parse(struct rtmfp_bytes metadata);
/* Those of a flow of ours, that stream's. Returns how many bytes they are. */
enum { RTMFP_FLOW_METADATA_MAX = 8 };
size_t rtmfp_flow_metadata_build(uint32_t stream, uint8_t out[RTMFP_FLOW_METADATA_MAX]);

/* A message: type, time, body. */
struct rtmfp_rtmp_message {
    uint8_t type;            /* enum rtmp_type, or what the peer sent */
    uint32_t time;           /* milliseconds, wraps */
    struct rtmfp_bytes body;
};
/* False: it is shorter than a head. */
bool rtmfp_rtmp_message_parse(struct rtmfp_rtmp_message *out, struct rtmfp_bytes data);
/* With one reference, the caller's. NULL: there is no memory. */
struct rtmfp_message *rtmfp_rtmp_message_new(uint8_t type, uint32_t time, struct rtmfp_bytes body,
                                     co_usec now);

/* User control, beside those of RTMP (enum rtmp_event_id). */
enum { RTMFP_FLOW_SYNC = 34, RTMFP_KEEPALIVES = 41, RTMFP_EVENT_MAX = 10 };

struct rtmfp_event {
    uint16_t id;
    uint32_t value, more;    /* more: of SetBufferLength (ms), Flow Sync (count), keepalives (those
                              * to peers, ms) */
};
/* False: it is too short for its kind; what is behind it is ignored. */
bool rtmfp_event_read(struct rtmfp_event *out, struct rtmfp_bytes body);
/* Returns how many bytes it is. */
size_t rtmfp_event_write(const struct rtmfp_event *e, uint8_t out[RTMFP_EVENT_MAX]);

/* "192.0.2.1:1935", "[2001:db8::1]:1935", as an address of the peer's own. False: it is neither, or
 * nobody can be reached there (port 0, no address at all). */
bool rtmfp_address_of_text(struct rtmfp_address *out, const char *text);

#endif
