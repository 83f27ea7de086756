/* SPDX-License-Identifier: MIT */
/* held.h - a stretch of a file in memory of ours, that comes and goes in blocks. */
#ifndef VOD_HELD_H
#define VOD_HELD_H

#include "co/os/direct.h"
#include "vod/blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VOD_HELD_BLOCKS = CO_DIRECT_PIECES };

struct vod_held {       /* starts as zeros: nothing */
    int64_t at, end;    /* of the file */
    unsigned n;
    uint8_t *blocks[VOD_HELD_BLOCKS]; /* all but the last one are full */
};

/* Copy what is at that place of the file. False: it is not, all of it, here. */
bool vod_held_copy(const struct vod_held *h, int64_t at, void *to, size_t size);
/* Takes out the first block if all of it is in front of that place of the file; else NULL. */
uint8_t *vod_held_pop(struct vod_held *h, int64_t before);

#endif
