/* SPDX-License-Identifier: MIT */
/* rtc.h - a live stream as RTP packets for WebRTC players, made once for all of them.
 *
 * Most streams are packetized here from the packets of the source: payloads of at most 1,200 bytes,
 * of equal size within a frame, parameter sets in front of key frames, each frame as soon as it
 * arrives. While a WebRTC client publishes, its packets are relayed unchanged.
 *
 * There is one wire for each source and worker. Nothing here yields.
 */
#ifndef WIRE_RTC_H
#define WIRE_RTC_H

#include "live/source.h"
#include "wire/rtp_log.h"

struct co_group;
struct rtc_wire; /* owned by the caller of rtc_wire_new() */

struct rtc_wire_opts {
    size_t max_bytes;   /* maximum size of its log; the oldest packets are dropped for it */
    size_t *counter;    /* counter of its memory; NULL: not counted */
    bool merge_nalus;   /* small NAL units share a packet */
    bool keep_bframe, keep_sei;
    /* coroutines that convert AAC and MP3 to Opus; NULL: such audio is left out */
    struct co_group *transcoders;
    int opus_bitrate;
    /* Called soon after new packets arrive for rtc_wire_take(), once after each take, while there
     * are players. Must not yield. NULL: not needed. */
    void (*on_packets)(void *arg);
    void *arg;
};

/* Takes a reference to src. */
struct rtc_wire *rtc_wire_new(struct live_source *src, const struct rtc_wire_opts *opts);
void rtc_wire_free(struct rtc_wire *w); /* NULL is fine */
struct rtp_log *rtc_wire_log(struct rtc_wire *w);
/* Finds the position in the log at which a player joins now, like srt_wire_join(). */
bool rtc_wire_join(const struct rtc_wire *w, uint64_t *position);
/* Sets whether there are players; without them no packets are made. The first player finds the
 * newest GOP in the log. */
void rtc_wire_wanted(struct rtc_wire *w, bool wanted);
/* Adds all new packets of the source to the log. Returns true if there is more, to be taken after
 * other coroutines have run. */
bool rtc_wire_take(struct rtc_wire *w, co_usec now);
/* Returns the codec that the track carries now, or will carry with a player; AV_CODEC_NONE: nothing
 * that WebRTC supports. */
enum av_codec rtc_wire_codec(const struct rtc_wire *w, enum av_kind kind);
/* Counts video frames so far, and those left out because browsers cannot play B frames. */
void rtc_wire_order(const struct rtc_wire *w, uint64_t *frames, uint64_t *left_out);
/* Finds the wall clock time of a track's ticks for sender reports, microseconds since 1970. Returns
 * false if it is unknown. */
bool rtc_wire_moment(struct rtc_wire *w, enum av_kind kind, int64_t *ticks, int64_t *unix_us);
/* Changes when codecs or the relation of ticks to wall clock time may have changed. */
unsigned rtc_wire_epoch(const struct rtc_wire *w);

/* The WebRTC publisher of the source, on the owner worker: its packets are relayed from now on. */
void rtc_wire_relay_begin(struct rtc_wire *w, const enum av_codec codec[RTP_LOG_TRACKS]);
void rtc_wire_relay_end(struct rtc_wire *w);
/* Relays a packet with the publisher's number and ticks, without wraps; sets `key` itself. In the
 * log both continue from the earlier packets. */
void rtc_wire_relay_put(struct rtc_wire *w, const struct rtp_log_entry *e);
/* Records its sender report: a time of its own clock for a tick of its own. */
void rtc_wire_relay_moment(struct rtc_wire *w, enum av_kind kind, int64_t ticks, int64_t unix_us);

/* Returns the offsets added to its numbers and ticks since its first packet. */
void rtc_wire_relay_shift(const struct rtc_wire *w, enum av_kind kind, int64_t *number,
                          int64_t *ticks);

/* Returns true if the payload begins a frame at which players can start. rtc_key.c */
bool rtc_key_begins(enum av_codec codec, const uint8_t *data, size_t size);
/* Returns true if no other frame needs the frame of this payload; false if the payload does not
 * tell. */
bool rtc_key_spare(enum av_codec codec, const uint8_t *data, size_t size);

#endif
