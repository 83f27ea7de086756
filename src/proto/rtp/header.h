/* SPDX-License-Identifier: MIT */
/* header.h - RTP packets, [RFC 3550] section 5: their headers read and written.
 *
 * No I/O, no memory, no clock. Nothing is said about a packet that is none but that it is none:
 * they come by the thousand, and who counts them knows whose they are.
 */
#ifndef PROTO_RTP_HEADER_H
#define PROTO_RTP_HEADER_H

#include "base/be.h"
#include "base/rd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RTP_HEADER = 12,      /* bytes of one without contributing sources and extension: all of ours */
    RTP_INTERLEAVED = 4,  /* in front of each packet over TCP, [RFC 2326] 10.12 */
};

struct rtp_packet { /* in place */
    bool marker;
    uint8_t type; /* payload type, 0..127 */
    uint16_t seq;
    uint32_t time, ssrc;
    uint8_t csrcs;         /* contributing sources, of 4 bytes each */
    const uint8_t *csrc;   /* NULL: none */
    uint16_t profile;      /* what the extension is of, 5.3.1 */
    const uint8_t *extension; /* NULL: none */
    size_t extension_size;
    const uint8_t *payload; /* padding is taken off */
    size_t payload_size;    /* may be 0: a sign of life */
};

/* False: it is no RTP, or its lengths do not fit. */
bool rtp_parse(struct rtp_packet *p, const uint8_t *data, size_t size);

/* A header as ours are: no padding, no contributing sources, no extension. */
void rtp_build(uint8_t out[RTP_HEADER], bool marker, uint8_t type, uint16_t seq, uint32_t time,
               uint32_t ssrc);

/* Is that RTCP rather than RTP? [RFC 5761] 4. */
static inline bool rtp_is_rtcp(const uint8_t *data, size_t size)
{
    return size >= 2 && data[0] >> 6 == 2 && data[1] >= 192 && data[1] <= 223;
}

/* The number of more bits that is nearest to `near` and ends as v does: sequence numbers and
 * timestamps without their wrap. */
static inline int64_t rtp_unwrap16(int64_t near, uint16_t v)
{
    return near + (int16_t)(uint16_t)(v - (uint16_t)(uint64_t)near);
}

static inline int64_t rtp_unwrap32(int64_t near, uint32_t v)
{
    return near + (int32_t)(v - (uint32_t)(uint64_t)near);
}

/* What is in front of a packet of so many bytes on a connection of RTSP, [RFC 2326] 10.12. */
static inline void rtp_interleaved_build(uint8_t out[RTP_INTERLEAVED], uint8_t channel,
                                         uint16_t size)
{
    out[0] = '$';
    out[1] = channel;
    (void)be_put16(out + 2, size);
}

/* False: that is none. */
static inline bool rtp_interleaved_parse(const uint8_t in[RTP_INTERLEAVED], uint8_t *channel,
                                         uint16_t *size)
{
    *channel = in[1];
    *size = be_get16(in + 2);
    return in[0] == '$';
}

/* The last byte counts the padding, itself too: what is left is without it. False: it is more than
 * there is. */
bool rtp_cut_padding(struct rd *r);

#endif
