/* SPDX-License-Identifier: MIT */
/* vod_made.h - a generated file on demand for tests of feeds: a format of its own in the real store.
 *
 * Ten groups of a second: 25 frames of video with B-frames, audio of 48 kHz. A frame of video is shown two
 * frames after it is decoded or later; that is what `zero` says. Time moves by made_pass() only.
 */
#ifndef VOD_MADE_H
#define VOD_MADE_H

#include "rtp_media.h"
#include "vod/store.h"
#include "vod/wires.h"

enum {
    MADE_GROUPS = 10, MADE_FRAMES = 25, MADE_FRAME = 3600, MADE_AUDIO = 1920, MADE_SECOND = 90000,
    MADE_ZERO = 7200, MADE_SAMPLES = 128,
};

struct made_sample {
    int64_t dts;
    int32_t cts;
    bool audio, key;
    uint32_t size;
};

/* Setup and teardown of a group of tests: the server and the file, which is open all the time. */
int made_setup(void **state);
int made_teardown(void **state);

/* A test: begins without any part in memory, ends without any in use. */
void made_begin(void);
void made_end(void);

extern struct vod_file *made;    /* while it is open */
struct demux_info *made_info(void);
uint64_t made_parts(void);       /* made so far */
unsigned made_in_use(const struct vod_part *cut); /* references to its parts, `cut` included */
void made_evict(void);           /* the parts that are not in use */
void made_pass(co_usec us);

/* Groups that are not in memory: players have to wait for them, or they cannot be read. */
void made_waits(bool waits);
void made_fails(bool fails);
/* The awaited data arrives. */
void made_arrives(void);

/* The samples of a group; returns how many. */
unsigned made_group(uint64_t place, struct made_sample v[MADE_SAMPLES]);

#endif
