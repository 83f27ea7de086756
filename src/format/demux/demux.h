/* SPDX-License-Identifier: MIT */
/* demux.h - reads MP4 and FLV files from any position: no I/O, no clock, no err_t.
 *
 * Runs on helper threads and on workers' threads, with any source of a file's bytes. The index of a
 * file has its tracks and the positions where play can start. The samples between two such
 * positions form a group: all tracks, in the order in which they are sent. An index never changes,
 * and a group depends only on the file and the position, so all players of a file share both.
 *
 * Times are presentation times of the file in 1/90000 s with edit lists applied, shifted by
 * demux_info.zero so that no decoding time is negative.
 */
#ifndef FORMAT_DEMUX_DEMUX_H
#define FORMAT_DEMUX_DEMUX_H

#include "av/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum demux_status {
    DEMUX_OK,
    DEMUX_AGAIN,       /* bytes are not in memory: try again on a thread that may wait for a disk */
    DEMUX_END,         /* there is no such position */
    DEMUX_BROKEN,      /* not a file of this format, or damaged, or truncated */
    DEMUX_UNSUPPORTED, /* it has no track that can be played */
    DEMUX_TOO_LARGE,   /* a limit is exceeded */
    DEMUX_NO_MEMORY,
    DEMUX_IO,          /* reading failed */
};

/* The source of bytes. read() gives exactly the requested bytes: DEMUX_OK, DEMUX_AGAIN, DEMUX_IO;
 * DEMUX_BROKEN: the file ends before them. */
struct demux_input {
    int64_t size;
    enum demux_status (*read)(const struct demux_input *in, int64_t at, void *buf, size_t size);
};

enum { DEMUX_VIDEO, DEMUX_AUDIO, DEMUX_TRACKS };

struct demux_track {
    enum av_codec codec;   /* AV_CODEC_NONE: there is no such track */
    const uint8_t *config; /* decoder configuration, see av/packet.h; belongs to the index */
    size_t config_size;
    uint8_t config_head;   /* > 0: config is the end of an FLV tag body; this many bytes of the body
                            * are in front of it */
    int64_t duration;      /* 1/90000 s */
};

struct demux_info {
    const char *format;    /* "mp4", "flv" */
    struct demux_track tracks[DEMUX_TRACKS];
    int64_t zero;          /* offset of all times from the file's own presentation times; a user's
                            * position 0 s is at this time */
    int64_t duration;      /* end of the longest track, from `zero` on */
    unsigned kbps;         /* bit rate of the whole file, about */
    size_t memory;         /* size of the index, bytes */
    unsigned left_out;     /* tracks that cannot be played */
};

struct demux_limits {
    size_t index_max; /* bytes */
};

struct demux_index;

/* Reads a file's tracks and builds its index. On any status other than DEMUX_OK, *out is NULL and
 * *why is a short reason that need not be freed. The index keeps no pointer to `in`. */
enum demux_status demux_open(struct demux_index **out, const struct demux_input *in,
                             const struct demux_limits *limits, const char **why);
void demux_close(struct demux_index *index); /* NULL is allowed */
const struct demux_info *demux_info(const struct demux_index *index);

/* The position of a group: an opaque number that grows with time. */
typedef uint64_t demux_position;

/* Returns the last position at or before `time` where play can start: a key frame, or about every
 * second if there is only audio. The time of a key frame is its decoding or presentation time,
 * whichever is later. Returns the first position for a time before it. Does not read the file. */
demux_position demux_seek(const struct demux_index *index, int64_t time);
/* Returns the decoding time of the first frame at a position where play can start; *pts: its
 * presentation time. Does not read the file. */
int64_t demux_position_time(const struct demux_index *index, demux_position place, int64_t *pts);

struct demux_sample {
    int64_t at;      /* file offset of the codec's payload, or for FLV of the tag's body */
    uint32_t size;   /* > 0 */
    uint8_t track;   /* DEMUX_VIDEO, DEMUX_AUDIO */
    uint8_t origin;  /* body of an FLV tag of this type (8, 9); 0: only the payload */
    bool key;
    bool config;     /* a decoder configuration in the middle of the file */
    int64_t dts;     /* 1/90000 s, >= 0; never decreases within a track, except between two
                      * groups if the file's own list of fragments is wrong */
    int32_t cts;     /* if origin is 0: pts = dts + cts */
};

enum { DEMUX_GROUP_MAX = 2048, DEMUX_SAMPLE_MAX = 16 * 1024 * 1024 };

struct demux_group {
    demux_position place, next; /* positions of this group and the next */
    bool last;               /* no group follows */
    /* play can start here; if not, it continues a group that was too long */
    bool starts;
    unsigned n;
    struct demux_sample v[];
};

/* Gives the samples of a group, at most DEMUX_GROUP_MAX, all within the file; release with free().
 * The samples of both tracks are ordered by decoding time, video first. May be empty. */
enum demux_status demux_group(struct demux_group **out, const struct demux_index *index,
                              const struct demux_input *in, demux_position place, const char **why);

/* Fills the fields of a packet whose last bytes are the sample: `data`, s->size bytes. False: the
 * sample is damaged; skip it. */
struct av_packet;
bool demux_packet(const struct demux_index *index, const struct demux_sample *s,
                  struct av_packet *pkt);

#endif
