/* SPDX-License-Identifier: MIT */
/* play.h - state of WebRTC players; private to serve/rtc/play*.c and stream.c.
 *
 * A player has no packets of its own: it is a cursor in the log of its stream, plus a few numbers
 * per track that turn a packet of the log into the player's packet. The content of a sequence
 * number follows from the log and these numbers alone, so a retransmit has the same bytes. With
 * GCM, different content under a reused number would reveal the key (RFC 7714, section 8.1).
 */
#ifndef SERVE_RTC_PLAY_H
#define SERVE_RTC_PLAY_H

#include "proto/rtp/feedback.h"
#include "serve/rtc/impl.h"
#include "serve/rtc/quality.h"

enum {
    RTC_SPANS = 4, RTC_SPANS_MORE = 32, RTC_HEAD_MAX = RTP_HEADER + 4 + 2 * RTP_LOG_EXT_MAX,
    RTC_RECENT = 128,  /* retransmits remembered */
};

/* A range of packets in the log and how they are sent: a jump in the log begins a new span. Packets
 * at its start that are already old are shown in quick succession, so that the video catches up
 * with the live edge: ticks `key` to `edge` become `width` ticks from `out` on. */
struct rtc_span {
    int64_t first, delta;      /* number of the first packet; index = number + delta */
    int64_t first_ticks;       /* ticks of an earlier packet that arrives late */
    int64_t key, edge, out, width;
};

struct rtc_play_track {
    bool on;
    bool reported;                 /* a sender report was sent since */
    bool keeps;                /* uses the publisher's numbers and times */
    uint8_t type, rtx_type;    /* rtx_type 0: retransmits repeat the original packet */
    uint8_t ext[SDP_EXTS];
    uint32_t ssrc, rtx_ssrc, clock;
    uint32_t base;             /* timestamp of tick 0 */
    int64_t begin;             /* index of the first packet sent */
    int64_t next;              /* one after the highest sent: rollovers << 16 | number */
    int64_t delay_until;       /* packets before this index request low delay */
    uint64_t rtx_next;
    int64_t last;              /* ticks of the newest packet, as sent */
    unsigned n;                /* spans, newest first */
    struct rtc_span spans[RTC_SPANS];
    bool gap;                  /* frames were left out after the newest */
    unsigned n_more;
    struct rtc_span *more;     /* older spans of a player with gaps; or NULL */
    uint32_t packets, bytes;   /* counters for sender reports */
    uint32_t lost, jitter;     /* from its reports; jitter in ticks */
    uint8_t loss;              /* in 1/256, from the newest report */
};

/* Time of the last retransmission of a packet. */
struct rtc_recent {
    uint16_t seq;
    uint16_t track;
    uint32_t ms;
};

struct rtc_play {
    uint64_t at;               /* cursor in the log */
    uint64_t audio_from;       /* audio before this position is not sent */
    bool waits;                /* waits for a position to start at */
    bool report_due;
    bool jumped;
    uint64_t jumped_to;        /* position of the last jump */
    bool twice;                /* jumped twice: some clients lose the first packets */
    struct rtc_play_track tracks[RTP_LOG_TRACKS];
    int64_t budget;            /* bytes it may still have retransmitted */
    struct rtc_recent *recent; /* NULL: nothing was retransmitted */
    struct rtc_quality quality;
    enum rtc_quality_takes logged_takes; /* last value logged */
    enum rtc_quality_takes takes; /* frames it gets; more only from a key frame on */
    int64_t frame, key_frame;    /* ticks of the newest frame, and of the last key frame */
    uint64_t left_out;         /* packets not sent because the path is too slow */
    co_usec rtt, asked;        /* asked: time of its last key frame request */
    co_usec clock_at;          /* time of the last sender report */
    uint64_t nacks, retransmitted, plis, skips, dropped;
    uint64_t counted, counted_dropped; /* sent bytes and dropped packets already reported to the
                                        * source */
    uint64_t logged_skips;     /* skips already logged */
    struct rtc_peer *late_next, **late_prev; /* list of players with more to send: stream.c */
};

/* Packets for players in one buffer: consecutive packets of equal size for one player form a row,
 * which a shorter packet may end. Rows of several players are sent together. */
enum { RTC_ROW_PACKETS = 60, RTC_ROW_BYTES = 62 * 1024 };
struct rtc_burst {
    struct rtc_peer *peer;
    size_t begin, end;         /* the current row */
    size_t segment;            /* size of its packets */
    unsigned packets;
    bool closed;               /* a shorter packet ended it */
    struct rtc_batch batch;    /* rows to send */
    uint8_t data[4 * RTC_ROW_BYTES];
};
void rtc_burst_begin(struct rtc_burst *b, struct rtc_peer *p);
/* Appends an encrypted packet. Returns its size; 0: there are no keys. */
size_t rtc_burst_add(struct rtc_burst *b, const uint8_t *head, size_t head_size,
                     const uint8_t *payload, size_t size, uint64_t index);
void rtc_burst_end(struct rtc_burst *b);
/* Sends everything queued; called at the end of each turn. */
void rtc_burst_send(struct rtc_burst *b);

/* ---- play.c */
/* Sends new packets. Returns true if there is more to send in a moment. */
bool rtc_play_turn(struct rtc_peer *p, co_usec now);
/* Writes the header of a packet as this span sends it. */
size_t rtc_play_head(const struct rtc_play_track *t, const struct rtc_span *s,
                     const struct rtp_log_entry *e, uint8_t out[RTC_HEAD_MAX]);
/* Returns the span of an index, or NULL if it is unknown. */
const struct rtc_span *rtc_play_span(const struct rtc_play_track *t, int64_t index);
/* Moves a player that lost its position or a frame to the newest key frame, if that is not older
 * than `age`. */
bool rtc_play_jump(struct rtc_peer *p, co_usec age, co_usec now);

/* ---- play_report.c */
void rtc_play_report(struct rtc_peer *p, co_usec now);

/* ---- play_retransmit.c */
void rtc_play_nack(struct rtc_peer *p, struct rtcp_feedback *f, co_usec now);

/* ---- play.c */
void rtc_play_count(struct rtc_peer *p); /* reports sent bytes to the stream */

#endif
