/* SPDX-License-Identifier: MIT */
/* feed.h - a player of a file: its position, its clock and the bytes to send next.
 *
 * A feed sends media when its clock reaches it: one second ahead at the start, then in real time
 * (or at the speed of `scale`), never faster than the peer accepts it. It sends a part to its end
 * once it has started it. A player that falls behind catches up; if it is more than VOD_LATE_MAX
 * behind, its clock continues from its position.
 */
#ifndef VOD_FEED_H
#define VOD_FEED_H

#include "live/feed.h"
#include "vod/vod.h"

#define VOD_AHEAD CO_SECONDS(1)
#define VOD_LATE_MAX CO_SECONDS(10)

enum { VOD_SCALE_1 = 1000 }; /* thousandths */

struct vod_feed { /* in the player's own memory */
    struct live_feed feed;  /* the interface for its sender */
    /* private to the feed: use the functions below */
    struct vod_file *file;
    struct vod_wire_use use;
    struct vod_wait wait;
    struct vod_at at;            /* the part that is sent now, or the next one */
    uint32_t offset;             /* in the part, between two packets */
    struct vod_numbers numbers;  /* the player's numbers at the start of that part */
    struct vod_numbers now;      /* the same at the offset */
    const struct vod_part *cut;  /* set: the peer got a piece of a large packet of this part; */
    uint32_t cut_at, cut_end;    /* the rest, this range, is sent first */
    /* then the player's own bytes: rest of a small packet, heads, the */
    struct wr head;
    size_t head_sent, head_kept; /* final BYE. A seek does not discard the first head_kept bytes. */
    int64_t clock_dts;           /* the clock's value at clock_at; 1/90000 s of the file */
    co_usec clock_at, paused_at;
    co_usec went_on_at;          /* time of the resume after a pause; 0: none */
    int64_t stop;                /* presentation time of the end of play, or INT64_MAX */
    int64_t next_dts;            /* the next frame's, about */
    int64_t sent_pts;            /* the latest one sent since play; INT64_MIN: none */
    int64_t begin_pts, begin_dts; /* the times of the first frame */
    int64_t shift;               /* timestamps are file time / scale + shift, 1/90000 s */
    int64_t resume;              /* the least next timestamp, after those already sent */
    uint32_t spacing;            /* distance of frames, about; 1/90000 s */
    uint32_t clocks[DEMUX_TRACKS]; /* RTP: ticks per second */
    uint32_t tracks;             /* pending change of tracks; UINT32_MAX: none */
    int scale, speed;            /* thousandths */
    bool loop, playing, ended, failed, waits;
    bool counts, fresh, resumed; /* RTP; has no numbers yet; played before */
    bool late;
};

struct vod_feed_setup {
    struct vod_wire_use use;
    bool loop;
};

/* Takes a reference to the file. The feed is at the start of the file and stopped. */
void vod_feed_open(struct vod_feed *f, struct vod_file *file, const struct vod_feed_setup *setup);
void vod_feed_close(struct vod_feed *f); /* harmless if never opened (zeroed) */

/* Stops the feed and uses `use` from the next vod_feed_play() on. The numbers of tracks that stay
 * continue. */
void vod_feed_use(struct vod_feed *f, const struct vod_wire_use *use);

/* Plays from the last key frame at or before `from` (1/90000 s of the presentation, 0 is the
 * start) to `to` (INT64_MAX: the end), beginning now. Unsent bytes are dropped, except the rest of
 * a packet that was sent in part. Returns the presentation time of the first frame. The sender may
 * be running. Does not yield. */
int64_t vod_feed_play(struct vod_feed *f, int64_t from, int64_t to, int scale);
/* Sets the speed of delivery, in thousandths of real time; VOD_SCALE_1 at first. It does not change
 * timestamps. For a player whose clock differs from the server's. */
void vod_feed_speed(struct vod_feed *f, int speed);
/* Changes the tracks (VOD_TRACKS_*) without a seek. Removed tracks end with the current part; added
 * video starts with the next group, after its configuration. A vod_feed_play() applies the change
 * at once; the caller then sends the head. For FLV and RTMP only. */
void vod_feed_tracks(struct vod_feed *f, uint32_t tracks);
/* Returns the presentation time of the frame that the player shows about now. Media that was sent
 * ahead does not count. */
int64_t vod_feed_position(const struct vod_feed *f);
/* Sends these bytes (copied) once, before the next part: heads of files, configuration. */
void vod_feed_put_head(struct vod_feed *f, const uint8_t *data, size_t size);
/* True if the feed cannot continue because the file is damaged or was removed. */
bool vod_feed_failed(const struct vod_feed *f);

#endif
