/* SPDX-License-Identifier: MIT */
/* extensions.h - elements of RTP header extensions, [RFC 8285]: a few bytes each, under numbers
 * that were agreed on.
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
    uint8_t id;          /* 1..14, or ..255 with headers of two bytes */
    uint8_t size;
    const uint8_t *data; /* of `size` bytes */
};

struct rtp_ext_reader {
    struct rd r;
    bool two;
};

/* Of a packet without such an extension there are none. */
void rtp_ext_begin(struct rtp_ext_reader *r, const struct rtp_packet *p);
/* False: no more, or the next one does not fit (then r->r.bad). */
bool rtp_ext_next(struct rtp_ext_reader *r, struct rtp_ext *e);

/* The extension that holds these, from its first word on (a header has the bit 0x10 then): with
 * headers of one byte where they suffice. Returns its size, a multiple of 4; 0: there are none, or
 * they do not fit into `room`. */
size_t rtp_ext_build(uint8_t *out, size_t room, const struct rtp_ext *e, unsigned n);

/* ---- packets that are sent again under a number and a source of their own, [RFC 4588]. */

/* The packet that it repeats, of that payload type and source, to `out`. Returns its size; 0: it
 * repeats none (such probe the line), it is no RTP, or it is larger than `room`. */
size_t rtp_rtx_unwrap(uint8_t *out, size_t room, const uint8_t *data, size_t size, uint8_t type,
                      uint32_t ssrc);

#endif
