/* SPDX-License-Identifier: MIT */
/* rtp.h - checks the RTP that a player receives: order, timestamps, markers, clock markers in the
 * video. */
#ifndef TOOLS_LOAD_RTP_H
#define TOOLS_LOAD_RTP_H

#include "proto/rtp/rtcp.h"
#include "proto/rtp/stats.h"
#include "proto/rtsp/reader.h"
#include "tools/load/run.h"

enum { LOAD_RTP_TRACKS = 4 };

struct load_rtp_track {
    /* set by the caller */
    uint8_t channel;     /* channel of its packets; their reports use the next one */
    uint8_t type;        /* payload type */
    bool video;
    bool marks;          /* a marker ends each frame; else each packet is a frame */
    enum av_codec codec;
    uint32_t clock;      /* ticks per second */
    bool has_first;      /* RTP-Info has the number of the first packet */
    uint16_t first;
    /* state */
    bool started, timed, marked, key;
    uint32_t ssrc;
    int64_t seq, ticks;  /* next sequence number and newest timestamp, unwrapped */
    int64_t came;        /* arrival time of that timestamp, µs of the wall clock */
    int64_t base;        /* minimum of arrival minus timestamp, ms */
    uint32_t last_sr;    /* in the format of a receiver report */
    co_usec sr_at;
    struct rtp_stats stats; /* used over UDP only */
};

struct load_rtp {
    struct load_client *c;
    bool datagrams;
    unsigned n;          /* tracks */
    struct load_rtp_track tracks[LOAD_RTP_TRACKS];
    unsigned left_by;    /* bit set of the tracks whose sender sent BYE */
    int64_t now;         /* µs, wall clock, of the packets read at `looked` */
    co_usec looked;
};

/* Reads packets from a connection and checks them. Drops RTSP messages. Yields. */
err_t load_rtp_read(struct load_rtp *r, struct rtsp_reader *reader, size_t *n)
    __attribute__((warn_unused_result));
/* Checks a packet of RTP or RTCP. */
void load_rtp_packet(struct load_rtp *r, struct load_rtp_track *t, const uint8_t *p, size_t size);
/* Returns the report block of a source whose last sender report arrived at sr_at. */
struct rtcp_block load_rtp_block(struct rtp_stats *stats, uint32_t ssrc, uint32_t last_sr,
                                 co_usec sr_at);
/* Returns whether a key frame can begin in this payload. */
bool load_rtp_is_key(enum av_codec codec, const uint8_t *payload, size_t size);
/* Returns whether the senders of all tracks sent BYE. */
static inline bool load_rtp_is_left(const struct load_rtp *r)
{
    return r->n > 0 && r->left_by + 1 == 1u << r->n;
}

#endif
