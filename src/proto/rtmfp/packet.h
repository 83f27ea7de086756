/* SPDX-License-Identifier: MIT */
/* packet.h - plain packets ([RTMFP] 2.2.4): flags, timestamps, and chunks one after the other. */
#ifndef PROTO_RTMFP_PACKET_H
#define PROTO_RTMFP_PACKET_H

#include "proto/rtmfp/vlu.h"

enum {
    RTMFP_PLAIN_MAX = 1192, /* of what we send: larger ones were seen to be lost */
    RTMFP_HEAD_MAX = 5,     /* flags and both timestamps */
    RTMFP_CHUNK_HEAD = 3,   /* type and length */
};

enum rtmfp_mode { RTMFP_INITIATOR = 1, RTMFP_RESPONDER = 2, RTMFP_STARTUP = 3 };

enum { /* flags of a packet */
    RTMFP_TIME_CRITICAL = 0x80,
    RTMFP_TIME_CRITICAL_REVERSE = 0x40, /* we hear such packets of somebody else */
};

enum rtmfp_type {
    RTMFP_PADDING = 0x00, RTMFP_PADDING_FF = 0xff,
    RTMFP_IHELLO = 0x30, RTMFP_RHELLO = 0x70, RTMFP_REDIRECT = 0x71,
    RTMFP_IIKEYING = 0x38, RTMFP_RIKEYING = 0x78, RTMFP_COOKIE_CHANGE = 0x79,
    RTMFP_FORWARDED_IHELLO = 0x0f, RTMFP_PING = 0x01, RTMFP_PING_REPLY = 0x41,
    RTMFP_USER_DATA = 0x10, RTMFP_NEXT_USER_DATA = 0x11,
    RTMFP_ACK_BITMAP = 0x50, RTMFP_ACK_RANGES = 0x51,
    RTMFP_BUFFER_PROBE = 0x18, RTMFP_FLOW_EXCEPTION = 0x5e,
    RTMFP_CLOSE = 0x0c, RTMFP_CLOSE_ACK = 0x4c, RTMFP_FRAGMENT = 0x7f,
};

struct rtmfp_head {
    enum rtmfp_mode mode;
    uint8_t flags;      /* the first two of the above, and bits that mean nothing as they came */
    bool has_time, has_echo;
    uint16_t time, echo; /* of 4 ms */
};

struct rtmfp_chunk {
    uint8_t type;       /* enum rtmfp_type, or none of them */
    struct rtmfp_bytes body;
};

struct rtmfp_packet {
    struct rtmfp_head head;
    struct rd chunks;   /* those that are not read yet */
};

/* False: it is cut, or of mode 0. */
bool rtmfp_packet_read(struct rtmfp_packet *out, struct rtmfp_bytes plain);
/* The next one, of whatever type. False: no more, or less than a chunk, which is padding. */
bool rtmfp_chunk_any(struct rtmfp_packet *p, struct rtmfp_chunk *out);
/* The next one that counts: its type is known, and for packets of this mode. */
bool rtmfp_chunk_next(struct rtmfp_packet *p, struct rtmfp_chunk *out);

/* ---- writing: what does not fit as a whole leaves nothing behind, and the packet can still be
 * sent. So w->bad stays 0 but within a chunk. */

void rtmfp_packet_begin(struct wr *w, const struct rtmfp_head *head);
/* Where the chunk begins, for rtmfp_chunk_end(). */
size_t rtmfp_chunk_begin(struct wr *w, enum rtmfp_type type);
/* False: it did not fit, and is gone. */
bool rtmfp_chunk_end(struct wr *w, size_t begin);

/* Room for the body of one more chunk. */
static inline size_t rtmfp_chunk_room(const struct wr *w)
{
    size_t left = w->limit - w->len;

    return left > RTMFP_CHUNK_HEAD ? left - RTMFP_CHUNK_HEAD : 0;
}

#endif
