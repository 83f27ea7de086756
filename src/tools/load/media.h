/* SPDX-License-Identifier: MIT */
/* media.h - an FLV file as all publishers share it: its messages, the frames in them, when each is
 * due, and the SDP of it.
 *
 * The file is read and parsed once. It is played round and round with continuing timestamps: the
 * messages of a turn are those that carry media; configuration and metadata are sent once, first.
 */
#ifndef TOOLS_LOAD_MEDIA_H
#define TOOLS_LOAD_MEDIA_H

#include "av/packet.h"
#include "base/wr.h"
#include "co/co.h"
#include "format/frame.h"
#include "tools/load/marker.h"

struct load_message {
    struct av_packet *pkt; /* of time 0 */
    const uint8_t *data;   /* its own, as what follows */
    uint32_t size;
    uint32_t time;   /* ms from the first message of the file */
    uint8_t type;    /* FLV tag type */
    bool key;        /* a player can start here */
    uint8_t marker;  /* offset where a marker may be put in; 0: nowhere */
    uint8_t codec;   /* enum av_codec */
};

enum { LOAD_TRACKS = 2, LOAD_HEADS = 16 };

struct load_media {
    struct load_message *messages; /* the turn */
    size_t count;
    struct load_message heads[LOAD_HEADS]; /* before it, at time 0 */
    size_t head_count;
    uint32_t period; /* ms from one turn to the next */
    uint64_t bytes;  /* of a turn */
    unsigned n;      /* tracks that RTP carries: video first, then audio */
    struct load_track {
        enum av_kind kind;
        enum av_codec codec;
        uint8_t type;                  /* payload type */
        const struct av_packet *config; /* or its first frame, if its codec has none */
    } tracks[LOAD_TRACKS];
};

/* All of a file, to be freed. */
err_t load_file_read(uint8_t **out, size_t *size, const char *path)
    __attribute__((warn_unused_result));
/* `rtp`: ERR_UNSUPPORTED if RTP carries none of it. */
err_t load_media_load(struct load_media *m, const char *path, bool rtp)
    __attribute__((warn_unused_result));
err_t load_media_parse(struct load_media *m, const uint8_t *file, size_t size)
    __attribute__((warn_unused_result));
void load_media_free(struct load_media *m);
double load_media_kbps(const struct load_media *m);

/* The configuration of a track as a frame; false: it has none. */
bool  load_track_config(const struct load_track *t, struct frame *out);
/* Each frame of a message, `time` ms after the begin, until take() gives an error. `number`: of the
 * next picture, which gets the clock; NULL: none does. */
err_t load_message_frames(const struct load_message *msg, uint64_t time, uint32_t *number,
                          err_t (*take)(void *arg, const struct frame *f), void *arg)
    __attribute__((warn_unused_result));
/* What is put in front of a message's data, or into them at msg->marker: @setDataFrame of metadata;
 * the clock of a picture, if `number`, of the next one, is not NULL. Gives its size. */
size_t load_message_extra(uint8_t out[LOAD_MARKER_SIZE], const struct load_message *msg,
                          uint32_t *number);
void  load_media_describe(const struct load_media *m, struct wr *out);

/* ------------------------------------------------------------ play.c: when each is due */

/* A cursor of one publisher. */
struct load_play {
    const struct load_media *media;
    const struct load_message *msg; /* the next one, */
    uint64_t time;                  /* and its time in ms from the begin */
    co_usec from;                   /* when that was */
    size_t at;
    uint64_t base; /* ms to add to the times of this turn */
};

/* Begin now at a key frame, one of them by `seed`; its time is 0. */
void load_play_begin(struct load_play *p, const struct load_media *m, unsigned seed, co_usec now);
/* Go on to the next message; they never end. */
void load_play_next(struct load_play *p);

static inline co_usec load_play_due(const struct load_play *p)
{
    return p->from + CO_MS(p->time);
}

struct load_client;

/* A publisher that may send from now on: each message when it is due, until the session is over.
 * hear() takes what the server says meanwhile. Yields. */
err_t load_publish(struct load_client *c, const struct load_media *m, err_t (*hear)(void *arg),
                   err_t (*send)(void *arg, const struct load_message *msg, uint64_t time),
                   void *arg) __attribute__((warn_unused_result));

#endif
