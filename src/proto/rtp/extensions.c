/* SPDX-License-Identifier: MIT */
/* extensions.c - elements of RTP header extensions [RFC 8285] 4.2 and 4.3, and retransmissions [RFC
 * 4588].
 */
#include "proto/rtp/extensions.h"

#include "proto/rtp/header.h"

#include <string.h>

enum { HEAD = 4, LAST = 15, ONE_BYTE_ID = 14, ONE_BYTE_SIZE = 16 };

void rtp_ext_begin(struct rtp_ext_reader *r, const struct rtp_packet *p)
{
    bool one = p->profile == RTP_EXT_ONE_BYTE;
    bool two = (p->profile & 0xfff0) == RTP_EXT_TWO_BYTE;

    *r = (struct rtp_ext_reader){ .two = two };
    r->r = p->extension && (one || two) ? rd_init(p->extension, p->extension_size)
                                        : rd_init(p->payload, 0);
}

static void read_head(struct rtp_ext_reader *r, uint8_t first, struct rtp_ext *e)
{
    if (r->two)
        *e = (struct rtp_ext){ .id = first, .size = rd_u8(&r->r) };
    else
        *e = (struct rtp_ext){ .id = first >> 4, .size = (first & 0x0f) + 1 };
}

bool rtp_ext_next(struct rtp_ext_reader *r, struct rtp_ext *e)
{
    while (rd_left(&r->r) > 0) {
        uint8_t first = rd_u8(&r->r);

        if (first == 0) /* padding */
            continue;
        read_head(r, first, e);
        if (!r->two && e->id == LAST) /* 4.2: ignore everything after it */
            break;
        e->data = rd_take(&r->r, e->size);
        if (!e->data || e->id == 0)
            break;
        return true;
    }
    return false;
}

static bool needs_two(const struct rtp_ext *e, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (e[i].id > ONE_BYTE_ID || e[i].size > ONE_BYTE_SIZE || e[i].size == 0)
            return true;
    }
    return false;
}

size_t rtp_ext_build(uint8_t *out, size_t room, const struct rtp_ext *e, unsigned n)
{
    bool two = needs_two(e, n);
    size_t at = HEAD, size = HEAD;

    for (unsigned i = 0; i < n; i++)
        size += (two ? 2 : 1) + (size_t)e[i].size;
    size = (size + 3) / 4 * 4;
    if (n == 0 || size > room)
        return 0;
    memset(out, 0, size);
    out[0] = two ? RTP_EXT_TWO_BYTE >> 8 : RTP_EXT_ONE_BYTE >> 8;
    out[1] = two ? 0 : RTP_EXT_ONE_BYTE & 0xff;
    out[2] = (uint8_t)((size / 4 - 1) >> 8);
    out[3] = (uint8_t)(size / 4 - 1);
    for (unsigned i = 0; i < n; i++) {
        out[at++] = (uint8_t)(two ? e[i].id : e[i].id << 4 | (e[i].size - 1));
        if (two)
            out[at++] = e[i].size;
        memcpy(out + at, e[i].data, e[i].size);
        at += e[i].size;
    }
    return size;
}

/* ---- retransmissions, [RFC 4588] section 4: the payload starts with the original sequence
 * number */

enum { NUMBER = 2, MARKER = 0x80 };

size_t rtp_rtx_unwrap(uint8_t *out, size_t room, const uint8_t *data, size_t size, uint8_t type,
                      uint32_t ssrc)
{
    struct rtp_packet p;
    size_t head;

    if (!rtp_parse(&p, data, size) || p.payload_size < NUMBER || size - NUMBER > room)
        return 0;
    head = (size_t)(p.payload - data);
    memcpy(out, data, head);
    memcpy(out + head, p.payload + NUMBER, size - head - NUMBER);
    out[1] = (uint8_t)((data[1] & MARKER) | type);
    memcpy(out + 2, p.payload, NUMBER);
    for (unsigned i = 0; i < 4; i++)
        out[8 + i] = (uint8_t)(ssrc >> (24 - 8 * i));
    return size - NUMBER;
}
