/* SPDX-License-Identifier: MIT */
/* rtp.h - look at RTP as it comes to a player: order, times, markers, the clock in the picture.
 *
 * Over a connection packets come between the messages, behind a '$' [RFC 2326] 10.12. They are
 * walked over in place; of one that is cut by the end of what was read its first bytes are kept, no
 * more. So a player has some hundred bytes, whatever is sent.
 */
#ifndef TOOLS_LOAD_RTP_H
#define TOOLS_LOAD_RTP_H

#include "proto/rtp/stats.h"
#include "tools/load/run.h"

/* Bytes of a packet that are looked at: headers, parameter sets, and the clock behind those. */
enum { LOAD_RTP_TRACKS = 4, LOAD_RTP_HEAD = 256 };

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

enum load_rtp_part { LOAD_RTP_BETWEEN, LOAD_RTP_FRAME, LOAD_RTP_LINE, LOAD_RTP_BODY };

struct load_rtp {
    struct load_client *c;
    bool datagrams;
    unsigned n;          /* tracks */
    struct load_rtp_track tracks[LOAD_RTP_TRACKS];
    unsigned left_by;    /* a bit for each track whose sender said BYE */
    int64_t now;         /* µs, wall clock, of what is being looked at */
    /* the walk over a connection */
    enum load_rtp_part part;
    uint32_t have;       /* bytes in `head` */
    uint32_t left;       /* bytes of the frame or body that are to come; those of the message */
    uint32_t body;
    uint8_t head[LOAD_RTP_HEAD];
};

/* Bytes of a connection; messages between the packets are stepped over. ERR_RTSP: it is neither. */
err_t load_rtp_feed(struct load_rtp *r, const uint8_t *p, size_t size)
    __attribute__((warn_unused_result));
/* A packet of RTP or RTCP of `size` bytes, of which the first `have` are at p. */
void load_rtp_packet(struct load_rtp *r, struct load_rtp_track *t, const uint8_t *p, size_t have,
                     size_t size);
/* Have the senders of all tracks said BYE? */
static inline bool load_rtp_is_left(const struct load_rtp *r)
{
    return r->n > 0 && r->left_by + 1 == 1u << r->n;
}

#endif
