/* SPDX-License-Identifier: MIT */
/* extensions.h - elements of RTP header extensions [RFC 8285]: a few bytes each, identified by
 * negotiated ids.
 *
 *     rtp_ext_begin(&r, &packet);
 *     while (rtp_ext_next(&r, &e)) ...
 */
#ifndef PROTO_RTP_EXTENSIONS_H
#define PROTO_RTP_EXTENSIONS_H

#include "proto/rtp/header.h"

#include <stddef.h>
#include <stdint.h>

enum { RTP_EXT_ONE_BYTE = 0xbede, RTP_EXT_TWO_BYTE = 0x1000 };

struct rtp_ext {
    uint8_t id;          /* 1..14; up to 255 with two-byte headers */
    uint8_t size;
    const uint8_t *data; /* `size` bytes */
};

struct rtp_ext_reader {
    struct rd r;
    bool two;
};

/* Starts reading. A packet without such an extension has no elements. */
void rtp_ext_begin(struct rtp_ext_reader *r, const struct rtp_packet *p);
/* Returns false at the end, or if the next element is truncated (then r->r.bad). */
bool rtp_ext_next(struct rtp_ext_reader *r, struct rtp_ext *e);

/* Builds the extension with these elements, including its first word (the RTP header needs the bit
 * 0x10 then). Uses one-byte headers if possible. Returns its size, a multiple of 4, or 0 if there
 * are no elements or they exceed `room`. */
size_t rtp_ext_build(uint8_t *out, size_t room, const struct rtp_ext *e, unsigned n);

/* ---- retransmissions with their own sequence numbers and SSRC [RFC 4588] */

/* Restores the original packet, with this payload type and SSRC, in `out`. Returns its size, or 0
 * if the packet has no payload (a probe), is not RTP, or exceeds `room`. */
size_t rtp_rtx_unwrap(uint8_t *out, size_t room, const uint8_t *data, size_t size, uint8_t type,
                      uint32_t ssrc);

#endif
