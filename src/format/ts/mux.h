/* SPDX-License-Identifier: MIT */
/* mux.h - MPEG transport stream muxer: frames in, bytes out. No I/O.
 *
 * [TS] ISO/IEC 13818-1; [Opus-TS] ETSI TS 102 366 style registration, as "Opus in MPEG-TS" 0.1.
 *
 * One program with at most one video and one audio stream: H.264, H.265, AAC, MP3, Opus. Frames
 * come in order of dts. The muxer writes tables and parameter sets in front of each key frame, so
 * that a decoder can start there. Several audio frames share one PES packet, up to audio_span, if
 * each begins where the previous one ends, because readers derive the later times from the first.
 * The times of a track never decrease unless the audio clock reports that a new time line begins.
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

/* Distance from the program clock to presentation, 1/90000 s: the time a decoder may buffer. */
#define TS_DELAY AV_MS(700)

struct ts_track {
    enum av_codec codec; /* AV_CODEC_NONE: no such stream */
    uint16_t pid;
    uint8_t type;        /* stream_type, [TS] table 2-34 */
    uint8_t id;          /* stream_id, [TS] table 2-22 */
    uint8_t cc;          /* continuity_counter of the next packet */
    bool new_clock;      /* the next PCR does not continue the previous one */
};

struct ts_mux {
    struct ts_track video, audio;
    int64_t audio_span;   /* 1/90000 s; 0: one audio frame in each PES packet */
    int64_t tables_period, pcr_period; /* 1/90000 s; ts_mux_init() sets defaults for files */
    struct audio_clock clock; /* the caller may set it to loose */
    /* private */
    uint32_t rate;        /* rate of the audio coder, Hz */
    uint8_t tables[2 * TS_PACKET]; /* PAT and PMT */
    uint8_t tables_cc, version;
    bool tables_due, clock_due;
    int64_t tables_at, pcr_at, video_at;
    unsigned nalu_length;
    struct wr sets;       /* parameter sets, with start codes */
    bool has_aac;
    struct aac_config aac;
    uint8_t opus_channels;
    struct wr pending;    /* audio frames of an incomplete PES packet */
    int64_t pending_at;   /* time of the first of them */
};

void ts_mux_init(struct ts_mux *m);
void ts_mux_fini(struct ts_mux *m);

/* Appends the packets of a frame; a configuration makes none. ERR_UNSUPPORTED: TS cannot carry
 * the codec; ERR_CODEC: the frame is broken and was skipped. The muxer stays usable after both. */
err_t ts_mux_frame(struct ts_mux *m, const struct frame *f, struct wr *out)
    __attribute__((warn_unused_result));
/* Appends all frames of a packet that belong to the chosen tracks; skips broken frames. */
void ts_mux_packet(struct ts_mux *m, struct frame_tracks *tracks, const struct av_packet *pkt,
                   struct wr *out);
/* Appends the pending audio. */
void ts_mux_flush(struct ts_mux *m, struct wr *out);
void ts_mux_drop(struct ts_mux *m); /* discards the pending audio */
/* Begins a segment: the tables go in front of the next frame. */
void ts_mux_restart(struct ts_mux *m);
/* Forgets the tracks, for a new publisher. `jumps`: the earlier part of the stream used another
 * clock, so the next packets signal a discontinuity, [TS] 2.4.3.5. */
void ts_mux_renew(struct ts_mux *m, bool jumps);
/* Returns whether TS can carry the codec. */
bool ts_mux_takes(enum av_codec codec);

#endif
