/* SPDX-License-Identifier: MIT */
/* media.h - an FLV file as all publishers share it, and when each of its messages is due.
 *
 * The file is read and parsed once. It is played round and round with continuing timestamps: the
 * messages of a turn are those that carry media; configuration and metadata are sent once, first.
 */
#ifndef TOOLS_LOAD_MEDIA_H
#define TOOLS_LOAD_MEDIA_H

#include "av/packet.h"
#include "base/err.h"
#include "tools/load/marker.h"

struct load_message {
    const uint8_t *data;
    uint32_t size;
    uint32_t time;   /* ms from the first message of the file */
    uint8_t type;    /* FLV tag type */
    bool key;        /* a player can start here */
    uint8_t marker;  /* offset where a marker may be put in; 0: nowhere */
    uint8_t codec;   /* enum av_codec */
};

struct load_media {
    uint8_t *file;
    struct load_message *messages; /* the turn */
    size_t count;
    struct load_message heads[16]; /* before it, at time 0 */
    size_t head_count;
    uint32_t period; /* ms from one turn to the next */
    uint64_t bytes;  /* of a turn */
};

/* A cursor of one publisher. */
struct load_play {
    size_t at;
    uint64_t base; /* ms to add to the times of this turn */
};

/* All of a file, to be freed. */
err_t load_file_read(uint8_t **out, size_t *size, const char *path)
    __attribute__((warn_unused_result));
err_t load_media_load(struct load_media *m, const char *path) __attribute__((warn_unused_result));
/* The same from memory: takes over `file`, of malloc, if it gives no error. */
err_t load_media_parse(struct load_media *m, uint8_t *file, size_t size)
    __attribute__((warn_unused_result));
void load_media_free(struct load_media *m);

/* What is put in front of a message's data, or into them at msg->marker: @setDataFrame of metadata;
 * the clock of a picture, if `number`, of the next one, is not NULL. Gives its size. */
size_t load_media_extra(uint8_t out[LOAD_MARKER_SIZE], const struct load_message *msg,
                        uint32_t *number);

/* Begin at a key frame, one of them by `seed`; its time is 0. */
void load_play_begin(struct load_play *p, const struct load_media *m, unsigned seed);
/* The next message and its time in ms from the begin; they never end. */
const struct load_message *load_play_next(struct load_play *p, const struct load_media *m,
                                          uint64_t *time);

struct load_client;

/* A publisher that may send from now on: each message when it is due, until the session is over.
 * hear() takes what the server says meanwhile. Yields. */
err_t load_publish(struct load_client *c, const struct load_media *m, err_t (*hear)(void *arg),
                   err_t (*send)(void *arg, const struct load_message *msg, uint64_t time),
                   void *arg) __attribute__((warn_unused_result));

#endif
