/* SPDX-License-Identifier: MIT */
/* rtp_out.h - the frames of a file as packets of RTP of one publisher. */
#ifndef TOOLS_LOAD_RTP_OUT_H
#define TOOLS_LOAD_RTP_OUT_H

#include "format/rtp/pack.h"
#include "proto/rtp/sender.h"
#include "tools/load/media.h"

enum { LOAD_RTC_VIDEO = 106, LOAD_RTC_AUDIO = 111 /* payload types that WebRTC offers */ };

struct load_out_track {
    struct rtp_sink sink; /* first: it is found by that */
    struct rtp_packer packer;
    struct rtp_sender numbers;
    bool open;
    bool interleaved;     /* RTSP: each packet behind a '$', on that channel */
    uint8_t channel;
};

struct load_out {
    const struct load_media *source;
    struct load_out_track tracks[LOAD_TRACKS];
};

/* The packets of the frame that is being sent, whoever sends it: nothing yields until the kernel
 * has them, or they were copied. */
extern struct load_packets {
    struct wr bytes;
    uint16_t sizes[16384]; /* of each, with its header of RTP */
    size_t n;
} load_packets;

/* `rtc`: with the payload types of WebRTC, and only what that carries. The codec of `opts` is not
 * looked at. */
err_t load_out_init(struct load_out *o, const struct load_media *source,
                    const struct rtp_packer_opts *opts, bool rtc)
    __attribute__((warn_unused_result));
void load_out_fini(struct load_out *o); /* all zero is fine */

/* The frames of a message `time` ms after the begin: for each whose track is open send() finds its
 * packets in load_packets. `number`: of the next picture, which gets the clock; NULL: none does. */
err_t load_out_message(struct load_out *o, const struct load_message *msg, uint64_t time,
                       uint32_t *number, err_t (*send)(void *arg, unsigned track), void *arg)
    __attribute__((warn_unused_result));
/* The report of a track, `time` (1/90000 s) after the begin. */
void load_out_report(const struct load_out *o, unsigned track, int64_t time, struct wr *w);

#endif
