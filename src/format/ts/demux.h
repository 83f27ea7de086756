/* SPDX-License-Identifier: MIT */
/* demux.h - MPEG transport stream demuxer: bytes in, frames out. No I/O.
 *
 * [TS] ISO/IEC 13818-1. Packets of 188 bytes may begin anywhere in the input. The demuxer reads one
 * video and one audio stream of the first program with a supported codec: H.264, H.265, AV1; AAC in
 * ADTS or LATM, MP3, Opus. Frames have the format of the packet log (av/packet.h): NAL units behind
 * lengths of 4 bytes without delimiters, fillers and parameter sets; OBUs with sizes; raw audio
 * frames. A decoder configuration precedes the first frame that uses it. Incomplete frames are
 * dropped.
 *
 *     ts_demux_put(d, data, size);
 *     while (ts_demux_next(d, &f))
 *         ts_frame_copy(&f, where);
 */
#ifndef FORMAT_TS_DEMUX_H
#define FORMAT_TS_DEMUX_H

#include "av/codec.h"

enum {
    TS_PES_MAX = 8 << 20,   /* bytes of one PES packet, and of one frame */
    TS_TABLES_MAX = 2 * 7 * 188, /* bytes of a PAT and a PMT */
};

/* Notes for the operator; each is sent once. */
enum ts_note {
    TS_NOTE_TYPE,      /* a stream of an unsupported type or coding */
    TS_NOTE_MORE,      /* a second video or audio stream; only the first is read */
    TS_NOTE_PROGRAM,   /* another program */
    TS_NOTE_SCRAMBLED, /* a supported stream is scrambled */
};

struct ts_told {
    enum ts_note note;
    uint16_t pid;      /* PID of the stream, or of a program's PMT */
    uint16_t program;  /* its number */
    uint8_t type;      /* stream_type, [TS] table 2-34; 0: a program */
    const char *name;  /* name of the type: "AC-3", or "unknown" */
};

struct ts_demux_opts {
    bool sei_filter;   /* drops SEI except registered user data (captions) */
    size_t pes_max;    /* 0: TS_PES_MAX */
    void (*tell)(void *arg, const struct ts_told *told); /* may be NULL */
    void *arg;
};

struct ts_piece { /* part of a frame: a NAL unit, an OBU, or the whole frame */
    const uint8_t *data;
    uint32_t size;
    uint8_t head_size; /* bytes in front of it: */
    uint8_t head[11];
};

struct ts_frame {
    enum av_kind kind; /* AV_VIDEO or AV_AUDIO */
    enum av_codec codec;
    bool config;       /* a decoder configuration, with the times of the next frame */
    bool key;          /* video: a decoder can start here */
    int64_t dts, pts;  /* 1/90000 s, without wrap */
    /* Start of the frame: number of input bytes in front of the TS packet in which its PES packet
     * begins. */
    uint64_t at;
    size_t size;       /* bytes, > 0 */
    const struct ts_piece *pieces; /* valid until the next call */
    unsigned n_pieces;
};

struct ts_demux_stat {
    uint64_t packets;  /* packets of 188 bytes, null packets included */
    uint64_t skipped;  /* bytes that are not TS */
    uint64_t errors;   /* packets dropped: marked as broken, or invalid */
    uint64_t scrambled, repeated; /* packets dropped */
    uint64_t jumps;    /* jumps of continuity counters of the streams read */
    uint64_t holes;    /* calls of ts_demux_hole(), and lost syncs */
    uint64_t frames;   /* frames returned, without configurations */
    uint64_t broken;   /* frames and PES packets dropped: incomplete, over a limit, unreadable */
    uint64_t waiting;  /* frames dropped before the first configuration */
};

struct ts_demux; /* owned by its creator */

struct ts_demux *ts_demux_new(const struct ts_demux_opts *opts);
void ts_demux_free(struct ts_demux *d); /* NULL is fine */

/* Takes input. `data` is borrowed until ts_demux_next() returns false; call that until it does. */
void ts_demux_put(struct ts_demux *d, const uint8_t *data, size_t size);
/* Reports a gap in the input. Drops unfinished frames and searches for packet sync again. */
void ts_demux_hole(struct ts_demux *d);
/* Ends the input: completes the last frames with the data received. */
void ts_demux_flush(struct ts_demux *d);

bool ts_demux_next(struct ts_demux *d, struct ts_frame *f);
/* Writes the f->size bytes of the frame. */
void ts_frame_copy(const struct ts_frame *f, uint8_t *out);

/* Codec of the stream of that kind, from the PMT; AV_CODEC_NONE: no such stream. */
enum av_codec ts_demux_codec(const struct ts_demux *d, enum av_kind kind);
/* Copies the packets of the newest PAT and PMT; returns their size, 0 if none was received. */
size_t ts_demux_tables(const struct ts_demux *d, uint8_t out[TS_TABLES_MAX]);
void ts_demux_stat(const struct ts_demux *d, struct ts_demux_stat *out);

#endif
