/* SPDX-License-Identifier: MIT */
/* rtc_impl.h - the insides of a wire of WebRTC, shared by its files alone. */
#ifndef WIRE_RTC_IMPL_H
#define WIRE_RTC_IMPL_H

#include "format/rtp/pack.h"
#include "audio/transcoder/transcoder.h"
#include "wire/reading.h"
#include "wire/rtc.h"
#include "wire/rtp_impl.h"

enum { RTC_WIRE_PAYLOAD = 1200 };

/* Pictures that are shown in another order than they come in: rtc_order.c. */
enum rtc_order_events {
    RTC_ORDER_OLD,    /* nothing that was not told */
    RTC_ORDER_FEWER,  /* there are such, they are left out */
    RTC_ORDER_KEYS,   /* and others need them: so are those, up to the next key frame */
};
struct rtc_order {
    bool keep;          /* all of them */
    bool begun;
    enum rtc_order_events told;
    bool lost;          /* one that others need was left out since the last key frame */
    int64_t shown;      /* the latest that was sent, 1/90000 s */
    uint64_t frames, left_out;
};
/* A frame of a picture, its units behind lengths of so many bytes: when players are to show it.
 * False: it is left out. *news: what is to be told, once. */
bool rtc_order_take(struct rtc_order *o, const struct frame *f, unsigned nalu_length,
                    int64_t *time, enum rtc_order_events *news);

struct rtc_wire_track {
    enum av_codec codec; /* of what is in the log; AV_CODEC_NONE: nothing came yet */
    uint32_t clock;
    bool based;          /* the shifts are of what comes now */
    int64_t number_shift, ticks_shift; /* from what comes to what is in the log */
    bool any;            /* something is, or was, in the log: */
    int64_t last_ticks;
    co_usec last_at;
    bool has_spare;      /* the newest picture is one that no other needs: */
    int64_t spare_ticks;
    /* what is cut here */
    struct rtp_packer packer;
    bool open;
    int64_t next;        /* number */
    /* what is relayed */
    bool has_key;
    int64_t key_ticks;   /* of the newest that begins, in the log's */
    bool has_moment;
    int64_t moment_ticks, moment_us; /* in the log's ticks, by our wall clock */
};

struct rtc_wire {
    struct wire_reading reading;
    struct rtc_wire_opts set;
    struct rtp_log *log;
    bool wanted, relays;
    unsigned epoch;
    uint64_t key_now, key_before; /* places of the newest key frame and of the one before */
    co_usec key_came;
    struct rtc_wire_track tracks[RTP_LOG_TRACKS];
    /* what is cut here */
    struct frame_tracks chosen;
    struct rtc_order order;
    struct rtp_sink sink;
    struct wr out;           /* packets of one frame */
    uint64_t broken;
    bool has_newest;
    int64_t newest;          /* dts of the newest frame */
    struct rtp_wire_wall wall;
    struct transcoder *sound; /* that makes Opus of what comes, or NULL */
    bool audio_begun;        /* what comes is not too old for that */
    /* what is relayed */
    bool has_offset;
    int64_t offset;          /* from its wall clock to ours, microseconds */
};

/* Append what is in e, whose number and ticks are the log's. */
void rtc_wire_put(struct rtc_wire *w, const struct rtp_log_entry *e);
/* Forget what is old, and count. */
void rtc_wire_trim(struct rtc_wire *w, co_usec now);
/* Ticks of what comes now go on from those in the log, as if the clock had gone on. */
void rtc_wire_base(struct rtc_wire_track *t, int64_t ticks, co_usec at);
/* Something else comes from now on. */
void rtc_wire_rebase(struct rtc_wire *w);
/* Cut a frame, or a configuration, that came at that time. */
void rtc_wire_make(struct rtc_wire *w, struct frame *f, co_usec at);

/* rtc_sound.c: a frame of sound; false: it is to be cut as it is. */
bool rtc_audio_put(struct rtc_wire *w, const struct frame *f, co_usec at);
bool rtc_audio_converts(const struct rtc_wire *w, enum av_codec codec);
void rtc_audio_begin(struct rtc_wire *w); /* a reader begins */
void rtc_audio_end(struct rtc_wire *w);   /* or ended */

#endif
