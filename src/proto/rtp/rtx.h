/* SPDX-License-Identifier: MIT */
/* rtx.h - packets that are sent again under a number and a source of their own, [RFC 4588]. */
#ifndef RTP_RTX_H
#define RTP_RTX_H

#include <stddef.h>
#include <stdint.h>

/* The packet that it repeats, of that payload type and source, to `out`. Returns its size; 0: it
 * repeats none (such probe the line), it is no RTP, or it is larger than `room`. */
size_t rtp_rtx_unwrap(uint8_t *out, size_t room, const uint8_t *data, size_t size, uint8_t type,
                      uint32_t ssrc);

#endif
