/* SPDX-License-Identifier: MIT */
/* rtsp_impl.h - the state of an RTSP intake, private to the files rtsp*.c. */
#ifndef INTAKE_RTSP_IMPL_H
#define INTAKE_RTSP_IMPL_H

#include "intake/rtsp.h"
#include "proto/sdp/sdp.h"

enum { RTSP_CNAME = 16 };

struct rtsp_track { /* a used medium: the intake's track of the same number */
    unsigned media;
    enum av_kind kind;
    enum av_codec codec;
    uint8_t type;           /* payload type */
    bool set_up, open;      /* open: packets are accepted */
    bool over;              /* it sent BYE */
    uint32_t ssrc;          /* our SSRC in reports */
};

struct intake_media {
    char *control;
    struct rtsp_track *track; /* NULL: the medium is not used */
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
    unsigned reporting;       /* next track to report; those before it have reported */
    uint64_t dropped;
    char cname[RTSP_CNAME + 1];
};

#endif
