/* SPDX-License-Identifier: MIT */
/* demux_impl.h - the state of a received transport stream; only for the files demux*.c.
 *
 * demux.c finds packets, demux_psi.c parses the tables (demux_types.c: the codecs), demux_pes.c
 * joins the payloads. demux_video.c, with a file for each kind of units, or demux_audio.c with
 * demux_sound.c builds frames from them.
 */
#ifndef FORMAT_TS_DEMUX_IMPL_H
#define FORMAT_TS_DEMUX_IMPL_H

#include "av/opus.h"
#include "format/latm.h"
#include "format/nal_sets.h"
#include "format/ts/demux.h"
#include "format/ts/mux.h"

enum {
    TS_SYNC = 0x47, TS_PID_NULL = 0x1fff, TS_PID_NONE = 0xffff,
    TS_CARRY = 4 * TS_PACKET,      /* bytes that are searched for packets */
    TS_SECTION_MAX = 3 + 1021,
    TS_TABLE_MAX = 7 * TS_PACKET,  /* packets of a section, with the bytes before it */
    TS_STREAMS_MAX = 16, TS_PROGRAMS_MAX = 16, TS_TOLD_MAX = 32,
    TS_UNITS_MAX = 512,            /* units of a frame */
    TS_PES_HEAD = 9 + 255,
    TS_TAIL = 8,                   /* bytes by which a repeated packet is known */
};

struct ts_packet { /* a packet with a payload, of a PID that is read */
    const uint8_t *data;
    size_t size;       /* > 0 */
    uint64_t at;       /* its offset in the whole input */
    uint16_t pid;
    uint8_t cc;
    bool start;        /* payload_unit_start_indicator */
    bool stuffed;      /* stuffing precedes the payload */
    bool new_clock;    /* discontinuity_indicator */
    const uint8_t *raw; /* the whole packet */
};

struct ts_count { /* a continuity counter */
    int last;          /* -1: unknown */
    bool repeated;     /* the last packet was repeated */
    uint8_t tail[TS_TAIL]; /* last bytes of the last packet */
};

enum ts_follows { TS_NEXT, TS_REPEATED, TS_JUMPED };

/* ---- sections */

struct ts_section {
    uint16_t pid;
    struct ts_count count;
    bool open;
    struct wr data;
    struct wr raw;             /* the complete packets that contain it */
};

struct ts_program {
    uint16_t number, pid; /* program number, and PID of its PMT */
};

/* ---- streams */

struct ts_es;

/* A kind of streams: a row in demux_types.c. */
struct ts_reader {
    uint8_t type;              /* stream_type, [TS] table 2-34 */
    const char *registration;  /* its format_identifier; NULL: any */
    enum av_codec codec;
    const struct ts_video *video; /* one of these: */
    const struct ts_audio *audio;
};

struct ts_stream { /* a stream in the PMT */
    const struct ts_reader *reader; /* NULL: unsupported */
    const char *name;
    uint16_t pid;
    uint8_t type;
    uint8_t channels;          /* Opus: channel_config_code */
};

enum { TS_UNIT_BEGINS = 1,  /* starts a new frame if it follows a slice */
       TS_UNIT_PICTURE = 2, /* a slice */
       TS_UNIT_FIRST = 4 }; /* the first slice of a frame */

struct ts_unit {
    uint32_t at, size; /* in es->buf */
};

/* Video: units after start codes. */
struct ts_video {
    size_t look;       /* bytes of a unit that suffice to identify it */
    unsigned (*what)(const struct ts_es *es, const uint8_t *unit);
    /* A unit is complete: adds it to the frame with ts_video_keep(), or stores its content. */
    void (*end)(struct ts_es *es, size_t at, size_t size);
    /* Called at the first slice of a frame; may be NULL. */
    void (*picture)(struct ts_es *es);
    /* True if the frame, which has a slice, may be complete. NULL: always. */
    bool (*ends)(const struct ts_es *es);
    /* True if the complete frame is a key frame. */
    bool (*key)(const struct ts_es *es);
    /* Returns the piece of the output frame for a unit. */
    struct ts_piece (*piece)(const uint8_t *unit, size_t size);
    bool trim;         /* zeros at the end do not belong to a unit */
};

struct ts_audio_frame { /* a frame in the buffer */
    size_t total;     /* size, with its header */
    const uint8_t *data;
    size_t size;
    uint32_t samples, rate;
    uint8_t config[AAC_ASC_MAX]; /* the frame's configuration */
    size_t config_size;          /* 0: none */
};

enum ts_found { TS_FOUND, TS_SKIP /* skip s->total unsupported bytes */,
                TS_MORE /* the start of a frame */, TS_NONE };

/* Audio: frames after headers. */
struct ts_audio {
    size_t header;    /* bytes that suffice to identify a header */
    bool aligned;     /* frames start with the PES packet, and none spans two */
    bool (*is_header)(const uint8_t *p);
    enum ts_found (*find)(struct ts_es *es, const uint8_t *p, size_t size,
                          struct ts_audio_frame *s);
};

enum ts_proof { TS_UNKNOWN, TS_TRUE, TS_FALSE };

struct ts_learned { /* trusted after some confirmations, never again after one contradiction */
    enum ts_proof is;
    uint8_t seen;
};

struct ts_es { /* the state of a stream that is read */
    struct ts_demux *demux;
    const struct ts_reader *reader; /* NULL: there is none */
    uint16_t pid;
    uint8_t type, channels;
    struct ts_count count;

    /* the current PES packet */
    bool open;
    bool has_length;
    bool ends_stuffed;         /* its last TS packet had stuffing: it may be the end */
    bool early;                /* it was treated as the end */
    size_t left;               /* with has_length: missing bytes */
    size_t head_len;
    uint8_t head[TS_PES_HEAD];
    struct ts_learned stuffing; /* stuffing marks the end */

    /* its payload, after the rest of earlier ones */
    struct wr buf;
    size_t from;               /* start of its payload */
    uint64_t at, pes_at;       /* input offsets of the frame and the PES packet */
    bool has_time, timed;      /* its time is not used by a frame yet; there was a time before */
    int64_t pes_pts, pes_dts;

    /* frames */
    bool busy;                 /* the buffer may have another frame */
    bool last;                 /* no bytes follow the buffer: */
    bool torn;                 /* because they are missing */
    bool ready;                /* demux->out is a frame of this stream */
    bool has_config, config_due;
    struct wr config;
    struct av_info info;
    int64_t pts, dts;          /* times of the next frame */

    /* video */
    bool in_frame;             /* a frame has started, at frame_at; */
    bool picture, key, broken; /* it has a slice; is a key frame; is damaged */
    bool lost;                 /* the next units may be the rest of a frame */
    bool has_unit;             /* a unit has started, at unit_at */
    bool pes_begins;           /* no unit of the PES packet was parsed yet */
    size_t frame_at, unit_at, scan;
    struct ts_unit *units;
    unsigned n_units;
    size_t room;
    struct ts_learned whole;   /* each PES packet has a whole frame */
    int64_t each;              /* duration of the last frames */
    int64_t timed_dts;         /* the last frame's with a time; frames since */
    unsigned since;
    struct nal_sets sets;
    bool has_sps, intra, recovery;
    bool looked, shown;        /* AV1: first frame header parsed; last frame is shown */

    /* audio */
    bool synced;
    size_t pos;
    uint32_t rate;
    int64_t base;              /* time of a frame, and samples since */
    uint64_t samples;
    struct ts_latm { /* LATM settings for the following elements */
        bool known;
        struct aac_config aac;
    } latm;
    struct wr scratch;
};

struct ts_demux {
    struct ts_demux_opts opts;
    struct ts_demux_stat stat;

    /* input */
    const uint8_t *in;
    size_t in_size;
    uint64_t taken;            /* all bytes that were taken from `in` */
    bool synced;
    size_t carry_at, carry_len;
    uint8_t carry[TS_CARRY];
    bool has_packet;           /* `packet` is not processed yet: */
    struct ts_packet packet;

    /* tables */
    struct ts_section pat, pmt;
    uint32_t pat_version;      /* with its id; UINT32_MAX: none */
    struct ts_program programs[TS_PROGRAMS_MAX];
    unsigned n_programs, program;
    unsigned waited;           /* PATs since the last PMT */
    struct wr last_pat, last_pmt; /* packets of the current tables */
    struct { enum ts_note note; uint32_t what; } told[TS_TOLD_MAX];
    unsigned n_told;

    struct ts_es es[2];        /* video, audio */
    bool has_clock;
    int64_t clock;             /* the last time in the stream */

    struct ts_frame out;
    struct ts_piece *pieces;
    unsigned pieces_room;
    struct ts_piece config_piece;
};

/* demux.c: checks whether the packet follows the previous one; may be called again for the same
 * packet. */
enum ts_follows ts_follows(const struct ts_count *c, const struct ts_packet *k);
void ts_follow(struct ts_count *c, const struct ts_packet *k);
void ts_tell(struct ts_demux *d, enum ts_note note, const struct ts_told *told);

/* demux_psi.c */
void ts_psi_init(struct ts_demux *d);
void ts_psi_fini(struct ts_demux *d);
void ts_psi_packet(struct ts_demux *d, struct ts_section *s, const struct ts_packet *k);
void ts_psi_hole(struct ts_demux *d);

/* demux_types.c: identifies a stream by its type and descriptors in the PMT. */
struct ts_stream ts_stream_of(uint8_t type, const uint8_t *info, size_t size);

/* demux_pes.c */
void ts_es_init(struct ts_es *es, struct ts_demux *d);
void ts_es_fini(struct ts_es *es);
void ts_es_set(struct ts_es *es, const struct ts_stream *s); /* NULL: none */
/* Takes a packet. False: call it again with the same packet after the earlier frames were read. */
bool ts_es_packet(struct ts_es *es, const struct ts_packet *k);
/* Frees large unused buffers when no input is pending. */
void ts_es_tidy(struct ts_es *es);
void ts_es_break(struct ts_es *es);  /* packets are missing */
void ts_es_flush(struct ts_es *es);  /* the stream has ended */
/* Sets the configuration, which may be unchanged. */
void ts_es_configure(struct ts_es *es, const void *config, size_t size);
/* Returns space for n pieces of a frame, at most TS_UNITS_MAX. */
struct ts_piece *ts_pieces(struct ts_demux *d, unsigned n);
/* Outputs the frame of the first n of demux->pieces; false: there is no configuration for it. */
bool ts_es_out(struct ts_es *es, bool key, unsigned n);
void ts_learn(struct ts_learned *l, bool is);

/* demux_video.c, demux_audio.c: process the buffer up to one frame, or to its end, which clears
 * es->busy. */
void ts_video_step(struct ts_es *es);
void ts_audio_step(struct ts_es *es);
void ts_video_drop(struct ts_es *es); /* drops an incomplete frame */
/* Remove processed bytes from the buffer. */
void ts_video_compact(struct ts_es *es);
void ts_audio_compact(struct ts_es *es);
/* Adds the unit to the frame. */
void ts_video_keep(struct ts_es *es, size_t at, size_t size);

extern const struct ts_video ts_nal_video, ts_av1_video;
extern const struct ts_audio ts_adts_audio, ts_latm_audio, ts_mp3_audio, ts_opus_audio;

#endif
