/* SPDX-License-Identifier: MIT */
/* renumber.h - interleaved RTP of a part as one player has it: the same packets, with numbers and
 * times of its own.
 *
 * Sequence numbers and counts are moved by a constant. Timestamps are file time / scale + shift;
 * so is the wall clock of sender reports, which goes on with what the player shows. All of it is a
 * function of the part and of these few numbers, so it can be made again from any packet on.
 */
#ifndef VOD_RENUMBER_H
#define VOD_RENUMBER_H

#include "vod/vod.h"
#include "wire/rtp.h"

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

#endif
