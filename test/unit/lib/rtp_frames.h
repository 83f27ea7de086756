/* SPDX-License-Identifier: MIT */
/* rtp_frames.h - frames that go through RTP packets and back. */
#ifndef RTP_FRAMES_H
#define RTP_FRAMES_H

#include "format/obu.h"
#include "rtp_media.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    enum av_codec codec;
    size_t size;      /* approximate size of a frame */
    const char *fmtp; /* from SDP */
} rows[] = {
    { AV_H264, 6000, "packetization-mode=1" },
    { AV_H265, 6000, "" },
    { AV_AV1, 6000, "" },
    { AV_VP9, 6000, "" },
    { AV_AAC, 300, "config=1190" },
    { AV_AAC, 4000, "mode=AAC-hbr; config=1190; sizelength=13; indexlength=3; indexdeltalength=3" },
    { AV_MP3, 0, "" },
    { AV_OPUS, 200, "sprop-stereo=1" },
    { AV_G711A, 160, "" },
    { AV_G711U, 160, "" },
};
extern uint8_t media_frame_buf[MEDIA_FRAME_MAX];

#define SPS264 "6764000cacd941419f9f016c800000030080000019078a14cb"
#define PPS264 "68ebe3cb22c0"
#define SPROP264 "sprop-parameter-sets=Z2QADKzZQUGfnwFsgAAAAwCAAAAZB4oUyw==,aOvjyyLA"

size_t unhex(const char *text, uint8_t *out);

#endif
