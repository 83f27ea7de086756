/* SPDX-License-Identifier: MIT */
/* rtc.h - a live stream as packets of RTP for players of WebRTC, cut once for all of them.
 *
 * Of most streams it is made of the packets of the source: payloads of at most 1,200 bytes, of
 * equal size within a frame, parameter sets in front of key frames, whole frames when they come.
 * While a WebRTC publisher is the source, its packets as they came are what is sent.
 *
 * One for each source and worker. Nothing here yields.
 */
#ifndef WIRE_RTC_H
#define WIRE_RTC_H

#include "live/source.h"
#include "wire/rtp_log.h"

struct co_group;
struct rtc_wire; /* owned by who made it */

struct rtc_wire_opts {
    size_t max_bytes;   /* what its log may take, beyond that the oldest goes */
    size_t *counter;    /* of memory, where that is counted; NULL: nowhere */
    bool merge_nalus;   /* small units share a packet */
    bool keep_bframe, keep_sei;
    struct co_group *sounds; /* of who converts AAC and MP3 to Opus; NULL: that is left out */
    int opus_bitrate;
    /* Something came that rtc_wire_take() is to take: called soon after it, once after each take,
     * while somebody plays. Must not yield. NULL: nobody wants to know. */
    void (*on_packets)(void *arg);
    void *arg;
};

/* Takes a reference of src. */
struct rtc_wire *rtc_wire_new(struct live_source *src, const struct rtc_wire_opts *opts);
void rtc_wire_free(struct rtc_wire *w); /* NULL is fine */
struct rtp_log *rtc_wire_log(struct rtc_wire *w);
/* Where in the log a player joins now: as srt_wire_join(). */
bool rtc_wire_join(const struct rtc_wire *w, uint64_t *place);
/* Somebody plays, or nobody does any more: without players nothing is cut. The first one finds the
 * newest group of pictures in the log. */
void rtc_wire_wanted(struct rtc_wire *w, bool wanted);
/* What came of the source is in the log after it. True: there is more, to be taken after others had
 * their turn. */
bool rtc_wire_take(struct rtc_wire *w, co_usec now);
/* What its tracks carry now, or will when somebody plays; AV_CODEC_NONE: nothing that WebRTC
 * takes. */
enum av_codec rtc_wire_codec(const struct rtc_wire *w, enum av_kind kind);
/* Frames of the video since it began, and those that were left out as browsers show no B frames. */
void rtc_wire_order(const struct rtc_wire *w, uint64_t *frames, uint64_t *left_out);
/* The moment of a track's ticks, microseconds since 1970: for sender reports. False: not known. */
bool rtc_wire_moment(struct rtc_wire *w, enum av_kind kind, int64_t *ticks, int64_t *unix_us);
/* Codecs may be others, and moments of ticks follow from another rule, since this has changed. */
unsigned rtc_wire_epoch(const struct rtc_wire *w);

/* The WebRTC publisher of the source, at its home: from now on its packets are what is sent. */
void rtc_wire_relay_begin(struct rtc_wire *w, const enum av_codec codec[RTP_LOG_TRACKS]);
void rtc_wire_relay_end(struct rtc_wire *w);
/* A packet as it came: number and ticks of the publisher, without wraps; `key` is found out here.
 * In the log both go on from what was there before. */
void rtc_wire_relay_put(struct rtc_wire *w, const struct rtp_log_entry *e);
/* Its sender report: that tick of its own is that moment of its own clock. */
void rtc_wire_relay_moment(struct rtc_wire *w, enum av_kind kind, int64_t ticks, int64_t unix_us);

/* What is added to its numbers and ticks since its first packet. */
void rtc_wire_relay_shift(const struct rtc_wire *w, enum av_kind kind, int64_t *number,
                          int64_t *ticks);

/* Does that payload begin a picture that players can start at? rtc_key.c */
bool rtc_key_begins(enum av_codec codec, const uint8_t *data, size_t size);
/* Is it of a picture that no other needs? False where a payload does not tell. */
bool rtc_key_spare(enum av_codec codec, const uint8_t *data, size_t size);

#endif
