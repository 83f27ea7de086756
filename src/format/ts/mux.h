/* SPDX-License-Identifier: MIT */
/* mux.h - frames to an MPEG transport stream: no I/O.
 *
 * [TS] ISO/IEC 13818-1; [Opus-TS] ETSI TS 102 366 style registration, as "Opus in MPEG-TS" 0.1.
 *
 * One program with at most one video and one audio stream: H.264, H.265, AAC, MP3, Opus. Frames
 * come in order of dts. What a decoder needs to start (tables, parameter sets) goes in front of
 * each key frame. Several audio frames share one PES packet, up to audio_span, as long as each
 * begins where the one before it ends: readers count on from the time of the first. So no time of a
 * track falls, whatever is stamped, unless the stream begins a new time; the clock says that.
 */
#ifndef FORMAT_TS_MUX_H
#define FORMAT_TS_MUX_H

#include "av/aac.h"
#include "base/wr.h"
#include "format/audio_clock.h"
#include "format/frame.h"

enum {
    TS_PACKET = 188,
    TS_PID_PMT = 0x1000, TS_PID_VIDEO = 0x100, TS_PID_AUDIO = 0x101,
};

/* How far presentation runs ahead of the program clock, 1/90000 s: what a decoder may buffer. */
#define TS_DELAY AV_MS(700)

struct ts_track {
    enum av_codec codec; /* AV_CODEC_NONE: no such stream */
    uint16_t pid;
    uint8_t type;        /* stream_type, [TS] table 2-34 */
    uint8_t id;          /* stream_id, [TS] table 2-22 */
    uint8_t cc;          /* continuity_counter of the next packet */
    bool new_clock;      /* what the next PCR says does not go on from the last */
};

struct ts_mux {
    struct ts_track video, audio;
    int64_t audio_span;   /* 1/90000 s; 0: one audio frame in each PES packet */
    int64_t tables_period, pcr_period; /* 1/90000 s; as ts_mux_init() sets them they suit files */
    struct audio_clock clock; /* may be set to be loose */
    /* the rest is ours */
    uint32_t rate;        /* of the audio coder, Hz */
    uint8_t tables[2 * TS_PACKET]; /* PAT and PMT */
    uint8_t tables_cc, version;
    bool tables_due, clock_due;
    int64_t tables_at, pcr_at, video_at;
    unsigned nalu_length;
    struct wr sets;       /* parameter sets, with start codes */
    bool has_aac;
    struct aac_config aac;
    uint8_t opus_channels;
    struct wr pending;    /* audio frames that wait for more */
    int64_t pending_at;   /* the time of the first of them */
};

void ts_mux_init(struct ts_mux *m);
void ts_mux_fini(struct ts_mux *m);

/* Append what the frame makes: nothing for a configuration. ERR_UNSUPPORTED: TS has no place for
 * the codec; ERR_CODEC: the frame is broken and was left out. The muxer goes on after both. */
err_t ts_mux_frame(struct ts_mux *m, const struct frame *f, struct wr *out)
    __attribute__((warn_unused_result));
/* The same of all frames of a packet that are of the chosen tracks; broken ones are left out. */
void ts_mux_packet(struct ts_mux *m, struct frame_tracks *tracks, const struct av_packet *pkt,
                   struct wr *out);
/* Append the audio that waits. */
void ts_mux_flush(struct ts_mux *m, struct wr *out);
void ts_mux_drop(struct ts_mux *m); /* forget it instead */
/* A segment begins: the tables go in front of what comes next. */
void ts_mux_restart(struct ts_mux *m);
/* Another publisher: what it has is not known yet. `jumps`: what was in the stream until now had
 * another clock than ours; [TS] 2.4.3.5, discontinuity. */
void ts_mux_renew(struct ts_mux *m, bool jumps);
/* Which codecs go into TS? */
bool ts_mux_takes(enum av_codec codec);

#endif
