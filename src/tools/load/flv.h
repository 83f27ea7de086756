/* SPDX-License-Identifier: MIT */
/* flv.h - audio and video messages that players check, and a parser for FLV streams. */
#ifndef TOOLS_LOAD_FLV_H
#define TOOLS_LOAD_FLV_H

#include "base/err.h"
#include "tools/load/marker.h"

/* A complete message. */
struct load_tag {
    uint8_t type;
    uint32_t time, size;
    const uint8_t *head; /* first bytes: the whole body, or at least LOAD_MARKER_HEAD */
    size_t head_size;
};

typedef void load_tag_fn(void *arg, const struct load_tag *tag);

/* Parser of FLV tags; set it to zero first. Skips the bodies. */
struct load_flv {
    uint32_t left;      /* bytes left of the current part */
    uint8_t part;
    uint8_t head_size;
    uint8_t head[LOAD_MARKER_HEAD];
    struct load_tag tag;
};

/* Calls take() for audio and video messages. ERR_MALFORMED: the data is not FLV. */
err_t load_flv_feed(struct load_flv *f, const uint8_t *p, size_t size, load_tag_fn *take,
                    void *arg) __attribute__((warn_unused_result));

#endif
