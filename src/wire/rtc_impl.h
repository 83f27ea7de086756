/* SPDX-License-Identifier: MIT */
/* rtc_impl.h - the fields of a WebRTC wire, private to its files. */
#ifndef WIRE_RTC_IMPL_H
#define WIRE_RTC_IMPL_H

#include "format/rtp/pack.h"
#include "audio/transcoder/transcoder.h"
#include "wire/reading.h"
#include "wire/rtc.h"
#include "wire/rtp_impl.h"

enum { RTC_WIRE_PAYLOAD = 1200 };

/* B frames: video frames that are shown in another order than they are decoded. rtc_order.c. */
enum rtc_order_events {
    RTC_ORDER_OLD,    /* nothing new to report */
    RTC_ORDER_FEWER,  /* there are B frames, and they are left out */
    /* other frames need them: all frames up to the next key frame are left out, too */
    RTC_ORDER_KEYS,
};
struct rtc_order {
    bool keep;          /* keeps all frames */
    bool begun;
    enum rtc_order_events reported;
    bool lost;          /* a frame that others need was left out since the last key frame */
    int64_t shown;      /* latest presentation time sent, 1/90000 s */
    uint64_t frames, left_out;
};
/* Takes a video frame whose NAL units have lengths of nalu_length bytes, and returns its
 * presentation time. Returns false if the frame is left out. Sets *event to what must be reported,
 * once. */
bool rtc_order_take(struct rtc_order *o, const struct frame *f, unsigned nalu_length,
                    int64_t *time, enum rtc_order_events *event);

struct rtc_wire_track {
    enum av_codec codec; /* codec of the packets in the log; AV_CODEC_NONE: none yet */
    uint32_t clock;
    bool based;          /* the shifts are valid for the current input */
    int64_t number_shift, ticks_shift; /* from the input to the log */
    bool any;            /* the log has had packets; then: */
    int64_t last_ticks;
    co_usec last_at;
    bool has_spare;      /* no other frame needs the newest frame; then: */
    int64_t spare_ticks;
    /* packets made here */
    struct rtp_packer packer;
    bool open;
    int64_t next;        /* number of the next packet */
    /* relayed packets */
    bool has_key;
    int64_t key_ticks;   /* ticks of the newest key frame, in the log's clock */
    bool has_moment;
    int64_t moment_ticks, moment_us; /* the same moment in the log's ticks and in our wall clock */
};

struct rtc_wire {
    struct wire_reading reading;
    struct rtc_wire_opts set;
    struct rtp_log *log;
    bool wanted, relays;
    unsigned epoch;
    uint64_t key_now, key_before; /* positions of the newest key frame and of the one before */
    co_usec key_at;
    struct rtc_wire_track tracks[RTP_LOG_TRACKS];
    /* packets made here */
    struct frame_tracks chosen;
    struct rtc_order order;
    struct rtp_sink sink;
    struct wr out;           /* packets of one frame */
    uint64_t broken;
    bool has_newest;
    int64_t newest;          /* dts of the newest frame */
    struct rtp_wire_wall wall;
    struct transcoder *transcoder; /* converts the audio to Opus; or NULL */
    bool audio_begun;        /* the input is no longer too old to convert */
    /* relayed packets */
    bool has_offset;
    int64_t offset;          /* from the publisher's wall clock to ours, microseconds */
};

/* Appends the packet *e, with number and ticks of the log. */
void rtc_wire_put(struct rtc_wire *w, const struct rtp_log_entry *e);
/* Removes old packets and updates the memory counter. */
void rtc_wire_trim(struct rtc_wire *w, co_usec now);
/* Maps the ticks of the input so that they continue those in the log, with the time that has
 * passed. */
void rtc_wire_base(struct rtc_wire_track *t, int64_t ticks, co_usec at);
/* Resets the shifts, because the input changes. */
void rtc_wire_rebase(struct rtc_wire *w);
/* Makes packets of a frame or a configuration that arrived at that time. */
void rtc_wire_make(struct rtc_wire *w, struct frame *f, co_usec at);

/* rtc_audio.c: takes an audio frame. Returns false if the caller must packetize it unchanged. */
bool rtc_audio_put(struct rtc_wire *w, const struct frame *f, co_usec at);
bool rtc_audio_converts(const struct rtc_wire *w, enum av_codec codec);
void rtc_audio_begin(struct rtc_wire *w); /* reading begins */
void rtc_audio_end(struct rtc_wire *w);   /* reading ended */

#endif
