/* SPDX-License-Identifier: MIT */
/* frame.h - the frames in a packet: what writers of other formats than FLV and RTMP start from.
 *
 * A packet holds one frame, or with multitrack bodies one of each of several tracks. Frames point
 * into the packet.
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
/* The next frame; false: no more. Data messages, what is extra and what is empty have none. */
bool frame_next(struct frame_reader *r, struct frame *f);

/* For a format that has one track of video and one of audio: of several, the first that is seen. */
struct frame_tracks {
    bool seen[2]; /* of video, of audio */
    uint16_t id[2];
};

/* Look whether the packet shows a first one. A zeroed struct has none. */
void frame_choose(struct frame_tracks *t, const struct av_packet *pkt);
bool frame_is_of(const struct frame_tracks *t, const struct frame *f);

#endif
