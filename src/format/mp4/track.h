/* SPDX-License-Identifier: MIT */
/* track.h - one track of an MP4 file: its codec and the codec configuration.
 *
 * [ISO-FF] ISO/IEC 14496-12; sample entries by [AVC-FF] 14496-15, [MP4-FF] 14496-14, [AV1-FF],
 * [VP9-FF], [Opus-FF] "Encapsulation of Opus in ISOBMFF", [FLAC-FF] the same for FLAC.
 */
#ifndef FORMAT_MP4_TRACK_H
#define FORMAT_MP4_TRACK_H

#include "base/wr.h"
#include "format/frame.h"

enum { MP4_CONFIG_MAX = 64 * 1024, MP4_AUDIO_CONFIG_MAX = 4096 };

struct mp4_track {
    uint32_t id;          /* 1.. */
    enum av_kind kind;    /* video or audio */
    enum av_codec codec;  /* AV_CODEC_NONE: no such track */
    uint32_t timescale;   /* 90000 for video, the sample rate for audio */
    struct av_info info;
    struct wr config;     /* the codec's own configuration */
};

void mp4_track_init(struct mp4_track *t, uint32_t id, enum av_kind kind);
void mp4_track_fini(struct mp4_track *t);
bool mp4_track_takes(enum av_codec codec); /* whether MP4 can carry it */

/* Sets the configuration from a configuration frame, or from the first frame of a codec without
 * one. *changed: the codec or its bytes changed, so decoders need the new configuration.
 * ERR_UNSUPPORTED, ERR_CODEC. */
err_t mp4_track_set(struct mp4_track *t, const struct frame *f, bool *changed)
    __attribute__((warn_unused_result));

/* Writes the sample description of the track, `stsd`. */
void mp4_track_stsd(const struct mp4_track *t, struct wr *w);

/* Additional brand of files with such a track, or NULL. */
const char *mp4_track_brand(const struct mp4_track *t);

/* Writes the codec string of playlists, RFC 6381: "avc1.64001f", "mp4a.40.2". Returns buf. */
const char *mp4_track_name(const struct mp4_track *t, char *buf, size_t size);

/* ---- boxes that describe the file (moov.c). Private to format/mp4 */

enum { MP4_MOVIE_SCALE = 1000 };

void mp4_ftyp(struct wr *w, bool fragmented, const char *brand); /* brand: codec brand or NULL */
/* duration: in MP4_MOVIE_SCALE; 0 in a fragmented file. */
void mp4_mvhd(struct wr *w, uint64_t duration, uint32_t next_track);
void mp4_tkhd(const struct mp4_track *t, struct wr *w, uint64_t duration);
void mp4_mdhd(const struct mp4_track *t, struct wr *w, uint64_t duration);
void mp4_hdlr(const struct mp4_track *t, struct wr *w);
/* Writes the part of minf before stbl: vmhd or smhd, and dinf. */
void mp4_minf_head(const struct mp4_track *t, struct wr *w);

#endif
