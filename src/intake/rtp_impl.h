/* SPDX-License-Identifier: MIT */
/* rtp_impl.h - the state of an RTP intake, private to the files rtp*.c. */
#ifndef INTAKE_RTP_IMPL_H
#define INTAKE_RTP_IMPL_H

#include "av/codec.h"
#include "format/rtp/dts.h"
#include "intake/rtp.h"
#include "proto/rtp/align.h"
#include "audio/transcoder/transcoder.h"

struct intake_came {
    int64_t ticks;
    co_usec at; /* arrival of the first packet of that time; 0: none */
};

struct intake_track {
    enum av_kind kind;
    enum av_codec codec;
    enum av_codec as;       /* its codec in the stream */
    unsigned channels;      /* from the description; 0: unknown */
    bool open;              /* packets are accepted */
    struct rtp_receiver rx;
    struct rtp_unpacker unpack;
    struct intake_ahead {   /* a key frame behind a gap */
        bool on, whole;
        int64_t key, to;    /* its first number; all numbers before `to` have arrived */
        uint32_t time;
    } ahead;

    /* frames of the track */
    struct av_info info;
    bool described;         /* info is complete */
    struct rtp_dts dts;
    bool restart;           /* times from this one on belong to a restarted clock; then: */
    bool restart_sure;      /* the next frame is of that clock */
    int64_t restart_ticks;
    bool timed;             /* there was a frame; then: */
    int64_t ticks;          /* its time, and its arrival */
    co_usec at;
    int64_t pushed;         /* decoding time of the last frame, 1/90000 s */
    struct intake_came newest, before; /* arrivals of the last two packet times */
};

struct intake_audio;

struct rtp_intake {
    struct rtp_intake_opts opts;
    unsigned n;
    struct intake_track tracks[RTP_INTAKE_TRACKS];
    struct live_source *src;  /* NULL: not begun yet */
    struct rtp_align align;
    bool metadata_due;
    unsigned logged;          /* number of logged configurations */
    uint64_t no_memory;
    struct intake_audio *audio; /* NULL: audio is not converted */
};

/* rtp_frames.c: pushes all complete frames to the stream. */
void rtp_intake_frames(struct rtp_intake *r, struct intake_track *t, co_usec now);
/* Returns a copy of the data as a packet of the stream; NULL: out of memory, which is counted. */
struct av_packet *rtp_intake_packet(struct rtp_intake *r, enum av_codec codec,
                                    const uint8_t *data, size_t size, bool config);
/* Reads its configuration from the description. */
void rtp_intake_describe(struct intake_track *t);

/* rtp_audio.c: converts the track to AAC in the stream. Returns false if it is not converted. */
bool rtp_intake_audio_open(struct rtp_intake *r, struct intake_track *t);
/* Takes a frame of it with its presentation time. */
void rtp_intake_audio_put(struct rtp_intake *r, const struct rtp_frame *f, int64_t ticks,
                          co_usec now);
void rtp_intake_audio_key(struct rtp_intake *r, int64_t ticks); /* a key frame arrives */
void rtp_intake_audio_stop(struct rtp_intake *r);
void rtp_intake_audio_free(struct rtp_intake *r); /* does nothing if none was opened */

#endif
