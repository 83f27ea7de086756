/* SPDX-License-Identifier: MIT */
/* header.h - parses and writes the headers of RTP packets [RFC 3550] section 5.
 *
 * No I/O, no memory, no clock. Invalid packets yield no error text: they come by the thousand, and
 * the caller counts them.
 */
#ifndef PROTO_RTP_HEADER_H
#define PROTO_RTP_HEADER_H

#include "base/be.h"
#include "base/rd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RTP_HEADER = 12,      /* size without contributing sources and extension: all headers that we
                           * write */
    RTP_INTERLEAVED = 4,  /* bytes before each packet over TCP, [RFC 2326] 10.12 */
};

struct rtp_packet { /* pointers into the packet */
    bool marker;
    uint8_t type; /* payload type, 0..127 */
    uint16_t seq;
    uint32_t time, ssrc;
    uint8_t csrcs;         /* number of contributing sources, 4 bytes each */
    const uint8_t *csrc;   /* NULL: none */
    uint16_t profile;      /* kind of extension, 5.3.1 */
    const uint8_t *extension; /* NULL: none */
    size_t extension_size;
    const uint8_t *payload; /* without padding */
    size_t payload_size;    /* may be 0: a keepalive */
};

/* Returns false if the packet is not RTP, or its lengths are inconsistent. */
bool rtp_parse(struct rtp_packet *p, const uint8_t *data, size_t size);

/* Writes a header without padding, contributing sources and extension. */
void rtp_build(uint8_t out[RTP_HEADER], bool marker, uint8_t type, uint16_t seq, uint32_t time,
               uint32_t ssrc);

/* Returns whether the packet is RTCP rather than RTP, [RFC 5761] 4. */
static inline bool rtp_is_rtcp(const uint8_t *data, size_t size)
{
    return size >= 2 && data[0] >> 6 == 2 && data[1] >= 192 && data[1] <= 223;
}

/* Extends v to the number nearest to `near` with the same low bits: sequence numbers and timestamps
 * without wrap. */
static inline int64_t rtp_unwrap16(int64_t near, uint16_t v)
{
    return near + (int16_t)(uint16_t)(v - (uint16_t)(uint64_t)near);
}

static inline int64_t rtp_unwrap32(int64_t near, uint32_t v)
{
    return near + (int32_t)(v - (uint32_t)(uint64_t)near);
}

/* Writes the bytes before a packet of `size` bytes on an RTSP connection, [RFC 2326] 10.12. */
static inline void rtp_interleaved_build(uint8_t out[RTP_INTERLEAVED], uint8_t channel,
                                         uint16_t size)
{
    out[0] = '$';
    out[1] = channel;
    (void)be_put16(out + 2, size);
}

/* Returns false if these are not such bytes. */
static inline bool rtp_interleaved_parse(const uint8_t in[RTP_INTERLEAVED], uint8_t *channel,
                                         uint16_t *size)
{
    *channel = in[1];
    *size = be_get16(in + 2);
    return in[0] == '$';
}

/* Removes padding, whose size is its last byte. Returns false if that exceeds the packet. */
bool rtp_cut_padding(struct rd *r);

#endif
