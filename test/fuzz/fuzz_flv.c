/* SPDX-License-Identifier: MIT */
/* fuzz_flv.c - any body of an audio, video or data message, through to the codec's configuration.
 * The first byte of the input is the type of the message. */
#include "av/nalu.h"
#include "format/flv/flv.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk_nalus(const struct av_packet *pkt)
{
    const uint8_t *p = av_packet_payload(pkt);
    size_t left = av_packet_payload_size(pkt), total = 0;
    struct nalu_reader r;
    struct nalu n;
    err_t err;

    err = nalu_begin(&r, nalu_detect(p, left, 4), 4, p, left);
    while (!err) {
        err = nalu_next(&r, &n);
        if (!err && !n.data)
            break;
        total += n.size;
        assert(err || (n.data >= p && n.data + n.size <= p + left && total <= left));
    }
    err_free(&err);
}

static void walk_tracks(const struct av_packet *pkt)
{
    struct flv_body b;
    struct flv_track t;
    size_t at = 0;
    err_t err;

    err = pkt->kind == AV_VIDEO ? flv_video_parse(&b, pkt->data, pkt->size)
                                : flv_audio_parse(&b, pkt->data, pkt->size);
    assert(!err); /* it was described */
    while (b.multitrack != FLV_NO_MULTITRACK && at < pkt->size && !err) {
        size_t before = at;

        err = flv_track_next(&t, &at, &b, pkt->data, pkt->size);
        assert(err || (at > before && t.payload + t.size <= pkt->size));
        assert(!err || b.multitrack == FLV_ONE_TRACK);
    }
    err_free(&err);
}

/* The packet without its origin, as from another protocol. */
static struct av_packet *without_origin(const struct av_packet *pkt)
{
    struct av_packet *bare = av_packet_new(av_packet_payload_size(pkt));

    bare->kind = pkt->kind;
    bare->codec = pkt->codec;
    bare->config = pkt->config;
    bare->key = pkt->key;
    bare->extra = pkt->extra;
    bare->track = pkt->track;
    bare->cts = pkt->cts;
    memcpy(bare->data, av_packet_payload(pkt), bare->size);
    return bare;
}

static int32_t floor_ms(int32_t ticks)
{
    return ticks / AV_MS(1) - (ticks % AV_MS(1) < 0);
}

/* FLV's output for it is read back unchanged. */
static void there_and_back(const struct av_packet *pkt)
{
    struct av_packet *bare = without_origin(pkt), *back;
    struct flv_message m;
    err_t err;

    flv_message_build(&m, bare);
    assert(!m.type == (bare->size == 0 || bare->extra || bare->track == AV_TRACK_MANY ||
                       bare->codec == AV_CODEC_NONE || m.head_size == 0));
    if (m.type) {
        back = av_packet_new(flv_message_size(&m));
        back->origin = m.type;
        memcpy(back->data, m.head, m.head_size);
        memcpy(back->data + m.head_size, m.rest, m.rest_size);
        err = flv_packet_describe(back);
        assert(!err && back->kind == bare->kind && back->codec == bare->codec);
        assert(back->config == bare->config && back->key == bare->key);
        assert(back->track == bare->track && av_packet_payload_size(back) == bare->size);
        assert(memcmp(av_packet_payload(back), bare->data, bare->size) == 0);
        if (av_codec_row(bare->codec)->flv.cts && bare->cts > -AV_MS(1 << 23) + AV_MS(1))
            assert(back->cts == AV_MS(floor_ms(bare->config ? 0 : bare->cts)));
        av_packet_unref(back);
    }
    av_packet_unref(bare);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct av_packet *pkt;
    struct av_info info;
    err_t err;

    if (size == 0)
        return 0;
    pkt = av_packet_new(size - 1);
    pkt->origin = data[0];
    memcpy(pkt->data, data + 1, size - 1);
    err = flv_packet_describe(pkt);
    if (!err) {
        assert(pkt->payload <= pkt->size && pkt->codec < AV_CODECS);
        assert(!(pkt->key && pkt->config) && (!pkt->key || pkt->kind == AV_VIDEO));
        assert(pkt->codec == AV_CODEC_NONE || av_codec_row(pkt->codec)->kind == pkt->kind);
        if (pkt->config) {
            err = av_info_parse(&info, pkt->codec, av_packet_payload(pkt),
                                av_packet_payload_size(pkt));
            err_free(&err);
        } else if (pkt->kind == AV_VIDEO) {
            walk_nalus(pkt);
        }
        if (pkt->kind != AV_DATA)
            walk_tracks(pkt);
        there_and_back(pkt);
    }
    err_free(&err);
    av_packet_unref(pkt);
    assert(av_packet_live() == 0 && err_live() == 0);
    return 0;
}
