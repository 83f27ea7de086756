/* SPDX-License-Identifier: MIT */
/* rtp_start.c - finds the tracks and RTP start values that an RTSP player gets before the first
 * packet. */
#include "format/frame.h"
#include "format/rtp/formats.h"
#include "proto/rtp/header.h"
#include "proto/rtp/rtcp.h"
#include "wire/rtp.h"

enum { RANGES = 16, PACKETS_MAX = 4096 };

/* ---- tracks */

static void take_config(struct rtp_wire_track out[RTP_WIRE_N], const struct av_packet *pkt)
{
    struct frame_reader r;
    struct rtp_map map;
    struct frame f;

    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        struct rtp_wire_track *t = &out[f.kind == AV_VIDEO ? 0 : 1];

        if (f.config && !t->codec && rtp_map_of(&map, f.codec, f.data, f.size))
            *t = (struct rtp_wire_track){ f.codec, f.data, f.size };
    }
}

/* Sets a track that needs no configuration, by the codec of its frames. */
static void take_codec(struct rtp_wire_track *t, enum av_codec codec)
{
    struct rtp_map map;

    if (codec == t->codec || av_codec_row(codec)->nalu || !rtp_map_of(&map, codec, NULL, 0))
        return;
    if (!t->codec || map.fixed) /* the configuration belongs to an earlier codec */
        *t = (struct rtp_wire_track){ .codec = codec };
}

void rtp_wire_tracks(const struct live_source *src, struct rtp_wire_track out[RTP_WIRE_N])
{
    const struct av_packet *pkts[LIVE_CONFIGS];
    size_t n = live_source_configs(src, pkts, LIVE_CONFIGS);
    struct live_source_stat stat;

    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        out[i] = (struct rtp_wire_track){ .codec = AV_CODEC_NONE };
    for (size_t i = 0; i < n; i++)
        take_config(out, pkts[i]);
    live_source_stat(src, &stat);
    take_codec(&out[0], stat.video);
    take_codec(&out[1], stat.audio);
}

/* ---- start of the media */

/* A scan over bytes of the wire, as far as both tracks need it. */
struct scan {
    struct rtp_wire_start *out;
    uint32_t tracks;  /* tracks of the wire */
    unsigned packets; /* scanned packets */
    bool media;       /* some of them were media */
};

/* Uses a report only if it is in front of all media, because only then it has the time of their
 * start. */
static void scan_report(struct scan *l, struct rtp_wire_start *e, const uint8_t *data,
                        size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet p;

    if (l->media || e->has_time)
        return;
    rtcp_begin(&r, data, size);
    if (rtcp_next(&r, &p) && p.type == RTCP_SR) {
        e->has_time = true;
        e->time = p.sr.time;
    }
}

static void scan_media(struct scan *l, struct rtp_wire_start *e, const uint8_t *data,
                       size_t size)
{
    struct rtp_packet p;

    l->media = true;
    if (e->has_seq || !e->has_time || !rtp_parse(&p, data, size))
        return;
    e->has_seq = true;
    e->seq = p.seq;
}

static void scan_rtp(struct scan *l, uint8_t channel, const uint8_t *data, size_t size)
{
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        uint8_t own = rtp_wire_channel(l->tracks, i);

        if (l->tracks >> i & 1 && channel == own)
            scan_media(l, &l->out[i], data, size);
        else if (l->tracks >> i & 1 && channel == own + 1)
            scan_report(l, &l->out[i], data, size);
    }
}

/* Returns true if the scan must continue. */
static bool needs_more(const struct scan *l)
{
    bool open = !l->media;

    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        open |= l->out[i].has_time && !l->out[i].has_seq;
    return open && l->packets < PACKETS_MAX;
}

static void scan_packet(struct scan *l, const uint8_t *p, size_t size)
{
    const uint8_t *end = p + size;

    while (end - p > RTP_INTERLEAVED && needs_more(l)) {
        uint8_t channel;
        uint16_t n;

        if (!rtp_interleaved_parse(p, &channel, &n) || end - p < RTP_INTERLEAVED + n)
            return;
        p += RTP_INTERLEAVED;
        scan_rtp(l, channel, p, n);
        p += n;
        l->packets++;
    }
}

void rtp_wire_start(struct live_consumer *c, uint32_t tracks,
                    struct rtp_wire_start out[RTP_WIRE_N])
{
    struct scan l = { .out = out, .tracks = tracks };
    struct iovec iov[RANGES];
    int n = live_consumer_ranges(c, iov, RANGES, false);

    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        out[i] = (struct rtp_wire_start){ .has_seq = false };
    for (int i = 0; i < n; i++)
        scan_packet(&l, iov[i].iov_base, iov[i].iov_len);
}
