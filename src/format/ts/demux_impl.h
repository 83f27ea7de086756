/* SPDX-License-Identifier: MIT */
/* demux_impl.h - what is known of a transport stream that comes in, for the files demux*.c alone.
 *
 * demux.c finds packets, demux_psi.c what is in them (demux_types.c: which codec), demux_pes.c puts
 * their payloads together. Frames are made of these by demux_video.c, with a part for each kind of
 * units, or by demux_audio.c with demux_sound.c.
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
    TS_CARRY = 4 * TS_PACKET,      /* bytes in which packets are looked for */
    TS_SECTION_MAX = 3 + 1021,
    TS_TABLE_MAX = 7 * TS_PACKET,  /* packets that a section is in, with what is in front of it */
    TS_STREAMS_MAX = 16, TS_PROGRAMS_MAX = 16, TS_TOLD_MAX = 32,
    TS_UNITS_MAX = 512,            /* of a frame */
    TS_PES_HEAD = 9 + 255,
    TS_TAIL = 8,                   /* bytes by which a repeated packet is known */
};

struct ts_packet { /* of a PID that we read, with a payload */
    const uint8_t *data;
    size_t size;       /* > 0 */
    uint64_t at;       /* bytes put in front of it */
    uint16_t pid;
    uint8_t cc;
    bool start;        /* payload_unit_start_indicator */
    bool stuffed;      /* there is stuffing in front of the payload */
    bool new_clock;    /* discontinuity_indicator */
    const uint8_t *raw; /* all of it */
};

struct ts_count { /* a continuity counter */
    int last;          /* -1: not known */
    bool repeated;     /* the last packet came twice */
    uint8_t tail[TS_TAIL]; /* of the last packet */
};

enum ts_follows { TS_NEXT, TS_REPEATED, TS_JUMPED };

/* ---- sections */

struct ts_section {
    uint16_t pid;
    struct ts_count count;
    bool open;
    struct wr data;
    struct wr raw;             /* the packets that it is in, whole */
};

struct ts_program {
    uint16_t number, pid; /* of its PMT */
};

/* ---- streams */

struct ts_es;

/* What a stream is: one of its rows in demux_types.c. */
struct ts_reader {
    uint8_t type;              /* stream_type, [TS] table 2-34 */
    const char *registration;  /* its format_identifier, or NULL: any */
    enum av_codec codec;
    const struct ts_video *video; /* one of these: */
    const struct ts_audio *audio;
};

struct ts_stream { /* as the PMT says it */
    const struct ts_reader *reader; /* NULL: we do not read it */
    const char *name;
    uint16_t pid;
    uint8_t type;
    uint8_t channels;          /* of Opus: channel_config_code */
};

enum { TS_UNIT_BEGINS = 1,  /* behind a picture it begins another frame */
       TS_UNIT_PICTURE = 2, /* some of one */
       TS_UNIT_FIRST = 4 }; /* the first of a picture */

struct ts_unit {
    uint32_t at, size; /* in es->buf */
};

/* Video: units behind start codes. */
struct ts_video {
    size_t look;       /* bytes of a unit that are enough to see what it is */
    unsigned (*what)(const struct ts_es *es, const uint8_t *unit);
    /* One has ended: keep it by ts_video_keep(), or what it says. */
    void (*end)(struct ts_es *es, size_t at, size_t size);
    /* The first unit of a picture begins; NULL: nothing is to be done. */
    void (*picture)(struct ts_es *es);
    /* There is a picture: may the frame be whole? NULL: yes. */
    bool (*ends)(const struct ts_es *es);
    /* All of a frame is there: is it one to start at? */
    bool (*key)(const struct ts_es *es);
    /* What the unit is in a frame. */
    struct ts_piece (*piece)(const uint8_t *unit, size_t size);
    bool trim;         /* zeros at the end of a unit are not of it */
};

struct ts_audio_frame { /* a frame that was found */
    size_t total;     /* bytes that it takes, its header included */
    const uint8_t *data;
    size_t size;
    uint32_t samples, rate;
    uint8_t config[AAC_ASC_MAX]; /* which it is for */
    size_t config_size;          /* 0: none is said */
};

enum ts_found { TS_FOUND, TS_SKIP /* s->total bytes that we cannot read */,
                TS_MORE /* the begin of one */, TS_NONE };

/* Sound: frames behind headers. */
struct ts_audio {
    size_t header;    /* bytes that are enough to see whether it is one */
    bool aligned;     /* the first is where a PES packet begins, and no frame is in two */
    bool (*is_header)(const uint8_t *p);
    enum ts_found (*find)(struct ts_es *es, const uint8_t *p, size_t size,
                          struct ts_audio_frame *s);
};

enum ts_proof { TS_UNKNOWN, TS_TRUE, TS_FALSE };

struct ts_learned { /* believed when it was seen some times, never again if it was wrong once */
    enum ts_proof is;
    uint8_t seen;
};

struct ts_es { /* a stream that is read */
    struct ts_demux *demux;
    const struct ts_reader *reader; /* NULL: there is none */
    uint16_t pid;
    uint8_t type, channels;
    struct ts_count count;

    /* the PES packet that comes */
    bool open;
    bool has_length;
    bool ends_stuffed;         /* the last TS packet of it had stuffing: it may be the end */
    bool early;                /* so it was taken for it */
    size_t left;               /* with has_length: bytes that are to come */
    size_t head_len;
    uint8_t head[TS_PES_HEAD];
    struct ts_learned stuffing; /* stuffing is the end */

    /* its payload, behind what is left of those before */
    struct wr buf;
    size_t from;               /* where it begins */
    uint64_t at, pes_at;       /* of the frame; of the PES packet */
    bool has_time, timed;      /* the PES packet has one, no frame has it yet; there was any */
    int64_t pes_pts, pes_dts;

    /* frames */
    bool busy;                 /* there may be more in the buffer */
    bool last;                 /* nothing comes behind it: */
    bool torn;                 /* it is missing */
    bool ready;                /* demux->out is a frame of it */
    bool has_config, config_due;
    struct wr config;
    struct av_info info;
    int64_t pts, dts;          /* of the frame that comes */

    /* video */
    bool in_frame;             /* one has begun, at frame_at; */
    bool picture, key, broken; /* there is some of its picture, to start at; something is wrong */
    bool lost;                 /* what comes may be the rest of a frame */
    bool has_unit;             /* one has begun, at unit_at */
    bool pes_begins;           /* no unit of the PES packet was looked at yet */
    size_t frame_at, unit_at, scan;
    struct ts_unit *units;
    unsigned n_units;
    size_t room;
    struct ts_learned whole;   /* a PES packet has a whole frame */
    int64_t each;              /* how long the frames before lasted */
    int64_t timed_dts;         /* of the last one with a time, and how many came since */
    unsigned since;
    struct nal_sets sets;
    bool has_sps, intra, recovery;
    bool looked, shown;        /* AV1: at the first frame header; the last one is of such */

    /* sound */
    bool synced;
    size_t pos;
    uint32_t rate;
    int64_t base;              /* time of the first of them, and samples since */
    uint64_t samples;
    struct ts_latm { /* what elements of LATM said of those that follow */
        bool known;
        struct aac_config aac;
    } latm;
    struct wr scratch;
};

struct ts_demux {
    struct ts_demux_opts opts;
    struct ts_demux_stat stat;

    /* bytes */
    const uint8_t *in;
    size_t in_size;
    uint64_t taken;            /* bytes of all that was put that are out of `in` */
    bool synced;
    size_t carry_at, carry_len;
    uint8_t carry[TS_CARRY];
    bool has_packet;           /* one that is not worked off: */
    struct ts_packet packet;

    /* what is in the stream */
    struct ts_section pat, pmt;
    uint32_t pat_version;      /* and id; UINT32_MAX: none */
    struct ts_program programs[TS_PROGRAMS_MAX];
    unsigned n_programs, program;
    unsigned waited;           /* PATs since the last PMT */
    struct wr last_pat, last_pmt; /* packets of those in force */
    struct { enum ts_note note; uint32_t what; } told[TS_TOLD_MAX];
    unsigned n_told;

    struct ts_es es[2];        /* video, audio */
    bool has_clock;
    int64_t clock;             /* a time that came last */

    struct ts_frame out;
    struct ts_piece *pieces;
    unsigned pieces_room;
    struct ts_piece config_piece;
};

/* demux.c: does the packet follow the one before it? Asked once more for one that comes again. */
enum ts_follows ts_follows(const struct ts_count *c, const struct ts_packet *k);
void ts_follow(struct ts_count *c, const struct ts_packet *k);
void ts_tell(struct ts_demux *d, enum ts_note note, const struct ts_told *told);

/* demux_psi.c */
void ts_psi_init(struct ts_demux *d);
void ts_psi_fini(struct ts_demux *d);
void ts_psi_packet(struct ts_demux *d, struct ts_section *s, const struct ts_packet *k);
void ts_psi_hole(struct ts_demux *d);

/* demux_types.c: what the PMT says of a stream: its type, and its descriptors. */
struct ts_stream ts_stream_of(uint8_t type, const uint8_t *info, size_t size);

/* demux_pes.c */
void ts_es_init(struct ts_es *es, struct ts_demux *d);
void ts_es_fini(struct ts_es *es);
void ts_es_set(struct ts_es *es, const struct ts_stream *s); /* NULL: none */
/* False: it is to come again, when what was before it is worked off. */
bool ts_es_packet(struct ts_es *es, const struct ts_packet *k);
/* Nothing of it is to be worked off: large memory that is not needed goes. */
void ts_es_tidy(struct ts_es *es);
void ts_es_break(struct ts_es *es);  /* something is missing */
void ts_es_flush(struct ts_es *es);  /* nothing comes any more */
/* A configuration, which may be the one that is there. */
void ts_es_configure(struct ts_es *es, const void *config, size_t size);
/* Room for n pieces of a frame, at most TS_UNITS_MAX. */
struct ts_piece *ts_pieces(struct ts_demux *d, unsigned n);
/* A frame of the first n of demux->pieces is whole; false: there is no configuration for it. */
bool ts_es_out(struct ts_es *es, bool key, unsigned n);
void ts_learn(struct ts_learned *l, bool is);

/* demux_video.c, demux_audio.c: one step of what is in the buffer: up to a frame, or all of it,
 * then es->busy is false. */
void ts_video_step(struct ts_es *es);
void ts_audio_step(struct ts_es *es);
void ts_video_drop(struct ts_es *es); /* forget what is there of a frame */
/* Bytes that are worked off leave the buffer. */
void ts_video_compact(struct ts_es *es);
void ts_audio_compact(struct ts_es *es);
/* The unit is of the frame. */
void ts_video_keep(struct ts_es *es, size_t at, size_t size);

extern const struct ts_video ts_nal_video, ts_av1_video;
extern const struct ts_audio ts_adts_audio, ts_latm_audio, ts_mp3_audio, ts_opus_audio;

#endif
