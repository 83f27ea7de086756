/* SPDX-License-Identifier: MIT */
/* demux.h - an MPEG transport stream to frames: no I/O.
 *
 * [TS] ISO/IEC 13818-1. Bytes come as they come: packets of 188 bytes may begin anywhere in them.
 * Of the first program with a codec that we know, one video and one audio stream are read: H.264,
 * H.265, AV1; AAC in ADTS or LATM, MP3, Opus. Frames go out as the log has them (av/packet.h):
 * units behind lengths of 4 bytes without delimiters, fillers and parameter sets, OBUs with their
 * sizes, raw frames of sound. A decoder configuration goes in front of the first frame that it is
 * for. A frame that something is missing of is left out.
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
    TS_TABLES_MAX = 2 * 7 * 188, /* of a PAT and a PMT as they came */
};

/* What an operator should know; each once. */
enum ts_note {
    TS_NOTE_TYPE,      /* a stream of a type, or of a coding, that we do not read */
    TS_NOTE_MORE,      /* one more of video or audio: we read the first */
    TS_NOTE_PROGRAM,   /* another program */
    TS_NOTE_SCRAMBLED, /* a stream that we would read is */
};

struct ts_told {
    enum ts_note note;
    uint16_t pid;      /* of the stream, or of the PMT of a program */
    uint16_t program;  /* its number */
    uint8_t type;      /* stream_type, [TS] table 2-34; 0: of a program */
    const char *name;  /* what the type is called: "AC-3", or "unknown" */
};

struct ts_demux_opts {
    bool sei_filter;   /* leave out SEI; such with registered user data (captions) stays */
    size_t pes_max;    /* 0: TS_PES_MAX */
    void (*tell)(void *arg, const struct ts_told *told); /* may be NULL */
    void *arg;
};

struct ts_piece { /* of a frame: a NAL unit or an OBU, or all of it */
    const uint8_t *data;
    uint32_t size;
    uint8_t head_size; /* bytes in front of it: */
    uint8_t head[11];
};

struct ts_frame {
    enum av_kind kind; /* AV_VIDEO or AV_AUDIO */
    enum av_codec codec;
    bool config;       /* a decoder configuration: times are those of the frame behind it */
    bool key;          /* a decoder can start here; of video */
    int64_t dts, pts;  /* 1/90000 s, without wrap */
    /* Where it begins: so many bytes had been put in front of the TS packet in which its PES packet
     * begins. */
    uint64_t at;
    size_t size;       /* bytes, > 0 */
    const struct ts_piece *pieces; /* which make it; until the next call */
    unsigned n_pieces;
};

struct ts_demux_stat {
    uint64_t packets;  /* of 188 bytes, null packets included */
    uint64_t skipped;  /* bytes that are no TS */
    uint64_t errors;   /* packets dropped: marked as broken, or not possible */
    uint64_t scrambled, repeated; /* packets dropped */
    uint64_t jumps;    /* of continuity counters of streams that we read */
    uint64_t holes;    /* told by ts_demux_hole(), and syncs lost */
    uint64_t frames;   /* given, configurations not counted */
    uint64_t broken;   /* frames and PES packets left out: incomplete, over a limit, unreadable */
    uint64_t waiting;  /* frames left out before the first configuration */
};

struct ts_demux; /* owned by who made it */

struct ts_demux *ts_demux_new(const struct ts_demux_opts *opts);
void ts_demux_free(struct ts_demux *d); /* NULL is fine */

/* Borrowed until ts_demux_next() has said no, which is to be asked for after each call of these. */
void ts_demux_put(struct ts_demux *d, const uint8_t *data, size_t size);
/* Something is missing here. What is unfinished is dropped, and packets are looked for anew. */
void ts_demux_hole(struct ts_demux *d);
/* The end: what is there of the last frames is all of them. */
void ts_demux_flush(struct ts_demux *d);

bool ts_demux_next(struct ts_demux *d, struct ts_frame *f);
/* Write its f->size bytes. */
void ts_frame_copy(const struct ts_frame *f, uint8_t *out);

/* What is read of that kind, as the PMT says; AV_CODEC_NONE: nothing. */
enum av_codec ts_demux_codec(const struct ts_demux *d, enum av_kind kind);
/* The newest PAT and PMT, packets as they came; how many bytes, 0: they have not come. */
size_t ts_demux_tables(const struct ts_demux *d, uint8_t out[TS_TABLES_MAX]);
void ts_demux_stat(const struct ts_demux *d, struct ts_demux_stat *out);

#endif
