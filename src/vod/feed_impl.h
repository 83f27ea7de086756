/* SPDX-License-Identifier: MIT */
/* feed_impl.h - the insides of a feed, shared by its files alone. */
#ifndef VOD_FEED_IMPL_H
#define VOD_FEED_IMPL_H

#include "vod/feed.h"
#include "wire/rtp.h"

/* ---- feed.c: the clock and the place */

/* The decoding time up to which frames are due. */
int64_t vod_feed_wants(const struct vod_feed *f);
/* It is as far ahead as it is to be: it does not matter when what comes next comes. */
bool vod_feed_is_ahead(const struct vod_feed *f);
/* A player that is too late goes on from where it is. */
void vod_feed_catch_up(struct vod_feed *f);
/* Its numbers are those of that part, unless it has some already. */
void vod_feed_adopt(struct vod_feed *f, const struct vod_part *part);
/* All of the part is sent: to the next one, to the begin, or to the end. */
void vod_feed_pass(struct vod_feed *f, const struct vod_part *part);
/* The same where it was told to stop; and where nothing comes any more. Of RTP with a BYE. */
void vod_feed_stop(struct vod_feed *f);
void vod_feed_fail(struct vod_feed *f);
/* Bytes into `head` that a new place does not take away. */
void vod_feed_keep(struct vod_feed *f, const uint8_t *data, size_t size);
/* Between two parts: give it the tracks that it asked for, what is new with its configuration. */
void vod_feed_change_tracks(struct vod_feed *f);
void vod_numbers_pass(struct vod_numbers *n, const struct vod_part *part);

/* ---- feed_turn.c: what is sent at a time */

int vod_feed_ranges(struct live_feed *feed, struct iovec *iov, int max);
void vod_feed_advance(struct live_feed *feed, size_t sent);
/* It goes: the thread holds nothing of it any more. */
void vod_feed_turn_end(const struct vod_feed *f);

/* ---- renumber.c: interleaved RTP of a part as one player has it: the same packets, with numbers
 * and times of its own.
 *
 * Sequence numbers and counts are moved by a constant. Timestamps are file time / scale + shift;
 * so is the wall clock of sender reports, which goes on with what the player shows. All of it is a
 * function of the part and of these few numbers, so it can be made again from any packet on. */

struct vod_renumber {
    struct vod_renumber_track {
        uint8_t channel;       /* its reports are on the next one */
        uint16_t seq;          /* to add, all of these */
        uint32_t packets, bytes;
        uint32_t base, clock;  /* of its timestamps */
    } tracks[RTP_WIRE_N];
    int64_t near;              /* a time in the part, 1/90000 s of the file */
    int64_t shift;             /* 1/90000 s */
    int64_t wall;              /* of the file's time 0, microseconds since 1970 */
    int scale;                 /* thousandths */
};

/* A time of the file as the player has it, and in ticks of a clock. */
int64_t vod_renumber_time(int64_t time, int64_t shift, int scale);
int64_t vod_renumber_ticks(int64_t ticks, uint32_t clock, int64_t shift, int scale);

/* Whole packets from one place to another, which may not overlap. */
void vod_renumber_copy(const struct vod_renumber *p, uint8_t *to, const uint8_t *from, size_t size);

/* Bytes are whole packets from `data` on: how many of them end within `room`; and where does the
 * one end that byte `at` is in (`at` itself between two of them)? */
size_t vod_packets_within(const uint8_t *data, size_t size, size_t room);
size_t vod_packets_end(const uint8_t *data, size_t size, size_t at);
/* Count them as a sender does: `param` are the wire's. */
void vod_packets_count(const uint8_t *data, size_t size, const uint32_t param[LIVE_PARAMS],
                       struct vod_numbers *n);

/* ---- rtp.c */

/* Ticks per second of its tracks; 0: it is none of RTP's. */
void vod_rtp_clocks(const struct vod_feed *f, uint32_t clocks[DEMUX_TRACKS]);
/* Numbers to begin with at its place, where nobody has played from yet. */
void vod_rtp_numbers(const struct vod_feed *f, struct vod_numbers *out);
/* How its player's bytes of a part differ from the shared ones. False: they do not. `numbers` are
 * what the player's part begins with. */
bool vod_rtp_patch(const struct vod_feed *f, const struct vod_part *part,
                   const struct vod_numbers *numbers, struct vod_renumber *out);
/* Append that its tracks end. */
void vod_rtp_bye(const struct vod_feed *f, struct wr *out);

/* ---- headers.c */

/* Append the configuration of tracks: vod_head_put() without metadata; `time` is the file's. */
void vod_head_configs(const struct vod_file *f, const struct vod_wire_use *use, int64_t time,
                      struct wr *out);

#endif
