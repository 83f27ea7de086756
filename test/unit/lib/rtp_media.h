/* SPDX-License-Identifier: MIT */
/* rtp_media.h - frames of each codec that RTP carries, and packets of them: for tests. */
#ifndef RTP_MEDIA_H
#define RTP_MEDIA_H

#include "base/container_of.h"
#include "format/rtp/pack.h"
#include "format/rtp/unpack.h"
#include "media_configs.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

/* Main, with all three sets */
#define CONFIG_H265_SETS                                                                         \
    "\x01\x01\x60\x00\x00\x00\x90\x00\x00\x00\x00\x00\x3c\xf0\x00\xfc\xfd\xf8\xf8\x00\x00\x0f"   \
    "\x03\xa0\x00\x01\x00\x18\x40\x01\x0c\x01\xff\xff\x01\x60\x00\x00\x03\x00\x90\x00\x00\x03"   \
    "\x00\x00\x03\x00\x3c\x95\x98\x09\xa1\x00\x01\x00\x2a\x42\x01\x01\x01\x60\x00\x00\x03\x00"   \
    "\x90\x00\x00\x03\x00\x00\x03\x00\x3c\xa0\x0a\x48\x0b\x9c\x95\x96\x56\x69\x24\xca\xf0\x16"   \
    "\x80\x80\x00\x00\x03\x00\x80\x00\x00\x0c\x84\xa2\x00\x01\x00\x07\x44\x01\xc1\x72\xb4\x62"   \
    "\x40"
#define CONFIG_AV1_SEQUENCE "\x81\x00\x0c\x00\x0a\x0b\x00\x00\x00\x04\x3d\x06\xd4\x02\xf8\x00\x40"

enum { MEDIA_FRAME_MAX = 1 << 18, MEDIA_PACKETS_MAX = 8192 };

/* ---- frames */

struct media_buf {
    uint8_t *p;
    size_t n;
};

void media_unit(struct media_buf *b, const char *head, size_t head_size, size_t size,
                unsigned seed);

/* The i-th frame of a stream: every tenth of video is a key frame. */
struct frame media_make(enum av_codec codec, unsigned i, size_t size, uint8_t *buf);

struct frame media_config_of(enum av_codec codec);

/* ---- packets */

struct media_packets {
    struct rtp_sink sink;
    struct wr bytes;
    unsigned n;
    struct media_sent {
        size_t at, size;
        bool marker;
        int64_t ticks;
        unsigned frame; /* the frame it belongs to */
    } *v;
    unsigned frame;
};

void media_packets_init(struct media_packets *k, size_t head);
void media_packets_free(struct media_packets *k);
void media_flush(struct rtp_packer *p); /* appends the waiting audio */
struct rtp_payload media_payload(const struct media_packets *k, unsigned i);

#endif
