/* SPDX-License-Identifier: MIT */
/* media.h - an FLV file shared by all publishers: its messages and frames, their send times, its
 * SDP.
 *
 * The file is read and parsed once and played in a loop with continuous timestamps. The loop has
 * the messages that carry media; codec configuration and metadata are sent once, before it.
 */
#ifndef TOOLS_LOAD_MEDIA_H
#define TOOLS_LOAD_MEDIA_H

#include "av/packet.h"
#include "base/wr.h"
#include "co/co.h"
#include "format/frame.h"
#include "tools/load/marker.h"

struct load_message {
    struct av_packet *pkt; /* its timestamp is 0 */
    const uint8_t *data;   /* points into pkt */
    uint32_t size;
    uint32_t time;   /* ms from the first message of the file */
    uint8_t type;    /* FLV tag type */
    bool key;        /* a player can start here */
    uint8_t marker;  /* offset at which a clock marker can be inserted; 0: none */
    uint8_t codec;   /* enum av_codec */
};

enum { LOAD_TRACKS = 2, LOAD_HEADS = 16 };

struct load_media {
    struct load_message *messages; /* the loop */
    size_t count;
    struct load_message heads[LOAD_HEADS]; /* sent before the loop, at time 0 */
    size_t head_count;
    uint32_t period; /* length of the loop, ms */
    uint64_t bytes;  /* size of the loop */
    unsigned n;      /* number of tracks that RTP can carry: video first, then audio */
    struct load_track {
        enum av_kind kind;
        enum av_codec codec;
        uint8_t type;                  /* payload type */
        const struct av_packet *config; /* or the first frame, for codecs without one */
    } tracks[LOAD_TRACKS];
};

/* Reads a whole file. The caller frees *out. */
err_t load_file_read(uint8_t **out, size_t *size, const char *path)
    __attribute__((warn_unused_result));
/* Reads and parses an FLV file. With `rtp`: ERR_UNSUPPORTED if RTP can carry none of its tracks. */
err_t load_media_load(struct load_media *m, const char *path, bool rtp)
    __attribute__((warn_unused_result));
err_t load_media_parse(struct load_media *m, const uint8_t *file, size_t size)
    __attribute__((warn_unused_result));
void load_media_free(struct load_media *m);
double load_media_kbps(const struct load_media *m);

/* Gets the codec configuration of a track as a frame; returns false if it has none. */
bool  load_track_config(const struct load_track *t, struct frame *out);
/* Calls take() for each frame of a message, `time` ms after the start, until it returns an error.
 * `number`: number of the next video frame, which gets a clock marker; NULL: no markers. */
err_t load_message_frames(const struct load_message *msg, uint64_t time, uint32_t *number,
                          err_t (*take)(void *arg, const struct frame *f), void *arg)
    __attribute__((warn_unused_result));
/* Writes the bytes to insert into a message: @setDataFrame before metadata, or a clock marker at
 * msg->marker of video if `number` (of the next video frame) is not NULL. Returns their size. */
size_t load_message_extra(uint8_t out[LOAD_MARKER_SIZE], const struct load_message *msg,
                          uint32_t *number);
void  load_media_describe(const struct load_media *m, struct wr *out);

/* ------------------------------------------------------------ play.c: send times */

/* A publisher's position in the file. */
struct load_play {
    const struct load_media *media;
    const struct load_message *msg; /* next message */
    uint64_t time;                  /* its time in ms since the start */
    co_usec from;                   /* time of the start */
    size_t at;
    uint64_t base; /* ms to add to the times in this pass of the loop */
};

/* Starts now, at a key frame chosen by `seed`; its time is 0. */
void load_play_begin(struct load_play *p, const struct load_media *m, unsigned seed, co_usec now);
/* Moves to the next message. The loop never ends. */
void load_play_next(struct load_play *p);

static inline co_usec load_play_due(const struct load_play *p)
{
    return p->from + CO_MS(p->time);
}

struct load_client;

/* Sends each message of the file with send() when it is due, until the session is over. hear()
 * handles what the server sends meanwhile. Yields. */
err_t load_publish(struct load_client *c, const struct load_media *m, err_t (*hear)(void *arg),
                   err_t (*send)(void *arg, const struct load_message *msg, uint64_t time),
                   void *arg) __attribute__((warn_unused_result));

#endif
