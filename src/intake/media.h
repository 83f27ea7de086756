/* SPDX-License-Identifier: MIT */
/* media.h - shared by all intakes: reads and logs decoder configurations, makes packets and
 * onMetaData, and pushes them. Nothing here yields. */
#ifndef INTAKE_MEDIA_H
#define INTAKE_MEDIA_H

#include "av/packet.h"
#include "live/source.h"

/* Parses a decoder configuration into *info. Logs one that cannot be parsed, and changes
 * nothing. */
enum intake_parsed { INTAKE_FAILED, INTAKE_SAME, INTAKE_CHANGED };
enum intake_parsed intake_parse(struct av_info *info, enum av_codec codec, const uint8_t *config,
                                size_t size);
/* The same for a frame, for codecs whose frames begin with their configuration; frames of other
 * codecs change nothing. Returns true if *info changed. */
bool intake_parse_frame(struct av_info *info, enum av_codec codec, const uint8_t *data,
                        size_t size);

/* Logs a configuration of that size. *logged counts the lines, so a publisher that sends its
 * configuration again and again does not fill the log. */
enum { INTAKE_LOGGED_MAX = 20 };
void intake_log_config(unsigned *logged, enum av_kind kind, enum av_codec codec,
                       const struct av_info *info, size_t size);

/* Returns a packet for that stream, with one reference; the caller writes its `size` bytes.
 * NULL: out of memory. A configuration outlives other packets, so it never pins a block that
 * they share. */
struct av_packet *intake_packet(struct live_source *src, enum av_kind kind, enum av_codec codec,
                                size_t size, bool config);
/* Pushes the packet and releases it. `ticks`: its decoding time in 1/90000 s. */
void intake_push(struct live_source *src, struct av_packet *pkt, int64_t ticks);

struct intake_medium {
    enum av_kind kind;      /* video or audio */
    enum av_codec codec;    /* AV_CODEC_NONE: leave it out */
    const struct av_info *info;
    unsigned channels, rate; /* used if the info has none; 0: unknown */
};

/* Returns onMetaData for RTMP and FLV players if the publisher sends none ([FLV] E.5, and [ERTMP]
 * for codecs without a number in FLV), with one reference. `server`: our name, or NULL. NULL: out
 * of memory. */
struct av_packet *intake_metadata(const struct intake_medium *media, unsigned n,
                                  const char *server);

#endif
