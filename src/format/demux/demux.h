/* SPDX-License-Identifier: MIT */
/* demux.h - files of MP4 and FLV, read from any place: no I/O, no clock, no err_t.
 *
 * It runs on helper threads as well as on the coroutine thread, over whatever gives bytes of a
 * file. A file has an index: its tracks, and where one may begin. What lies between two such places
 * is a group: the samples of all tracks in the order in which they are to be sent. An index is
 * never changed once it is made, and a group is a function of the file and its place, so all who
 * play a file can share both.
 *
 * Times are those of the file's presentation, in 1/90000 s, edit lists applied, moved by
 * demux_info.zero so that no decoding time is below 0.
 */
#ifndef FORMAT_DEMUX_DEMUX_H
#define FORMAT_DEMUX_DEMUX_H

#include "av/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum demux_status {
    DEMUX_OK,
    DEMUX_AGAIN,       /* bytes are not in memory: try again where one may wait for a disk */
    DEMUX_END,         /* there is no such place */
    DEMUX_BROKEN,      /* it is no such file, or damaged, or became shorter */
    DEMUX_UNSUPPORTED, /* no track of it can be played */
    DEMUX_TOO_LARGE,   /* over a limit */
    DEMUX_NO_MEMORY,
    DEMUX_IO,          /* reading failed */
};

/* Where bytes come from. read() gives exactly so many: DEMUX_OK, DEMUX_AGAIN, DEMUX_IO;
 * DEMUX_BROKEN: the file ends before. */
struct demux_input {
    int64_t size;
    enum demux_status (*read)(const struct demux_input *in, int64_t at, void *buf, size_t size);
};

enum { DEMUX_VIDEO, DEMUX_AUDIO, DEMUX_TRACKS };

struct demux_track {
    enum av_codec codec;   /* AV_CODEC_NONE: there is none */
    const uint8_t *config; /* of the codec, as av/packet.h has it; the index's */
    size_t config_size;
    uint8_t config_head;   /* > 0: so many bytes in front of config are the begin of the body of an
                            * FLV tag, of which config is the rest */
    int64_t duration;      /* 1/90000 s */
};

struct demux_info {
    const char *format;    /* "mp4", "flv" */
    struct demux_track tracks[DEMUX_TRACKS];
    int64_t zero;          /* decoding and presentation times are so much later than the file's own
                            * presentation: what a user calls 0 s is this */
    int64_t duration;      /* of the longest track, from that on */
    unsigned kbps;         /* of the whole file, about */
    size_t memory;         /* bytes that the index takes */
    unsigned left_out;     /* tracks that nobody plays */
};

struct demux_limits {
    size_t index_max; /* bytes */
};

struct demux_index;

/* Read what must be known of a file. On any other status *out is NULL and *why says why, in a few
 * words that need not be freed. The index keeps no pointer to `in`. */
enum demux_status demux_open(struct demux_index **out, const struct demux_input *in,
                             const struct demux_limits *limits, const char **why);
void demux_close(struct demux_index *index); /* NULL is fine */
const struct demux_info *demux_info(const struct demux_index *index);

/* A place where a group begins: an opaque number that grows with time. */
typedef uint64_t demux_position;

/* The last place at or before that time (decoding or presentation of the key frame, whichever is
 * later) where one may begin: a key frame; of sound alone about every second. The first one for
 * what is before all. Does not read the file. */
demux_position demux_seek(const struct demux_index *index, int64_t time);
/* When the first frame of a place where one may begin is decoded; *pts: when it is shown. Does not
 * read the file. */
int64_t demux_position_time(const struct demux_index *index, demux_position place, int64_t *pts);

struct demux_sample {
    int64_t at;      /* in the file: of the codec's payload, or for FLV of the tag's body */
    uint32_t size;   /* > 0 */
    uint8_t track;   /* DEMUX_VIDEO, DEMUX_AUDIO */
    uint8_t origin;  /* it is the body of an FLV tag of this type (8, 9); 0: only payload */
    bool key;
    bool config;     /* a decoder configuration amid the file */
    int64_t dts;     /* 1/90000 s, >= 0; never falls within a track, but where the file's own
                      * list of its fragments lies from one group to the next */
    int32_t cts;     /* of what has no origin: pts = dts + cts */
};

enum { DEMUX_GROUP_MAX = 2048, DEMUX_SAMPLE_MAX = 16 * 1024 * 1024 };

struct demux_group {
    demux_position place, next; /* this one, and the one behind it */
    bool last;               /* there is none behind it */
    bool starts;             /* one may begin here; else it goes on with one that was too long */
    unsigned n;
    struct demux_sample v[];
};

/* The samples of a group, at most DEMUX_GROUP_MAX and all within the file, in memory to give to
 * free(). Samples of both tracks by decoding time, video first. May be empty. */
enum demux_status demux_group(struct demux_group **out, const struct demux_index *index,
                              const struct demux_input *in, demux_position place, const char **why);

/* The packet that a sample is: `data` is what was read of it, s->size bytes. Fills the fields of a
 * packet that has these bytes at its end. False: it is broken, and left out. */
struct av_packet;
bool demux_packet(const struct demux_index *index, const struct demux_sample *s,
                  struct av_packet *pkt);

#endif
