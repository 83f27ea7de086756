/* SPDX-License-Identifier: MIT */
/* marker.h - the publisher's clock inside the video, for those who play it.
 *
 * Each video message of our publisher begins with one more NAL unit: an SEI message of user data
 * ([H.264] D.1.7, [H.265] D.2.7) with a name of our own, the wall-clock time of its sending and
 * a number. Servers pass video on byte for byte and decoders step over it. Its size and place are
 * fixed, so to find it costs a compare. There is no zero byte in it, so nothing needs escaping.
 */
#ifndef TOOLS_LOAD_MARKER_H
#define TOOLS_LOAD_MARKER_H

#include "format/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOAD_MARKER_SIZE = 40,   /* at most; of the NAL unit and its length */
    LOAD_MARKER_AT = 8,      /* at most; where it begins in a message */
    LOAD_MARKER_HEAD = LOAD_MARKER_AT + LOAD_MARKER_SIZE, /* what a player has to look at */
};

struct load_marker {
    int64_t time;    /* µs, CLOCK_REALTIME */
    uint32_t number; /* of the video message, from 0 */
};

/* Its bytes for H.264 or H.265 with NAL unit lengths of 4 bytes. Returns their number. */
size_t load_marker_build(uint8_t out[LOAD_MARKER_SIZE], enum av_codec codec,
                         const struct load_marker *m);
/* The same of now, in front of that frame, in memory of all: it stays until the next one. */
void load_marker_put(struct frame *f, uint32_t number);
/* From the first bytes of a video message; false: there is none. */
bool load_marker_find(struct load_marker *m, const uint8_t *head, size_t size);
/* Anywhere in the first `size` bytes of a payload of RTP, behind parameter sets too. */
bool load_marker_find_in(struct load_marker *m, const uint8_t *payload, size_t size);

#endif
