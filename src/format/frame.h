/* SPDX-License-Identifier: MIT */
/* frame.h - the frames in a packet, for writers of formats other than FLV and RTMP.
 *
 * A packet holds one frame, or a frame of each of several tracks if its body is multitrack. Frames
 * point into the packet.
 */
#ifndef FORMAT_FRAME_H
#define FORMAT_FRAME_H

#include "av/packet.h"
#include "format/flv/flv.h"

struct frame {
    enum av_kind kind;   /* video or audio */
    enum av_codec codec;
    uint16_t track;
    bool config;         /* data is a decoder configuration */
    bool key;
    int64_t dts, pts;    /* 1/90000 s */
    const uint8_t *data; /* the codec's own bytes */
    size_t size;         /* > 0 */
};

struct frame_reader {
    const struct av_packet *pkt;
    struct flv_body body;
    size_t at;
    bool done;
};

void frame_begin(struct frame_reader *r, const struct av_packet *pkt);
/* Reads the next frame. Returns false at the end. Data messages, extra packets and empty packets
 * have no frame. */
bool frame_next(struct frame_reader *r, struct frame *f);

/* The track choice for a format with one video and one audio track: the first track of each kind.
 * */
struct frame_tracks {
    bool seen[2]; /* video, audio */
    uint16_t id[2];
};

/* Chooses the tracks of the packet's frames for kinds that have none yet. Starts zeroed. */
void frame_choose(struct frame_tracks *t, const struct av_packet *pkt);
bool frame_is_of(const struct frame_tracks *t, const struct frame *f);

#endif
