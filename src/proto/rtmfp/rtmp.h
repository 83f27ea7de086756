/* SPDX-License-Identifier: MIT */
/* rtmp.h - RTMP over RTMFP flows (RFC 7425, section 5): metadata of flows, messages, user control,
 * and addresses in setPeerInfo. No I/O, does not yield.
 */
#ifndef PROTO_RTMFP_RTMP_H
#define PROTO_RTMFP_RTMP_H

#include "proto/rtmfp/chunks.h"
#include "proto/rtmfp/message.h"

enum rtmfp_flow_kind { RTMFP_FLOW_UNKNOWN, RTMFP_FLOW_RTMP, RTMFP_FLOW_GROUP };

/* Parsed metadata of a flow. */
struct rtmfp_flow_metadata {
    enum rtmfp_flow_kind kind;
    bool direct;             /* RTMP: deliver messages on arrival, in any order */
    uint32_t stream;         /* RTMP: 0 is the control flow */
};
struct rtmfp_flow_metadata rtmfp_flow_metadata_parse(struct rtmfp_bytes metadata);
/* Writes the metadata of our flow for this stream; returns their size. */
enum { RTMFP_FLOW_METADATA_MAX = 8 };
size_t rtmfp_flow_metadata_build(uint32_t stream, uint8_t out[RTMFP_FLOW_METADATA_MAX]);

/* A parsed message: type, time, body. */
struct rtmfp_rtmp_message {
    uint8_t type;            /* enum rtmp_type, or any other value the peer sent */
    uint32_t time;           /* milliseconds, wraps */
    struct rtmfp_bytes body;
};
/* Returns false if it is shorter than a head. */
bool rtmfp_rtmp_message_parse(struct rtmfp_rtmp_message *out, struct rtmfp_bytes data);
/* Returns a message with one reference, owned by the caller, or NULL if memory allocation fails. */
struct rtmfp_message *rtmfp_rtmp_message_new(uint8_t type, uint32_t time, struct rtmfp_bytes body,
                                     co_usec now);

/* User control events in addition to those of RTMP (enum rtmp_event_id). */
enum { RTMFP_FLOW_SYNC = 34, RTMFP_KEEPALIVES = 41, RTMFP_EVENT_MAX = 10 };

struct rtmfp_event {
    uint16_t id;
    uint32_t value, more;    /* more: only in SetBufferLength (ms), Flow Sync (count), keepalives
                              * (interval to peers, ms) */
};
/* Returns false if it is too short for its kind; ignores additional bytes. */
bool rtmfp_event_read(struct rtmfp_event *out, struct rtmfp_bytes body);
/* Returns the size of the event. */
size_t rtmfp_event_write(const struct rtmfp_event *e, uint8_t out[RTMFP_EVENT_MAX]);

/* Parses "192.0.2.1:1935" or "[2001:db8::1]:1935" as an address of the peer itself. Returns false
 * for other texts and for unreachable addresses (port 0, unspecified address). */
bool rtmfp_address_of_text(struct rtmfp_address *out, const char *text);

#endif
