/* SPDX-License-Identifier: MIT */
/* rtp_impl.h - what is known of tracks that come in, for the files rtp*.c alone. */
#ifndef INTAKE_RTP_IMPL_H
#define INTAKE_RTP_IMPL_H

#include "av/codec.h"
#include "format/rtp/dts.h"
#include "intake/rtp.h"
#include "proto/rtp/align.h"
#include "audio/transcoder/transcoder.h"

struct intake_came {
    int64_t ticks;
    co_usec at; /* when the first packet of that time came; 0: none did */
};

struct intake_track {
    enum av_kind kind;
    enum av_codec codec;
    enum av_codec as;       /* and what it is in the stream */
    unsigned channels;      /* as described; 0: not said */
    bool open;              /* packets are taken */
    struct rtp_receiver rx;
    struct rtp_unpacker unpack;
    struct intake_ahead {   /* of a key frame behind a hole */
        bool on, whole;
        int64_t key, to;    /* its first number; all before `to` are there */
        uint32_t time;
    } ahead;

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
    struct intake_came newest, before; /* of the last two times of packets */
};

struct intake_audio;

struct rtp_intake {
    struct rtp_intake_opts opts;
    unsigned n;
    struct intake_track tracks[RTP_INTAKE_TRACKS];
    struct live_source *src;  /* NULL: it has not begun */
    struct rtp_align align;
    bool metadata_due;
    unsigned logged;          /* lines about configurations */
    uint64_t no_memory;
    struct intake_audio *sound; /* NULL: sound stays what it is */
};

/* rtp_frames.c: all that is whole by now goes to the stream. */
void rtp_intake_frames(struct rtp_intake *r, struct intake_track *t, co_usec now);
/* A copy of that as a packet of the stream; NULL: out of memory, which is counted. */
struct av_packet *rtp_intake_packet(struct rtp_intake *r, enum av_codec codec,
                                    const uint8_t *data, size_t size, bool config);
/* What the description says of its configuration. */
void rtp_intake_describe(struct intake_track *t);

/* rtp_audio.c: the track is AAC in the stream; false: it stays what it is. */
bool rtp_intake_audio_open(struct rtp_intake *r, struct intake_track *t);
/* A frame of it, and when it is heard. */
void rtp_intake_audio_put(struct rtp_intake *r, const struct rtp_frame *f, int64_t ticks,
                          co_usec now);
void rtp_intake_audio_key(struct rtp_intake *r, int64_t ticks); /* a key frame comes */
void rtp_intake_audio_stop(struct rtp_intake *r);
void rtp_intake_audio_free(struct rtp_intake *r); /* fine if none was opened */

#endif
