/* SPDX-License-Identifier: MIT */
/* media.c - an FLV file as all publishers share it. */
#include "tools/load/media.h"

#include "base/must.h"
#include "format/flv/flv.h"
#include "format/rtp/formats.h"
#include "proto/sdp/sdp.h"
#include "tools/load/run.h"

#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 1 << 30, GROWN = 1024, TYPE_DYNAMIC = 96, FMTP_MAX = 8192 };

/* Where the first NAL unit's length stands, if a marker can go before it. */
static uint8_t marker_place(const struct av_packet *pkt)
{
    if (pkt->kind != AV_VIDEO || pkt->config || pkt->extra ||
        !av_codec_row((enum av_codec)pkt->codec)->nalu || av_packet_payload_size(pkt) < 5)
        return 0;
    /* lengths of 4 bytes are what encoders write: their first byte is 0 below 16 MB */
    return *av_packet_payload(pkt) == 0 && pkt->payload <= 8 ? (uint8_t)pkt->payload : 0;
}

/* The first frame of its kind, or the configuration before it. */
static void take_track(struct load_media *m, const struct av_packet *pkt)
{
    enum av_kind kind = (enum av_kind)pkt->kind;
    struct load_track *t = &m->tracks[kind == AV_VIDEO ? 0 : 1];
    bool wants = pkt->config || av_codec_row(pkt->codec)->parse == NULL ||
                 av_codec_row(pkt->codec)->frame_config;

    if (kind == AV_DATA || t->config || !wants || !rtp_format_of((enum av_codec)pkt->codec))
        return;
    *t = (struct load_track){ .kind = kind, .codec = (enum av_codec)pkt->codec, .config = pkt };
}

static err_t add(struct load_media *m, const struct load_message *msg, bool head)
{
    if (!head) {
        if (m->count % GROWN == 0)
            m->messages = must(realloc(m->messages, (m->count + GROWN) * sizeof(*msg)));
        m->messages[m->count++] = *msg;
        m->bytes += msg->size;
    } else if (m->count > 0) { /* the configuration of the first turn is that of all */
        (void)av_packet_unref(msg->pkt);
        return NULL;
    } else if (m->head_count == LOAD_HEADS) {
        (void)av_packet_unref(msg->pkt);
        return err_new(ERR_TOO_MANY, "configurations before the first frame");
    } else {
        m->heads[m->head_count++] = *msg;
    }
    take_track(m, msg->pkt);
    return NULL;
}

static err_t take_tag(struct load_media *m, const struct flv_tag *tag, const uint8_t *data)
{
    struct av_packet *pkt = av_packet_new(tag->size);
    err_t err;

    memcpy(pkt->data, data, tag->size);
    pkt->origin = tag->type;
    err = flv_packet_describe(pkt);
    if (err)
        (void)av_packet_unref(pkt);
    else
        err = add(m, &(struct load_message){
            .pkt = pkt, .data = pkt->data, .size = tag->size, .time = tag->time, .type = tag->type,
            .key = pkt->key, .codec = pkt->codec, .marker = marker_place(pkt),
        }, pkt->config || pkt->kind == AV_DATA);
    return err ? err_wrap(err, "tag at %u ms", tag->time) : NULL;
}

static err_t parse_tags(struct load_media *m, struct rd *r)
{
    err_t err = NULL;

    while (!err && rd_left(r) >= FLV_TAG_HEADER) {
        const uint8_t *data;
        struct flv_tag tag;

        err = flv_tag_parse(&tag, r);
        if (err)
            return err;
        data = rd_take(r, tag.size);
        (void)rd_u32(r);
        if (r->bad)
            break; /* a file cut off in a tag: what is before it is whole */
        if (tag.size > 0)
            err = take_tag(m, &tag, data);
    }
    return err;
}

/* Times from 0, and a period that leaves as much between the last and the first message of each
 * kind as there is between others of that kind. */
static void set_times(struct load_media *m)
{
    uint32_t first = m->messages[0].time;
    uint32_t last[AV_KINDS] = { 0 }, from[AV_KINDS] = { 0 }, n[AV_KINDS] = { 0 };

    for (size_t i = 0; i < m->count; i++) {
        struct load_message *msg = &m->messages[i];
        enum av_kind kind = msg->type == FLV_VIDEO ? AV_VIDEO : AV_AUDIO;

        msg->time = msg->time > first ? msg->time - first : 0;
        if (i > 0 && msg->time < m->messages[i - 1].time)
            msg->time = m->messages[i - 1].time; /* sent in the order of the file */
        if (n[kind]++ == 0)
            from[kind] = msg->time;
        last[kind] = msg->time;
    }
    for (int k = 0; k < AV_KINDS; k++) {
        uint32_t span = last[k] - from[k];
        uint32_t end = n[k] > 1 ? span + (span + (n[k] - 1) / 2) / (n[k] - 1) : 0;

        m->period = end > m->period ? end : m->period;
    }
    if (m->period <= m->messages[m->count - 1].time)
        m->period = m->messages[m->count - 1].time + 1;
}

static void set_tracks(struct load_media *m)
{
    if (!m->tracks[0].config)
        m->tracks[0] = m->tracks[1];
    m->n = m->tracks[0].config ? m->tracks[1].config && m->tracks[0].kind == AV_VIDEO ? 2 : 1 : 0;
    for (unsigned i = 0; i < m->n; i++) {
        struct load_track *t = &m->tracks[i];
        struct rtp_map map;
        bool fixed = rtp_map_of(&map, t->codec, av_packet_payload(t->config),
                                av_packet_payload_size(t->config)) && map.fixed;

        t->type = fixed ? map.type : (uint8_t)(TYPE_DYNAMIC + i);
    }
}

err_t load_media_parse(struct load_media *m, const uint8_t *file, size_t size)
{
    struct rd r = rd_init(file, size);
    err_t err = flv_file_parse(&r);

    *m = (struct load_media){ .n = 0 };
    if (!err)
        err = parse_tags(m, &r);
    if (!err && m->count == 0)
        err = err_new(ERR_MALFORMED, "no audio and no video");
    if (err) {
        load_media_free(m);
        return err;
    }
    set_times(m);
    set_tracks(m);
    return NULL;
}

err_t load_file_read(uint8_t **out, size_t *size, const char *path)
{
    err_t err = NULL;
    long n = -1;
    FILE *f = fopen(path, "rb");

    *out = NULL;
    if (!f)
        return err_sys(ERR_SYSTEM, "open %s", path);
    if (fseek(f, 0, SEEK_END) == 0)
        n = ftell(f);
    rewind(f);
    *size = n < 0 ? 0 : (size_t)n;
    if (n < 0 || n > FILE_MAX)
        err = err_new(ERR_TOO_LARGE, "no file, or over %d MB", FILE_MAX >> 20);
    else if (!(*out = malloc(*size + 1)) || fread(*out, 1, *size, f) != *size)
        err = err_sys(ERR_SYSTEM, "read");
    (void)fclose(f);
    if (!err)
        return NULL;
    free(*out);
    *out = NULL;
    return err_wrap(err, "%s", path);
}

err_t load_media_load(struct load_media *m, const char *path, bool rtp)
{
    uint8_t *file;
    size_t size;
    err_t err = load_file_read(&file, &size, path);

    *m = (struct load_media){ .n = 0 };
    if (err)
        return err;
    err = load_media_parse(m, file, size);
    free(file);
    if (!err && rtp && m->n == 0)
        err = err_new(ERR_UNSUPPORTED, "RTP carries none of it");
    return err ? err_wrap(err, "%s", path) : NULL;
}

void load_media_free(struct load_media *m)
{
    for (size_t i = 0; i < m->head_count; i++)
        (void)av_packet_unref(m->heads[i].pkt);
    for (size_t i = 0; i < m->count; i++)
        (void)av_packet_unref(m->messages[i].pkt);
    free(m->messages);
    *m = (struct load_media){ .n = 0 };
}

double load_media_kbps(const struct load_media *m)
{
    return (double)m->bytes * 8 / m->period;
}

size_t load_message_extra(uint8_t out[LOAD_MARKER_SIZE], const struct load_message *msg,
                          uint32_t *number)
{
    static const uint8_t set_data_frame[] = "\x02\x00\x0d@setDataFrame";
    struct load_marker m = { .time = 0 };

    if (msg->type == FLV_DATA && msg->size > 3 && msg->data[3] == 'o') {
        memcpy(out, set_data_frame, sizeof(set_data_frame) - 1);
        return sizeof(set_data_frame) - 1;
    }
    if (!msg->marker || !number)
        return 0;
    m.number = (*number)++;
    m.time = load_wall();
    return load_marker_build(out, msg->codec, &m);
}

bool load_track_config(const struct load_track *t, struct frame *out)
{
    struct frame_reader r;

    frame_begin(&r, t->config);
    return t->config->config && frame_next(&r, out);
}

err_t load_message_frames(const struct load_message *msg, uint64_t time, uint32_t *number,
                          err_t (*take)(void *arg, const struct frame *f), void *arg)
{
    struct frame_reader r;
    struct frame f;
    err_t err = NULL;

    frame_begin(&r, msg->pkt);
    while (!err && frame_next(&r, &f)) {
        f.dts += AV_MS((int64_t)time);
        f.pts += AV_MS((int64_t)time);
        if (msg->marker && number)
            load_marker_put(&f, (*number)++);
        err = take(arg, &f);
    }
    return err;
}

static void describe_track(const struct load_track *t, unsigned i, struct wr *out)
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

void load_media_describe(const struct load_media *m, struct wr *out)
{
    sdp_put_session(out, &(struct sdp_session_out){ .id = 1, .version = 1, .name = "load",
                                                    .duration = -1 });
    for (unsigned i = 0; i < m->n; i++)
        describe_track(&m->tracks[i], i, out);
}
