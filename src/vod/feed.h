/* SPDX-License-Identifier: MIT */
/* feed.h - one who plays a file: its place, its clock, and what is to be sent next.
 *
 * It sends what its clock wants: a second ahead at the start, then in real time (or as fast as
 * `scale` says), never faster than the peer takes it; a part that has begun is sent to its end.
 * A late player catches up; one that is late by more than VOD_LATE_MAX goes on from there.
 */
#ifndef VOD_FEED_H
#define VOD_FEED_H

#include "live/feed.h"
#include "vod/vod.h"

#define VOD_AHEAD CO_SECONDS(1)
#define VOD_LATE_MAX CO_SECONDS(10)

enum { VOD_SCALE_1 = 1000 }; /* thousandths */

struct vod_feed { /* in the player's own memory */
    struct live_feed feed;  /* what its sender is given */
    /* the rest is the feed's own: ask by the functions below */
    struct vod_file *file;
    struct vod_wire_use use;
    struct vod_wait wait;
    struct vod_at at;            /* of the part that comes next, or is being sent */
    uint32_t offset;             /* in it, between two packets */
    struct vod_numbers numbers;  /* of its player, where that part begins: what it should have */
    struct vod_numbers now;      /* the same at the offset */
    const struct vod_part *cut;  /* the peer has a piece of a large packet of it: the rest, */
    uint32_t cut_at, cut_end;    /* which is this, goes first */
    struct wr head;              /* then private bytes: the rest of a small packet, heads; at the */
    size_t head_sent, head_kept; /* end: BYE. A new place does not take away what is kept. */
    int64_t clock_dts;           /* at clock_at the clock was there; 1/90000 s of the file */
    co_usec clock_at, paused_at;
    co_usec went_on_at;          /* after a pause; 0: it did not */
    int64_t stop;                /* presentation time where it ends, or INT64_MAX */
    int64_t next_dts;            /* of the frame that comes next, about */
    int64_t sent_pts;            /* the latest that was sent since play; INT64_MIN: none */
    int64_t begin_pts, begin_dts; /* of the frame that it played from */
    int64_t shift;               /* of its timestamps: file time / scale + shift, 1/90000 s */
    int64_t resume;              /* where they go on at least, after what was sent */
    uint32_t spacing;            /* between frames, about; 1/90000 s */
    uint32_t clocks[DEMUX_TRACKS]; /* of RTP: ticks per second */
    uint32_t tracks;             /* that it asked for meanwhile; UINT32_MAX: it did not */
    int scale, speed;            /* thousandths */
    bool loop, playing, ended, failed, waits;
    bool counts, fresh, resumed; /* it is RTP; without numbers yet; was played before */
    bool late;
};

struct vod_feed_setup {
    struct vod_wire_use use;
    bool loop;
};

/* Takes a reference to the file. It stands at the begin and does not run yet. */
void vod_feed_open(struct vod_feed *f, struct vod_file *file, const struct vod_feed_setup *setup);
void vod_feed_close(struct vod_feed *f); /* fine if never opened (zeroed) */

/* It is played so from the next vod_feed_play() on, and stands still until then; the numbers of
 * tracks that stay go on. */
void vod_feed_use(struct vod_feed *f, const struct vod_wire_use *use);

/* Play from the last key frame at or before `from` (1/90000 s of the presentation, 0 is its begin)
 * to `to` (INT64_MAX: the end), from now on. What was not sent is forgotten, but for the rest of a
 * packet that the peer has a piece of. Gives where it begins, presentation time of that frame. Its
 * sender need not be stopped. Does not yield. */
int64_t vod_feed_play(struct vod_feed *f, int64_t from, int64_t to, int scale);
/* How fast it is delivered from now on, beside what it shows in that time: thousandths, at first
 * VOD_SCALE_1. Of a player that has another clock than we. */
void vod_feed_speed(struct vod_feed *f, int speed);
/* It gets these tracks (VOD_TRACKS_*) from now on, at its place: less with the next part, more
 * pictures from where the next group begins, with their configuration in front; or all of it with
 * vod_feed_play(), where heads are the caller's. Of FLV and RTMP alone. */
void vod_feed_tracks(struct vod_feed *f, uint32_t tracks);
/* Where it is: presentation time of what its clock shows about now, without what is sent ahead. */
int64_t vod_feed_position(const struct vod_feed *f);
/* Bytes that go out before the next part, once (copied): heads of files, configuration. */
void vod_feed_put_head(struct vod_feed *f, const uint8_t *data, size_t size);
/* It cannot go on: the file is broken or gone. */
bool vod_feed_failed(const struct vod_feed *f);

#endif
