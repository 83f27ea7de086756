/* SPDX-License-Identifier: MIT */
/* packet.h - one coded frame, shared by all players of a stream.
 *
 * Life: av_packet_new() -> fill fields and data -> push. After that every holder has a
 * `const struct av_packet *`: fields and bytes never change, only the reference count does.
 * References are never handed over: code that keeps a packet takes its own reference and returns
 * it.
 *
 * A packet contains the codec's payload: H.264 and H.265 as length-prefixed NAL units, AV1 as OBUs,
 * one raw AAC frame or one Opus packet; if `config` is set, a decoder configuration (avcC, hvcC,
 * av1C, ASC, OpusHead). Publishers of every protocol produce this form.
 *
 * A packet from an RTMP publisher keeps its original message, so that RTMP and FLV players get it
 * byte for byte even if the codec is unknown: `data` is the message as received (the FLV body), and
 * the payload is the end of it. For other packets format/flv writes the FLV header in front of the
 * payload.
 */
#ifndef AV_PACKET_H
#define AV_PACKET_H

#include "av/codec.h"
#include "base/bump.h"
#include "base/ref.h"

#include <stddef.h>
#include <stdint.h>

#define AV_CLOCK 90000 /* ticks per second of every time in av/, live/ and above */
#define AV_MS(n) ((int64_t)(n) * (AV_CLOCK / 1000))

/* Returns whole milliseconds, rounded toward zero, for log lines with %lld. */
static inline long long av_to_ms(int64_t ticks)
{
    return ticks / AV_MS(1);
}

static inline int64_t av_from_us(int64_t us)
{
    return us * (AV_CLOCK / 10000) / 100;
}

/* av_packet.track of a message with several tracks, each with its own payload. The packet has no
 * payload itself; format/frame splits the message. */
enum { AV_TRACK_MANY = 0x100 };

struct av_packet {
    struct ref ref;
    uint32_t size;     /* bytes in data; set by av_packet_new() */
    uint8_t kind;      /* enum av_kind */
    uint8_t codec;     /* enum av_codec */
    uint8_t origin;    /* data is an FLV body of this tag type (8, 9, 18, 15); 0: only payload */
    bool config : 1;   /* decoder configuration or stream metadata, not a frame */
    bool key : 1;      /* a player can start here */
    /* set by live/: a key frame, or some audio frames of a stream without video */
    bool start : 1;
    bool extra : 1;    /* belongs to the configuration (such as color information): a player that
                        * joins gets it too; formats other than FLV skip it */
    uint16_t track;    /* 0 unless multitrack; AV_TRACK_MANY: see there */
    uint32_t payload;  /* offset of the codec's payload in data; == size: there is none */
    int32_t cts;       /* pts = dts + cts, 1/90000 s */
    int64_t dts;       /* 1/90000 s */
    uint8_t data[];
};

/* Creates a packet with one reference, all fields 0, and `size` bytes to fill. Never returns NULL:
 * running out of memory ends the process, so check sizes from peers against a limit first. */
struct av_packet *av_packet_new(size_t size);

/* The same for a size that depends on a peer. NULL: out of memory. */
struct av_packet *av_packet_try(size_t size);
/* The same in the memory of a stream; the packet keeps its block of that memory allocated. `stream`
 * may be NULL: works like av_packet_try(). */
struct av_packet *av_packet_try_in(struct bump *stream, size_t size);
/* Enlarges a packet with a single reference, like realloc(): its content stays, and if this returns
 * NULL the packet is unchanged. */
struct av_packet *av_packet_grow(struct av_packet *pkt, size_t size);

/* Copies a packet into separate memory, with one reference, for packets that are kept for long.
 * NULL: out of memory. */
struct av_packet *av_packet_copy(const struct av_packet *pkt);
/* Copies a packet into the memory of a stream, or like av_packet_copy() if `stream` is NULL. The
 * packet may belong to another thread that holds a reference: its reference count is not read. */
struct av_packet *av_packet_copy_in(struct bump *stream, const struct av_packet *pkt);

static inline const uint8_t *av_packet_payload(const struct av_packet *pkt)
{
    return pkt->data + pkt->payload;
}
static inline size_t av_packet_payload_size(const struct av_packet *pkt)
{
    return pkt->size - pkt->payload;
}

/* Returns the packet of this `data`, for readers that fill the memory of a packet without knowing
 * about packets. */
struct av_packet *av_packet_of(uint8_t *data);

/* Takes another reference; returns the packet. */
const struct av_packet *av_packet_ref(const struct av_packet *pkt);

/* Drops one reference: pkt = av_packet_unref(pkt). Returns NULL; pkt may be NULL. */
struct av_packet *av_packet_unref(const struct av_packet *pkt);

long av_packet_live(void); /* packets of this thread that exist now; tests assert 0 */

#endif
