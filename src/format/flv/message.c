/* SPDX-License-Identifier: MIT */
/* message.c - the FLV and RTMP body of a packet: its original message, or a header before its
 * payload. */
#include "format/flv/flv.h"

#include "base/be.h"
#include "base/wr.h"

#include <string.h>

enum {
    BODY_MAX = 0xffffff,
    VIDEO_EX = 0x80, AUDIO_EX = 0x90, /* [ERTMP] isExVideoHeader, SoundFormat.ExHeader */
    CTS_MAX = 0x7fffff,
};

double flv_codec_number(enum av_codec codec)
{
    const struct av_codec_flv *flv = &av_codec_row(codec)->flv;
    const uint8_t *c = (const uint8_t *)flv->fourcc[0];

    if (flv->legacy)
        return flv->ids[0];
    return (double)be_get32(c);
}

static int64_t floor_ms(int64_t ticks)
{
    return ticks / AV_MS(1) - (ticks % AV_MS(1) < 0);
}

/* Returns the offset in milliseconds from the rounded decoding time to the rounded presentation
 * time. */
static int32_t cts_of(const struct av_packet *pkt)
{
    int64_t cts = floor_ms(pkt->dts + pkt->cts) - floor_ms(pkt->dts);

    return (int32_t)(cts > CTS_MAX ? CTS_MAX : cts < -CTS_MAX ? -CTS_MAX : cts);
}

static uint8_t frame_of(const struct av_packet *pkt)
{
    return pkt->config || pkt->key ? FLV_FRAME_KEY : FLV_FRAME_INTER;
}

/* [FLV] E.4.2 and E.4.3 */
static size_t legacy_head(uint8_t *out, const struct av_packet *pkt,
                          const struct av_codec_flv *flv)
{
    uint8_t *p = out;

    *p++ = pkt->kind == AV_VIDEO ? (uint8_t)(frame_of(pkt) << 4 | flv->ids[0])
                                 : (uint8_t)(flv->ids[0] << 4 | flv->sound);
    if (flv->packet_type)
        *p++ = pkt->config ? FLV_PACKET_CONFIG : FLV_PACKET_CODED;
    if (pkt->kind == AV_VIDEO)
        p = be_put24(p, (uint32_t)(pkt->config ? 0 : cts_of(pkt)));
    return (size_t)(p - out);
}

static enum flv_packet packet_of(const struct av_packet *pkt, const struct av_codec_flv *flv)
{
    if (pkt->config)
        return FLV_PACKET_CONFIG;
    return flv->cts && cts_of(pkt) == 0 ? FLV_PACKET_CODED_X : FLV_PACKET_CODED;
}

/* [ERTMP] ExAudioTagHeader, ExVideoTagHeader; a track other than 0 in a multitrack body. */
static size_t enhanced_head(uint8_t *out, const struct av_packet *pkt,
                            const struct av_codec_flv *flv)
{
    bool video = pkt->kind == AV_VIDEO;
    uint8_t first = video ? (uint8_t)(VIDEO_EX | frame_of(pkt) << 4) : AUDIO_EX;
    enum flv_packet packet = packet_of(pkt, flv);
    uint8_t *p = out;

    if (pkt->track > 0) {
        *p++ = first | (video ? FLV_PACKET_MULTITRACK : FLV_PACKET_MULTITRACK_AUDIO);
        *p++ = (uint8_t)(FLV_ONE_TRACK << 4 | packet);
    } else {
        *p++ = (uint8_t)(first | packet);
    }
    memcpy(p, flv->fourcc[0], 4);
    p += 4;
    if (pkt->track > 0)
        *p++ = (uint8_t)pkt->track;
    if (flv->cts && packet == FLV_PACKET_CODED)
        p = be_put24(p, (uint32_t)cts_of(pkt));
    return (size_t)(p - out);
}

/* Writes the header; returns its size, 0: FLV cannot carry the packet. */
static size_t make_head(uint8_t *out, const struct av_packet *pkt)
{
    const struct av_codec_flv *flv = &av_codec_row((enum av_codec)pkt->codec)->flv;

    if (pkt->extra || pkt->track > 0xff || av_packet_payload_size(pkt) == 0)
        return 0;
    if (flv->legacy && pkt->track == 0 && (flv->packet_type || !pkt->config))
        return legacy_head(out, pkt, flv);
    return flv->fourcc[0][0] ? enhanced_head(out, pkt, flv) : 0;
}

void flv_message_build(struct flv_message *m, const struct av_packet *pkt)
{
    m->head = m->made;
    if (pkt->origin) {
        m->type = pkt->origin;
        m->head_size = 0;
        m->rest = pkt->data;
        m->rest_size = pkt->size;
        return;
    }
    m->head_size = (uint32_t)make_head(m->made, pkt);
    m->rest = av_packet_payload(pkt);
    m->rest_size = (uint32_t)av_packet_payload_size(pkt);
    m->type = pkt->kind == AV_VIDEO ? FLV_VIDEO : FLV_AUDIO;
    if (m->head_size == 0 || m->rest_size > BODY_MAX - FLV_HEAD_MAX)
        m->type = 0;
}

void flv_message_build_tag(struct flv_message *m, const struct av_packet *pkt)
{
    flv_message_build(m, pkt);
    if (m->type != FLV_DATA_AMF3)
        return;
    m->type = m->rest_size > 0 ? FLV_DATA : 0;
    m->rest += m->rest_size > 0;
    m->rest_size -= m->rest_size > 0;
}

/* Returns the offset of `size` bytes in `data`, or -1. */
static int64_t offset_of(const uint8_t *data, size_t data_size, const uint8_t *what, size_t size)
{
    const uint8_t *at = data, *end = data + data_size;

    while ((size_t)(end - at) >= size) {
        at = memchr(at, what[0], (size_t)(end - at) - size + 1);
        if (!at)
            break;
        if (memcmp(at, what, size) == 0)
            return at - data;
        at++;
    }
    return -1;
}

/* FFmpeg waits up to 90 s for audio that onMetaData promises. */
static bool hide_opus(struct flv_message *m)
{
    /* a key of 12 bytes, and a number whose bits are a double: 0x4f707573 */
    static const uint8_t member[] = "\0\014audiocodecid\0\x41\xd3\xdc\x1d\x5c\xc0\0\0";
    size_t size = sizeof(member) - 1;
    int64_t at;

    if ((m->type != FLV_DATA && m->type != FLV_DATA_AMF3) || m->head_size > 0)
        return false;
    at = offset_of(m->rest, m->rest_size, member, size);
    if (at < 0)
        return false;
    m->head = m->rest;
    m->head_size = (uint32_t)at;
    m->rest += (size_t)at + size;
    m->rest_size -= (uint32_t)((size_t)at + size);
    return true;
}

bool flv_message_leave_out_opus(struct flv_message *m, const struct av_packet *pkt)
{
    if (pkt->codec == AV_OPUS) {
        m->type = 0;
        return true;
    }
    return pkt->kind == AV_DATA && hide_opus(m);
}
