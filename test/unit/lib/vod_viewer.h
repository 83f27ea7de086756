/* SPDX-License-Identifier: MIT */
/* vod_viewer.h - a player of the file of vod_made.h that takes a limited number of bytes at a time, and a reader of its FLV. */
#ifndef VOD_VIEWER_H
#define VOD_VIEWER_H

#include "vod/feed.h"
#include "vod_made.h"

enum { SEED = 0x5a17c0de, ITEMS_MAX = 60000, BOTH = VOD_TRACKS_VIDEO | VOD_TRACKS_AUDIO };

struct viewer {
    struct vod_feed f;
    struct wr got;
    unsigned more; /* how often it was called */
};

struct viewer_tags {
    unsigned n, pictures;
    int64_t first, last;   /* ms */
    uint8_t types[ITEMS_MAX];
    int64_t times[ITEMS_MAX];
    size_t at[ITEMS_MAX];  /* position of the body */
    uint32_t sizes[ITEMS_MAX];
};

extern struct viewer_tags tags; /* the result of viewer_read_tags() */

void viewer_open_use(struct viewer *p, const struct vod_wire_use *use, bool loop);
struct vod_wire_use viewer_use(const struct vod_wire *wire);
void viewer_open(struct viewer *p, const struct vod_wire *wire);
void viewer_leave(struct viewer *p);
/* made_begin() and a player from that place; and the end of both. */
void viewer_begin(struct viewer *p, const struct vod_wire *wire, int64_t from);
void viewer_finish(struct viewer *p);
/* Takes at most that many bytes at once. */
size_t viewer_take(struct viewer *p, size_t most);
/* Takes all that is due. */
void viewer_turn(struct viewer *p);
void viewer_go_on(struct viewer *p, co_usec us);
void viewer_go_to_end(struct viewer *p);
void viewer_read_tags(const struct wr *got);
void viewer_take_pieces(struct viewer *p, size_t size);
void viewer_assert_same(const struct viewer *p, const struct viewer *whole);

#endif
