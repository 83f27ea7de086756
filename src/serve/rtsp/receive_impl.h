/* SPDX-License-Identifier: MIT */
/* receive_impl.h - what is known of media that come in, for the files receive*.c alone. */
#ifndef SERVE_RTSP_RECEIVE_IMPL_H
#define SERVE_RTSP_RECEIVE_IMPL_H

#include "av/codec.h"
#include "format/rtp/dts.h"
#include "format/rtp/unpack.h"
#include "proto/rtp/align.h"
#include "proto/rtp/receiver.h"
#include "proto/sdp/sdp.h"
#include "serve/rtsp/receive.h"

enum { RECEIVE_TRACKS = 2, RECEIVE_CNAME = 16 };

struct receive_came {
    int64_t ticks;
    co_usec at; /* when the first packet of that time came; 0: none did */
};

struct receive_track { /* a medium that is taken */
    unsigned media;
    enum av_kind kind;
    enum av_codec codec;
    uint8_t type;           /* payload type */
    unsigned channels;      /* as described; 0: not said */
    bool set_up, open;      /* open: packets are taken */
    bool over;              /* it said BYE */
    struct rtp_receiver rx;
    struct rtp_unpacker unpack;
    uint32_t ssrc;          /* ours, in reports */

    /* its frames */
    struct av_info info;
    bool described;         /* info is as much as can be known */
    struct rtp_dts dts;
    bool restart;           /* times that begin at this one are another count: */
    bool restart_sure;      /* what comes next is */
    int64_t restart_ticks;
    bool timed;             /* there was a frame: */
    int64_t ticks;          /* its time, and when it came */
    co_usec at;
    int64_t pushed;         /* 1/90000 s, when the last one is decoded */
    struct receive_came newest, before; /* of the last two times of packets */
};

struct receive_media {
    char *control;
    struct receive_track *track; /* NULL: it is not taken */
};

struct rtsp_receive {
    struct rtsp_receive_opts opts;
    unsigned n, n_tracks;
    struct receive_media media[SDP_MEDIA_MAX];
    struct receive_track tracks[RECEIVE_TRACKS];
    char *control;
    struct live_source *src;  /* NULL: it has not begun */
    struct rtp_align align;
    co_usec report_at;
    unsigned reporting;       /* tracks before it have told theirs */
    bool metadata_due;
    unsigned logged;          /* lines about configurations */
    uint64_t dropped, no_memory;
    char cname[RECEIVE_CNAME + 1];
};

/* receive_frames.c: all that is whole by now goes to the stream. */
void rtsp_receive_frames(struct rtsp_receive *r, struct receive_track *t, co_usec now);
/* What the description says of its configuration. */
void rtsp_receive_describe(struct receive_track *t);

/* receive_metadata.c: what players of RTMP and FLV are told of the stream. NULL: there is no
 * memory for it. */
struct av_packet *rtsp_receive_metadata(const struct rtsp_receive *r);

#endif
