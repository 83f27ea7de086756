/* SPDX-License-Identifier: MIT */
/* rtx.c - packets that are sent again, [RFC 4588] section 4: the payload begins with the number
 * that the packet had. */
#include "proto/rtp/rtx.h"

#include "proto/rtp/header.h"

#include <string.h>

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
