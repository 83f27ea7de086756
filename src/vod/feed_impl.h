/* SPDX-License-Identifier: MIT */
/* feed_impl.h - internal functions of feeds, for the files of a feed only. */
#ifndef VOD_FEED_IMPL_H
#define VOD_FEED_IMPL_H

#include "vod/feed.h"
#include "wire/rtp.h"

/* ---- feed.c: clock and position */

/* Returns the decoding time up to which frames are due. */
int64_t vod_feed_wants(const struct vod_feed *f);
/* True if the feed has its full lead, so the exact time of the next part does not matter. */
bool vod_feed_is_ahead(const struct vod_feed *f);
/* Sets the clock of a player that is too far behind to its position. */
void vod_feed_catch_up(struct vod_feed *f);
/* Takes the numbers of the part, unless the feed already has numbers. */
void vod_feed_adopt(struct vod_feed *f, const struct vod_part *part);
/* Called when all of the part was sent: moves to the next part, to the start or to the end. */
void vod_feed_pass(struct vod_feed *f, const struct vod_part *part);
/* End of play, at the requested time or because nothing follows. RTP sends a BYE. */
void vod_feed_stop(struct vod_feed *f);
void vod_feed_fail(struct vod_feed *f);
/* Appends bytes to `head` that a seek does not discard. */
void vod_feed_keep(struct vod_feed *f, const uint8_t *data, size_t size);
/* Applies a pending change of tracks between two parts; added tracks get their configuration. */
void vod_feed_change_tracks(struct vod_feed *f);
void vod_numbers_pass(struct vod_numbers *n, const struct vod_part *part);

/* ---- feed_turn.c: the bytes of one turn */

int vod_feed_ranges(struct live_feed *feed, struct iovec *iov, int max);
void vod_feed_advance(struct live_feed *feed, size_t sent);
/* The feed closes: the thread gives up the parts that it holds for it. */
void vod_feed_turn_end(const struct vod_feed *f);

/* ---- renumber.c: the interleaved RTP of a part, with the numbers and times of one player
 *
 * Sequence numbers and counts are shifted by a constant. Timestamps are file time / scale + shift.
 * The wall clock of sender reports follows the same rule, so it advances with the frames shown. The
 * result depends only on the part and these few numbers, so it can be computed again from any
 * packet on. */

struct vod_renumber {
    struct vod_renumber_track {
        uint8_t channel;       /* its reports use the next channel */
        uint16_t seq;          /* these are added */
        uint32_t packets, bytes;
        uint32_t base, clock;  /* for timestamps */
    } tracks[RTP_WIRE_N];
    int64_t near;              /* any time in the part, 1/90000 s of the file */
    int64_t shift;             /* 1/90000 s */
    int64_t wall;              /* wall clock of the file's time 0, microseconds since 1970 */
    int scale;                 /* thousandths */
};

/* Convert a time of the file to the player's time, in 1/90000 s or in ticks of `clock`. */
int64_t vod_renumber_time(int64_t time, int64_t shift, int scale);
int64_t vod_renumber_ticks(int64_t ticks, uint32_t clock, int64_t shift, int scale);

/* Copies whole packets with their new numbers. The buffers must not overlap. */
void vod_renumber_copy(const struct vod_renumber *p, uint8_t *to, const uint8_t *from, size_t size);

/* `data` has whole packets. vod_packets_within() returns the size of the packets that fit into
 * `room` bytes. vod_packets_end() returns the end of the packet that contains byte `at`, or `at`
 * itself if it is between two packets. */
size_t vod_packets_within(const uint8_t *data, size_t size, size_t room);
size_t vod_packets_end(const uint8_t *data, size_t size, size_t at);
/* Updates the counters of `n` as a sender of these packets would; `param` are the wire's. */
void vod_packets_count(const uint8_t *data, size_t size, const uint32_t param[LIVE_PARAMS],
                       struct vod_numbers *n);

/* ---- rtp.c */

/* Gives the ticks per second of each track; 0 if RTP does not carry the track. */
void vod_rtp_clocks(const struct vod_feed *f, uint32_t clocks[DEMUX_TRACKS]);
/* Gives the first numbers for a position from which no player has started yet. */
void vod_rtp_numbers(const struct vod_feed *f, struct vod_numbers *out);
/* Computes how the player's bytes of a part differ from the shared bytes; false if they are equal.
 * `numbers` are the player's numbers at the start of the part. */
bool vod_rtp_patch(const struct vod_feed *f, const struct vod_part *part,
                   const struct vod_numbers *numbers, struct vod_renumber *out);
/* Appends the BYE of each track. */
void vod_rtp_bye(const struct vod_feed *f, struct wr *out);

/* ---- headers.c */

/* Appends the configuration of the tracks: vod_head_put() without metadata. `time` is a time of
 * the file. */
void vod_head_configs(const struct vod_file *f, const struct vod_wire_use *use, int64_t time,
                      struct wr *out);

#endif
