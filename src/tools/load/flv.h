/* SPDX-License-Identifier: MIT */
/* flv.h - messages of audio and video as players look at them, and those of an FLV stream. */
#ifndef TOOLS_LOAD_FLV_H
#define TOOLS_LOAD_FLV_H

#include "base/err.h"
#include "tools/load/marker.h"

/* A whole message. */
struct load_tag {
    uint8_t type;
    uint32_t time, size;
    const uint8_t *head; /* its first bytes: all of them, or LOAD_MARKER_HEAD at least */
    size_t head_size;
};

typedef void load_tag_fn(void *arg, const struct load_tag *tag);

/* A walk over the tags of a stream, zero at its begin. Bodies are stepped over. */
struct load_flv {
    uint32_t left;      /* bytes of what is being read */
    uint8_t part;
    uint8_t head_size;
    uint8_t head[LOAD_MARKER_HEAD];
    struct load_tag tag;
};

/* take() gets what is audio or video. ERR_MALFORMED: this is no FLV. */
err_t load_flv_feed(struct load_flv *f, const uint8_t *p, size_t size, load_tag_fn *take,
                    void *arg) __attribute__((warn_unused_result));

#endif
