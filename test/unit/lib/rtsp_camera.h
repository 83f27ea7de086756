/* SPDX-License-Identifier: MIT */
/* rtsp_camera.h - a camera whose packets an intake receives, and the packets that come out. */
#ifndef RTSP_CAMERA_H
#define RTSP_CAMERA_H

#include "base/log.h"
#include "base/text.h"
#include "co/co.h"
#include "format/flv/flv.h"
#include "intake/rtsp.h"
#include "live/impl.h"
#include "live/reader.h"
#include "proto/rtmp/amf0.h"
#include "proto/rtp/header.h"
#include "proto/rtp/rtcp.h"
#include "proto/rtp/sender.h"
#include "rtp_media.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEN_MAX = 2048, FRAMES = 60, VIDEO = 0, AUDIO = 1, VIDEO_TYPE = 96, AUDIO_TYPE = 97,
       FRAME_SIZE = 3000,
       AUDIO_SIZE = 160 };

#define NOW0 CO_SECONDS(1000)

extern const struct rtsp_intake_opts intake_plain;

#define SDP_HEAD "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\n"
#define SDP_H264(fmtp)                                                                    \
    "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1" fmtp \
    "\r\na=control:streamid=0\r\n"
#define SDP_AAC                                                                           \
    "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/48000/2\r\na=fmtp:97 mode=AAC-hbr;" \
    "sizelength=13;indexlength=3;indexdeltalength=3;config=1190\r\na=control:streamid=1\r\n"

/* ---- the stream, and its output */

struct seen {
    bool config, key;
    uint8_t kind, codec, origin;
    int64_t dts, pts;
    uint64_t hash;
    size_t size;
};

extern struct rtsp_camera_state {
    struct rtsp_intake *r;
    struct live_source *src;
    struct live_reader reader;
    co_usec now;
    unsigned n;
    struct seen v[SEEN_MAX];
    struct wr metadata;
} intake;

void intake_take(void);
void intake_begin(const char *sdp, const struct rtsp_intake_opts *opts, bool datagrams);
void intake_end(void);
struct rtp_intake_stat intake_stat(void);

/* Those of a kind without configurations. */
unsigned seen_frames(enum av_kind kind);

/* ---- a camera */

enum marks { MARK_LAST, MARK_NEVER, MARK_ALWAYS };

struct camera {
    enum av_codec codec;
    unsigned media;
    uint8_t type;
    uint32_t clock, ssrc, base;
    uint16_t seq;
    size_t mtu;
    enum marks marks;
    bool sets;       /* before each key frame */
    bool both_bits;  /* fragments with both start and end bit */
    struct rtp_packer packer;
    struct media_packets k;
    uint64_t hashes[FRAMES * 2]; /* expected frames */
    bool keys[FRAMES * 2];
    unsigned sent;
    /* fate of a packet: false, it is lost. NULL: all arrive */
    bool (*net)(struct camera *c, const uint8_t *data, size_t size);
    uint32_t random;
    size_t late_size[2]; /* sizes of those in `late` */
};

extern uint8_t camera_late[2][2048], camera_packet[65536];

void camera_new(struct camera *c, unsigned media, enum av_codec codec);
void camera_start(struct camera *c);
void camera_free(struct camera *c);
void camera_deliver(struct camera *c, const uint8_t *data, size_t size);
void camera_expect(struct camera *c, const struct frame *f);

/* The i-th frame, all of its packets or the first n. */
void camera_send(struct camera *c, const struct frame *f, unsigned most);

extern uint8_t camera_frame[MEDIA_FRAME_MAX];

void camera_film(struct camera *c, unsigned from, unsigned n);

/* All output of this kind equals the input, in order; `holes`: some may be missing. */
unsigned check_frames(const struct camera *c, enum av_kind kind, bool holes);
void check_order(enum av_kind kind);

#endif
