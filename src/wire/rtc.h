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
#include "proto/rtp/log.h"

struct rtc_wire; /* owned by who made it */

struct rtc_wire_opts {
    size_t max_bytes;   /* what its log may take, beyond that the oldest goes */
    size_t *counter;    /* of memory, where that is counted; NULL: nowhere */
    bool merge_nalus;   /* small units share a packet */
    bool keep_bframe, keep_sei;
};

/* Takes a reference of src. */
struct rtc_wire *rtc_wire_new(struct live_source *src, const struct rtc_wire_opts *opts);
void rtc_wire_free(struct rtc_wire *w); /* NULL is fine */
struct rtp_log *rtc_wire_log(struct rtc_wire *w);
/* Somebody plays, or nobody does any more: without players nothing is cut. The first one finds the
 * newest group of pictures in the log. */
void rtc_wire_wanted(struct rtc_wire *w, bool wanted);
/* What came of the source is in the log after it. */
void rtc_wire_take(struct rtc_wire *w, co_usec now);
/* What its tracks carry now; AV_CODEC_NONE: nothing. */
enum av_codec rtc_wire_codec(const struct rtc_wire *w, enum av_kind kind);
/* The moment of a track's ticks, microseconds since 1970: for sender reports. False: not known. */
bool rtc_wire_moment(const struct rtc_wire *w, enum av_kind kind, int64_t *ticks, int64_t *unix_us);

/* The WebRTC publisher of the source, at its home: from now on its packets are what is sent. */
void rtc_wire_relay_begin(struct rtc_wire *w, const enum av_codec codec[RTP_LOG_TRACKS]);
void rtc_wire_relay_end(struct rtc_wire *w);
void rtc_wire_relay_put(struct rtc_wire *w, const struct rtp_log_entry *e);
/* Its sender report: that tick is that moment. */
void rtc_wire_relay_moment(struct rtc_wire *w, enum av_kind kind, int64_t ticks, int64_t unix_us);

#endif
