/* SPDX-License-Identifier: MIT */
/* packet.h - one coded frame, shared by all players of a stream.
 *
 * Life: av_packet_new() -> fill fields and data -> push. From then on every holder has
 * `const struct av_packet *`: fields and bytes never change again, only the count does. Nobody
 * takes over another's reference: whoever keeps a packet takes one of its own and gives it back.
 *
 * A packet is the codec's payload: H.264 and H.265 as length-prefixed NAL units, AV1 as OBUs, one
 * raw frame of AAC or packet of Opus; a decoder configuration (avcC, hvcC, av1C, ASC, OpusHead)
 * where `config` is set. Publishers of every protocol make that.
 *
 * What came by RTMP keeps its origin too, so that RTMP and FLV players get it byte for byte, known
 * codec or not: then `data` is the message (the FLV body) as it came, and the payload is its end.
 * For a packet without one, format/flv makes what FLV puts in front of the payload.
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

/* Whole milliseconds, what is over is cut off; as lines of the log print them: %lld. */
static inline long long av_to_ms(int64_t ticks)
{
    return ticks / AV_MS(1);
}

static inline int64_t av_from_us(int64_t us)
{
    return us * (AV_CLOCK / 10000) / 100;
}

/* av_packet.track of an origin that has several tracks, each with a payload of its own: the packet
 * has none, format/frame takes the origin apart. */
enum { AV_TRACK_MANY = 0x100 };

struct av_packet {
    struct ref ref;
    uint32_t size;     /* bytes in data; as av_packet_new() set it */
    uint8_t kind;      /* enum av_kind */
    uint8_t codec;     /* enum av_codec */
    uint8_t origin;    /* data is an FLV body of this tag type (8, 9, 18, 15); 0: only payload */
    bool config : 1;   /* decoder configuration or stream metadata: nothing to show in it */
    bool key : 1;      /* a player can start here */
    bool start : 1;    /* live/ decided so: a key frame, or some sound of a stream without video */
    bool extra : 1;    /* goes with the configuration (such as colour information): a player that
                        * joins gets it too, other formats than FLV leave it out */
    uint16_t track;    /* 0 unless multitrack; AV_TRACK_MANY: see there */
    uint32_t payload;  /* where in data the codec's payload begins; == size: there is none */
    int32_t cts;       /* pts = dts + cts, 1/90000 s */
    int64_t dts;       /* 1/90000 s */
    uint8_t data[];
};

/* A packet with one reference, all fields 0, and size bytes to fill. Never NULL: running out of
 * memory ends the process, so check peer-given sizes against a limit first. */
struct av_packet *av_packet_new(size_t size);

/* The same for a size that a peer has a say in. NULL: there is no memory. */
struct av_packet *av_packet_try(size_t size);
/* The same among the packets of its stream, of which it holds back a block while it lives; for
 * NULL as above. */
struct av_packet *av_packet_try_in(struct bump *stream, size_t size);
/* Make a packet larger that nobody else holds, as realloc() does: what it says stays, and on NULL
 * it is what it was. */
struct av_packet *av_packet_grow(struct av_packet *pkt, size_t size);

/* The same in a packet of its own, with one reference, apart from its stream: for what is held for
 * long. NULL: there is no memory. */
struct av_packet *av_packet_copy(const struct av_packet *pkt);
/* The same among the packets of a stream, or for NULL as above. The packet may be another thread's,
 * which holds it meanwhile: what it says is read, not how many hold it. */
struct av_packet *av_packet_copy_in(struct bump *stream, const struct av_packet *pkt);

static inline const uint8_t *av_packet_payload(const struct av_packet *pkt)
{
    return pkt->data + pkt->payload;
}
static inline size_t av_packet_payload_size(const struct av_packet *pkt)
{
    return pkt->size - pkt->payload;
}

/* The packet whose `data` this is: for readers that fill memory which
 * av_packet_new() gave, and know nothing of packets. */
struct av_packet *av_packet_of(uint8_t *data);

/* Another reference to the same packet; returns it. */
const struct av_packet *av_packet_ref(const struct av_packet *pkt);

/* Give one reference back: pkt = av_packet_unref(pkt). Always NULL; pkt may be NULL. */
struct av_packet *av_packet_unref(const struct av_packet *pkt);

long av_packet_live(void); /* packets alive now: tests assert 0; of this thread */

#endif
