/* SPDX-License-Identifier: MIT */
/* rtsp_impl.h - what is known of media that come in, for the files rtsp*.c alone. */
#ifndef INTAKE_RTSP_IMPL_H
#define INTAKE_RTSP_IMPL_H

#include "intake/rtsp.h"
#include "proto/sdp/sdp.h"

enum { RTSP_CNAME = 16 };

struct rtsp_track { /* a medium that is taken: the intake's track of the same number */
    unsigned media;
    enum av_kind kind;
    enum av_codec codec;
    uint8_t type;           /* payload type */
    bool set_up, open;      /* open: packets are taken */
    bool over;              /* it said BYE */
    uint32_t ssrc;          /* ours, in reports */
};

struct intake_media {
    char *control;
    struct rtsp_track *track; /* NULL: it is not taken */
};

struct rtsp_intake {
    struct rtsp_intake_opts opts;
    unsigned n, n_tracks;
    struct intake_media media[SDP_MEDIA_MAX];
    struct rtsp_track tracks[RTP_INTAKE_TRACKS];
    char *control;
    struct rtp_intake *intake;
    bool begun;
    co_usec report_at;
    unsigned reporting;       /* tracks before it have told theirs */
    uint64_t dropped;
    char cname[RTSP_CNAME + 1];
};

#endif
