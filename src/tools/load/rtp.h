/* SPDX-License-Identifier: MIT */
/* rtp.h - look at RTP as it comes to a player: order, times, markers, the clock in the picture. */
#ifndef TOOLS_LOAD_RTP_H
#define TOOLS_LOAD_RTP_H

#include "proto/rtp/rtcp.h"
#include "proto/rtp/stats.h"
#include "proto/rtsp/reader.h"
#include "tools/load/run.h"

enum { LOAD_RTP_TRACKS = 4 };

struct load_rtp_track {
    /* told by who has it */
    uint8_t channel;     /* of its packets; their reports are on the next */
    uint8_t type;        /* payload type */
    bool video;
    bool marks;          /* a marker ends each frame, else each packet is one */
    enum av_codec codec;
    uint32_t clock;      /* ticks per second */
    bool has_first;      /* RTP-Info told the number of the first packet */
    uint16_t first;
    /* seen */
    bool started, timed, marked, key;
    uint32_t ssrc;
    int64_t seq, ticks;  /* the next number; the newest time: without their wrap */
    int64_t came;        /* when that came, µs of the wall clock */
    int64_t base;        /* least of arrival minus timestamp, ms */
    uint32_t last_sr;    /* as a receiver report has it */
    co_usec sr_at;
    struct rtp_stats stats; /* kept over datagrams only */
};

struct load_rtp {
    struct load_client *c;
    bool datagrams;
    unsigned n;          /* tracks */
    struct load_rtp_track tracks[LOAD_RTP_TRACKS];
    unsigned left_by;    /* a bit for each track whose sender said BYE */
    int64_t now;         /* µs, wall clock, of the packets that were read at `looked` */
    co_usec looked;
};

/* Read some from a connection: packets, and messages, which are dropped. Yields. */
err_t load_rtp_read(struct load_rtp *r, struct rtsp_reader *reader, size_t *n)
    __attribute__((warn_unused_result));
/* A packet of RTP or RTCP. */
void load_rtp_packet(struct load_rtp *r, struct load_rtp_track *t, const uint8_t *p, size_t size);
/* What a report says of a source, whose last sender report came at sr_at. */
struct rtcp_block load_rtp_block(struct rtp_stats *stats, uint32_t ssrc, uint32_t last_sr,
                                 co_usec sr_at);
/* May a frame begin in this payload at which a decoder can start? */
bool load_rtp_is_key(enum av_codec codec, const uint8_t *payload, size_t size);
/* Have the senders of all tracks said BYE? */
static inline bool load_rtp_is_left(const struct load_rtp *r)
{
    return r->n > 0 && r->left_by + 1 == 1u << r->n;
}

#endif
