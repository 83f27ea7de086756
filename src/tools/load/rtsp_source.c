/* SPDX-License-Identifier: MIT */
/* rtsp_source.c - a file as all RTSP publishers share it. */
#include "tools/load/rtsp_source.h"

#include "format/flv/flv.h"
#include "format/rtp/formats.h"
#include "proto/sdp/sdp.h"
#include "tools/load/marker.h"

#include <stdlib.h>
#include <string.h>

enum { TYPE_DYNAMIC = 96, FMTP_MAX = 8192 };

/* The message as a packet; NULL: nobody can read it. */
static struct av_packet *packet_of(const struct load_message *msg)
{
    struct av_packet *pkt = av_packet_new(msg->size);
    err_t err;

    memcpy(pkt->data, msg->data, msg->size);
    pkt->origin = msg->type;
    err = flv_packet_describe(pkt);
    if (!err)
        return pkt;
    err_free(&err);
    (void)av_packet_unref(pkt);
    return NULL;
}

/* The first frame of its kind, or the configuration before it. */
static void look(struct load_source *s, const struct av_packet *pkt)
{
    enum av_kind kind = (enum av_kind)pkt->kind;
    struct load_source_track *t = &s->tracks[kind == AV_VIDEO ? 0 : 1];
    bool wants = pkt->config || av_codec_row(pkt->codec)->parse == NULL ||
                 av_codec_row(pkt->codec)->frame_config;

    if (kind == AV_DATA || t->config || !wants || !rtp_format_of((enum av_codec)pkt->codec))
        return;
    *t = (struct load_source_track){ .kind = kind, .codec = (enum av_codec)pkt->codec,
                                     .config = av_packet_ref(pkt) };
}

static void set_types(struct load_source *s)
{
    if (!s->tracks[0].config)
        s->tracks[0] = s->tracks[1];
    s->n = s->tracks[0].config ? s->tracks[1].config && s->tracks[0].kind == AV_VIDEO ? 2 : 1 : 0;
    for (unsigned i = 0; i < s->n; i++) {
        struct load_source_track *t = &s->tracks[i];
        struct rtp_map map;
        bool fixed = rtp_map_of(&map, t->codec, av_packet_payload(t->config),
                                av_packet_payload_size(t->config)) && map.fixed;

        t->type = fixed ? map.type : (uint8_t)(TYPE_DYNAMIC + i);
    }
}

err_t load_source_load(struct load_source *s, const char *path)
{
    err_t err;

    *s = (struct load_source){ .n = 0 };
    err = load_media_load(&s->media, path);
    if (err)
        return err;
    s->packets = calloc(s->media.count, sizeof(s->packets[0]));
    if (!s->packets)
        return err_new(ERR_NO_MEMORY, "packets of a file");
    for (size_t i = 0; i < s->media.head_count; i++) {
        struct av_packet *pkt = packet_of(&s->media.heads[i]);

        if (pkt)
            look(s, pkt);
        (void)av_packet_unref(pkt);
    }
    for (size_t i = 0; i < s->media.count; i++) {
        s->packets[i] = packet_of(&s->media.messages[i]);
        if (s->packets[i])
            look(s, s->packets[i]);
    }
    set_types(s);
    return s->n > 0 ? NULL : err_new(ERR_UNSUPPORTED, "%s: RTP carries none of it", path);
}

void load_source_free(struct load_source *s)
{
    for (size_t i = 0; s->packets && i < s->media.count; i++)
        (void)av_packet_unref(s->packets[i]);
    for (unsigned i = 0; i < s->n; i++)
        (void)av_packet_unref(s->tracks[i].config);
    free(s->packets);
    load_media_free(&s->media);
    *s = (struct load_source){ 0 };
}

bool load_source_config(const struct load_source_track *t, struct frame *out)
{
    struct frame_reader r;

    frame_begin(&r, t->config);
    return t->config->config && frame_next(&r, out);
}

err_t load_source_frames(const struct load_source *s, const struct load_message *msg, uint64_t time,
                         uint32_t *number, err_t (*take)(void *arg, const struct frame *f),
                         void *arg)
{
    const struct av_packet *pkt = s->packets[msg - s->media.messages];
    struct frame_reader r;
    struct frame f;
    err_t err = NULL;

    if (!pkt)
        return NULL;
    frame_begin(&r, pkt);
    while (!err && frame_next(&r, &f)) {
        f.dts += AV_MS((int64_t)time);
        f.pts += AV_MS((int64_t)time);
        if (msg->marker && number)
            load_marker_put(&f, (*number)++);
        err = take(arg, &f);
    }
    return err;
}

static void describe_track(const struct load_source_track *t, unsigned i, struct wr *out)
{
    const uint8_t *config = av_packet_payload(t->config);
    size_t size = av_packet_payload_size(t->config);
    char control[] = "trackID=0";
    struct rtp_map map = { .name = NULL };
    struct wr fmtp;

    wr_init(&fmtp, FMTP_MAX);
    rtp_fmtp_write(&fmtp, t->codec, config, size);
    (void)rtp_map_of(&map, t->codec, config, size);
    control[sizeof(control) - 2] = (char)('0' + i);
    sdp_put_media(out, &(struct sdp_media_out){
        .kind = t->kind == AV_VIDEO ? SDP_VIDEO : SDP_AUDIO, .type = t->type, .name = map.name,
        .clock = map.clock, .channels = map.channels, .fmtp = (const char *)fmtp.buf,
        .fmtp_size = fmtp.len, .control = control });
    wr_free(&fmtp);
}

void load_source_describe(const struct load_source *s, struct wr *out)
{
    sdp_put_session(out, &(struct sdp_session_out){ .id = 1, .version = 1, .name = "load",
                                                    .duration = -1 });
    for (unsigned i = 0; i < s->n; i++)
        describe_track(&s->tracks[i], i, out);
}
