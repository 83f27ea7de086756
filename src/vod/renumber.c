/* SPDX-License-Identifier: MIT */
/* renumber.c - the interleaved RTP of a part, with the numbers and times of one player. */
#include "base/be.h"
#include "proto/rtp/rtcp.h"
#include "proto/rtp/sender.h"
#include "vod/feed_impl.h"

#include <string.h>

enum { SEQ = 2, TIME = 4 }; /* offsets in a packet */
/* The same in a sender report, which is the first of its compound: [RFC 3550] 6.4.1. */
enum { SR_NTP = 8, SR_TIME = 16, SR_PACKETS = 20, SR_BYTES = 24, SR_SIZE = 28 };

/* ---- times */

int64_t vod_renumber_time(int64_t time, int64_t shift, int scale)
{
    return (scale == 1000 ? time : time * 1000 / scale) + shift;
}

int64_t vod_renumber_ticks(int64_t ticks, uint32_t clock, int64_t shift, int scale)
{
    return vod_renumber_time(ticks, rtp_ticks(shift, clock), scale);
}

static void move_time(const struct vod_renumber *p, const struct vod_renumber_track *t,
                      uint8_t *at)
{
    int64_t near = rtp_ticks(p->near, t->clock);
    int64_t ticks = rtp_unwrap32(near, be_get32(at) - t->base);

    ticks = vod_renumber_ticks(ticks, t->clock, p->shift, p->scale);
    (void)be_put32(at, t->base + (uint32_t)(uint64_t)ticks);
}

/* Computes the NTP time from the file's wall clock, so that reports with equal times keep equal
 * times. */
static void move_ntp(const struct vod_renumber *p, uint8_t *at)
{
    uint64_t ntp = (uint64_t)be_get32(at) << 32 | be_get32(at + 4);
    int64_t time = av_from_us(rtcp_unix_us(ntp) - p->wall + 5);
    int64_t more = vod_renumber_time(time, p->shift, p->scale) - time;
    int64_t whole = more / AV_CLOCK, part = more % AV_CLOCK;

    ntp += ((uint64_t)whole << 32) + (uint64_t)(part * (INT64_C(1) << 32) / AV_CLOCK);
    (void)be_put32(at, (uint32_t)(ntp >> 32));
    (void)be_put32(at + 4, (uint32_t)ntp);
}

/* ---- packets */

/* Renumbers one packet: `size` bytes after the header of an interleaved packet. */
static void move(const struct vod_renumber *p, uint8_t channel, uint8_t *at, size_t size)
{
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        const struct vod_renumber_track *t = &p->tracks[i];

        if (t->clock == 0)
            continue;
        if (channel == t->channel && size >= RTP_HEADER) {
            (void)be_put16(at + SEQ, (uint16_t)(be_get16(at + SEQ) + t->seq));
            move_time(p, t, at + TIME);
        } else if (channel == t->channel + 1 && size >= SR_SIZE && at[1] == RTCP_SR) {
            move_ntp(p, at + SR_NTP);
            move_time(p, t, at + SR_TIME);
            (void)be_put32(at + SR_PACKETS, be_get32(at + SR_PACKETS) + t->packets);
            (void)be_put32(at + SR_BYTES, be_get32(at + SR_BYTES) + t->bytes);
        } else {
            continue;
        }
        return;
    }
}

/* Returns the size of the packet at `at` with its header, or `size` if there is no packet. */
static size_t packet_size(const uint8_t *data, size_t size, size_t at)
{
    uint8_t channel;
    uint16_t n;

    if (size - at < RTP_INTERLEAVED || !rtp_interleaved_parse(data + at, &channel, &n) ||
        size - at - RTP_INTERLEAVED < n)
        return size - at;
    return (size_t)RTP_INTERLEAVED + n;
}

void vod_renumber_copy(const struct vod_renumber *p, uint8_t *to, const uint8_t *from, size_t size)
{
    size_t at = 0, n;

    memcpy(to, from, size);
    for (; at < size; at += n) {
        n = packet_size(to, size, at);
        if (n > RTP_INTERLEAVED)
            move(p, to[at + 1], to + at + RTP_INTERLEAVED, n - RTP_INTERLEAVED);
    }
}

size_t vod_packets_within(const uint8_t *data, size_t size, size_t room)
{
    size_t at = 0;

    if (size <= room)
        return size;
    for (;;) {
        size_t n = packet_size(data, size, at);

        if (n > room - at)
            return at;
        at += n;
    }
}

size_t vod_packets_end(const uint8_t *data, size_t size, size_t at)
{
    size_t end = 0;

    while (end < at)
        end += packet_size(data, size, end);
    return end;
}

void vod_packets_count(const uint8_t *data, size_t size, const uint32_t param[LIVE_PARAMS],
                       struct vod_numbers *n)
{
    size_t at = 0, one;

    for (; at < size; at += one) {
        one = packet_size(data, size, at);
        for (unsigned i = 0; i < RTP_WIRE_N; i++) {
            if (one < RTP_INTERLEAVED + RTP_HEADER ||
                data[at + 1] != rtp_wire_channel(param[RTP_WIRE_TRACKS], i))
                continue;
            n->tracks[i].seq++;
            n->tracks[i].packets++;
            n->tracks[i].bytes += (uint32_t)(one - RTP_INTERLEAVED - RTP_HEADER);
        }
    }
}
