/* SPDX-License-Identifier: MIT */
/* skim.h - walk over the chunks of a server [RTMP 5.3] without taking anything out of them.
 *
 * Each message is seen twice: when its first bytes are there, and when its last one is. Payload is
 * stepped over, so a message costs its chunk headers. The state of a stream of chunks is some
 * hundred bytes, no more, whatever the sizes of its messages.
 */
#ifndef TOOLS_LOAD_SKIM_H
#define TOOLS_LOAD_SKIM_H

#include "base/err.h"
#include "tools/load/marker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOAD_SKIM_STREAMS = 8, LOAD_SKIM_HEADER = 18, LOAD_SKIM_WHOLE = 2048 };

struct load_skim_stream {
    uint32_t csid;
    uint32_t time, stamp; /* ms; the last time field: absolute or delta */
    uint32_t size, left;  /* of the message; left 0: between messages */
    uint8_t type;
    bool extended;
};

/* What a message is, once its first bytes are there (all of them, or LOAD_MARKER_HEAD). */
struct load_skim_msg {
    uint8_t type;
    uint32_t time, size;
    const uint8_t *head;
    size_t head_size;
    bool end; /* its last byte was read; head is that of the newest message then, if any */
};

struct load_skim {
    uint32_t chunk_size;
    uint32_t window;     /* of acknowledgement, 0: none was asked for */
    uint64_t bytes, acked;
    uint32_t chunk_left;
    uint8_t header_size, head_size;
    int8_t now;          /* index of the stream whose chunk is being read, -1: a header */
    int8_t whole_of;     /* index of the stream that `whole` is of */
    uint8_t *whole;      /* LOAD_SKIM_WHOLE bytes for whole commands while that is asked for */
    uint32_t whole_size;
    uint8_t header[LOAD_SKIM_HEADER];
    uint8_t head[LOAD_MARKER_HEAD];
    struct load_skim_stream streams[LOAD_SKIM_STREAMS];
};

struct load_skim_handler {
    /* Begin and end of audio and video messages. May be NULL. */
    void (*media)(void *arg, const struct load_skim_msg *msg);
    /* Any other message that is complete: user control with up to LOAD_MARKER_HEAD bytes;
     * commands whole, while skim->whole is set. May be NULL. */
    void (*other)(void *arg, const struct load_skim_msg *msg);
};

static inline uint32_t load_be(const uint8_t *p, size_t n)
{
    uint32_t v = 0;

    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

void load_skim_init(struct load_skim *s);
/* Ask for whole commands (or not any more). Allocates and frees. */
void load_skim_whole(struct load_skim *s, bool on);
/* ERR_RTMP_CHUNK: these are no chunks, or more streams than we keep. */
err_t load_skim_feed(struct load_skim *s, const uint8_t *p, size_t size,
                     const struct load_skim_handler *h, void *arg)
    __attribute__((warn_unused_result));
/* Is it time to acknowledge? Then *sequence is what to send, and it counts as sent. */
bool load_skim_take_ack(struct load_skim *s, uint32_t *sequence);

/* ------------------------------------------------------------ the same of FLV: flv.c */

struct load_flv {
    uint32_t left;      /* bytes of what is being read */
    uint8_t part;       /* 0: file header, 1: tag header, 2: body, 3: PreviousTagSize */
    uint8_t head_size;
    uint8_t head[LOAD_MARKER_HEAD];
    struct load_skim_msg msg;
};

void  load_flv_init(struct load_flv *f);
/* ERR_MALFORMED: this is no FLV. */
err_t load_flv_feed(struct load_flv *f, const uint8_t *p, size_t size,
                    void (*media)(void *arg, const struct load_skim_msg *msg), void *arg)
    __attribute__((warn_unused_result));

#endif
