/* SPDX-License-Identifier: MIT */
/* rtp_out.h - turns the frames of a file into the RTP packets of one publisher. */
#ifndef TOOLS_LOAD_RTP_OUT_H
#define TOOLS_LOAD_RTP_OUT_H

#include "format/rtp/pack.h"
#include "proto/rtp/sender.h"
#include "tools/load/media.h"

enum { LOAD_RTC_VIDEO = 106, LOAD_RTC_AUDIO = 111 /* payload types that WebRTC offers */ };

struct load_out_track {
    struct rtp_sink sink; /* must be first: callbacks cast it to the track */
    struct rtp_packer packer;
    struct rtp_sender numbers;
    bool open;
    bool interleaved;     /* RTSP: each packet gets a '$' header with `channel` */
    uint8_t channel;
};

struct load_out {
    const struct load_media *source;
    struct load_out_track tracks[LOAD_TRACKS];
};

/* Packets of the frame that is being sent, shared by all publishers: nothing may yield until they
 * are sent or copied. */
extern struct load_packets {
    struct wr bytes;
    uint16_t sizes[16384]; /* of each packet, with the RTP header */
    size_t n;
} load_packets;

/* `rtc`: uses WebRTC's payload types, and only the codecs that it supports. Ignores the codec in
 * `opts`. */
err_t load_out_init(struct load_out *o, const struct load_media *source,
                    const struct rtp_packer_opts *opts, bool rtc)
    __attribute__((warn_unused_result));
void load_out_fini(struct load_out *o); /* all zero is fine */

/* Packs the frames of a message, `time` ms after the start. Calls send() for each frame of an open
 * track; its packets are in load_packets. `number`: number of the next video frame, which gets a
 * clock marker; NULL: no markers. */
err_t load_out_message(struct load_out *o, const struct load_message *msg, uint64_t time,
                       uint32_t *number, err_t (*send)(void *arg, unsigned track), void *arg)
    __attribute__((warn_unused_result));
/* Writes the sender report of a track, `time` (1/90000 s) after the start. */
void load_out_report(const struct load_out *o, unsigned track, int64_t time, struct wr *w);

#endif
