/* SPDX-License-Identifier: MIT */
/* header.c - parses and writes the headers of RTP packets [RFC 3550] 5.1 and 5.3.1. */
#include "proto/rtp/header.h"

#include "base/be.h"
#include "base/rd.h"

enum { VERSION = 2, PADDING = 0x20, EXTENSION = 0x10, CSRCS = 0x0f, MARKER = 0x80 };

bool rtp_cut_padding(struct rd *r)
{
    size_t padding = rd_left(r) > 0 ? r->end[-1] : 0;

    if (padding == 0 || padding > rd_left(r))
        return false;
    r->end -= padding;
    return true;
}

bool rtp_parse(struct rtp_packet *p, const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    uint8_t first = rd_u8(&r), second = rd_u8(&r);

    *p = (struct rtp_packet){ .marker = second & MARKER, .type = second & 0x7f,
                              .csrcs = first & CSRCS };
    p->seq = rd_u16(&r);
    p->time = rd_u32(&r);
    p->ssrc = rd_u32(&r);
    if (p->csrcs > 0)
        p->csrc = rd_take(&r, p->csrcs * (size_t)4);
    if (first & EXTENSION) {
        p->profile = rd_u16(&r);
        p->extension_size = rd_u16(&r) * (size_t)4;
        p->extension = rd_take(&r, p->extension_size);
    }
    if (r.bad || first >> 6 != VERSION || rtp_is_rtcp(data, size))
        return false;
    if (first & PADDING && !rtp_cut_padding(&r))
        return false;
    p->payload = r.p;
    p->payload_size = rd_left(&r);
    return true;
}

void rtp_build(uint8_t out[RTP_HEADER], bool marker, uint8_t type, uint16_t seq, uint32_t time,
               uint32_t ssrc)
{
    out[0] = VERSION << 6;
    out[1] = (uint8_t)((marker ? MARKER : 0) | (type & 0x7f));
    (void)be_put32(be_put32(be_put16(out + 2, seq), time), ssrc);
}
