/* SPDX-License-Identifier: MIT */
/* play.h - what players have more, for the files of serve/rtc/play*.c and stream.c alone.
 *
 * A player has no packets of its own: it is a place in the log of its stream, and for each track a
 * few numbers that make a packet of the log its own. What it was sent under a number follows from
 * the log and from these alone, so a retransmit has the same bytes: under GCM a number that carried
 * others would give the key away (RFC 7714, section 8.1).
 */
#ifndef SERVE_RTC_PLAY_H
#define SERVE_RTC_PLAY_H

#include "proto/rtp/feedback.h"
#include "serve/rtc/impl.h"
#include "serve/rtc/quality.h"

enum {
    RTC_SPANS = 4, RTC_SPANS_MORE = 32, RTC_HEAD_MAX = RTP_HEADER + 4 + 2 * RTP_LOG_EXT_MAX,
    RTC_RECENT = 128,  /* retransmits that are remembered */
};

/* Packets of the log from one on, as they are sent: a player that jumps in the log begins another.
 * Those at the begin that are old by then are shown one right after the other, so that the picture
 * is at the live edge: ticks from `key` to `edge` become `width` ones from `out` on. */
struct rtc_span {
    int64_t first, delta;      /* the number of the first; index = number + delta */
    int64_t first_ticks;       /* of a later packet that comes late */
    int64_t key, edge, out, width;
};

struct rtc_play_track {
    bool on;
    bool told;                 /* a report has its clock */
    bool keeps;                /* numbers and times are those of the publisher */
    uint8_t type, rtx_type;    /* rtx_type 0: retransmits are the same packets */
    uint8_t ext[SDP_EXTS];
    uint32_t ssrc, rtx_ssrc, clock;
    uint32_t base;             /* the timestamp of tick 0 */
    int64_t begin;             /* index of the first packet of all */
    int64_t next;              /* one behind the highest that was sent; rollovers << 16 | number */
    int64_t delay_until;       /* packets before that index ask for little delay */
    uint64_t rtx_next;
    int64_t last;              /* ticks of the newest, as sent */
    unsigned n;                /* spans, the newest first */
    struct rtc_span spans[RTC_SPANS];
    bool gap;                  /* pictures were left out behind the newest */
    unsigned n_more;
    struct rtc_span *more;     /* older ones, of who has had gaps; or NULL */
    uint32_t packets, bytes;   /* as reports have them */
    uint32_t lost, jitter;     /* by its reports; jitter in ticks */
    uint8_t loss;              /* of 256 packets, by the newest report */
};

/* When a packet was last sent again. */
struct rtc_recent {
    uint16_t seq;
    uint16_t track;
    uint32_t ms;
};

struct rtc_play {
    uint64_t at;               /* place in the log */
    uint64_t sound_from;       /* sound before that place is not for it */
    bool waits;                /* for a place to start at */
    bool report_due;
    bool jumped;
    uint64_t jumped_to;        /* a place to start at */
    bool twice;                /* it did so two times: some clients lose what comes first */
    struct rtc_play_track tracks[RTP_LOG_TRACKS];
    int64_t budget;            /* bytes that may be sent again */
    struct rtc_recent *recent; /* NULL: nothing was */
    struct rtc_quality quality;
    enum rtc_quality_takes logged_takes; /* as the log was told */
    enum rtc_quality_takes takes; /* what it gets: more of it only from a key frame on */
    int64_t picture, whole;    /* ticks of the newest picture, and of the last that is a key */
    uint64_t left_out;         /* packets, for its line is too thin */
    co_usec rtt, asked;        /* asked: when it last wanted a key frame */
    co_usec clock_at;          /* when it was last told of its clock */
    uint64_t nacks, repeated, plis, skips, dropped;
    uint64_t counted, counted_dropped; /* bytes and packets dropped, as the source has them */
    uint64_t logged_skips;     /* as the log has them */
    struct rtc_peer *late_next, **late_prev; /* those who have more to be sent: stream.c */
};

/* Packets for players, one behind the other: those of one size for the same player are one row, a
 * shorter one may be its last. Rows of several players go out together. */
enum { RTC_ROW_PACKETS = 60, RTC_ROW_BYTES = 62 * 1024 };
struct rtc_burst {
    struct rtc_peer *peer;
    size_t begin, end;         /* of the row that grows */
    size_t segment;            /* the size of its packets */
    unsigned packets;
    bool closed;               /* the last one is shorter */
    struct rtc_batch batch;    /* rows that wait */
    uint8_t data[4 * RTC_ROW_BYTES];
};
void rtc_burst_begin(struct rtc_burst *b, struct rtc_peer *p);
/* Encrypt a packet behind the others. Returns its size; 0: there are no keys. */
size_t rtc_burst_add(struct rtc_burst *b, const uint8_t *head, size_t head_size,
                     const uint8_t *payload, size_t size, uint64_t index);
void rtc_burst_end(struct rtc_burst *b);
/* What waits goes out: at the end of each turn, before others run. */
void rtc_burst_send(struct rtc_burst *b);

/* ---- play.c */
/* What is new to it. True: there is more, for a moment later. */
bool rtc_play_turn(struct rtc_peer *p, co_usec now);
/* The packet as that span has it. */
size_t rtc_play_head(const struct rtc_play_track *t, const struct rtc_span *s,
                     const struct rtp_log_entry *e, uint8_t out[RTC_HEAD_MAX]);
/* Which span that index is of; NULL: none that is known. */
const struct rtc_span *rtc_play_span(const struct rtc_play_track *t, int64_t index);
/* It lost its place, or its picture: on to the newest key frame, if that is no older than `age`. */
bool rtc_play_jump(struct rtc_peer *p, co_usec age, co_usec now);

/* ---- play_report.c */
void rtc_play_report(struct rtc_peer *p, co_usec now);

/* ---- play_retransmit.c */
void rtc_play_nack(struct rtc_peer *p, struct rtcp_feedback *f, co_usec now);

/* ---- play.c */
void rtc_play_count(struct rtc_peer *p); /* what it was sent counts for its stream */

#endif
