/* SPDX-License-Identifier: MIT */
/* body.c - the first bytes of FLV audio and video bodies, legacy and enhanced. */
#include "format/flv/flv.h"

#include <string.h>

enum {
    AUDIO_EX = 9,        /* [ERTMP] SoundFormat.ExHeader */
    VIDEO_EX = 0x80,     /* [ERTMP] isExVideoHeader */
    MODEX_NANO = 0,      /* [ERTMP] TimestampOffsetNano */
    MODEX_MAX = 16,      /* in one body; the specification has no limit */
    TRACKS_MAX = 64,     /* in one body; it has 256 ids */
};

static int32_t signed24(uint32_t v)
{
    return (int32_t)(v ^ 0x800000) - 0x800000;
}

/* Sets the start of the payload to the position of r, if this packet type has one. */
static void set_payload(struct flv_body *b, const struct rd *r, size_t size)
{
    bool media = b->packet == FLV_PACKET_CONFIG || b->packet == FLV_PACKET_CODED ||
                 b->packet == FLV_PACKET_CODED_X;

    b->config = b->packet == FLV_PACKET_CONFIG || b->packet == FLV_PACKET_TS_CONFIG;
    b->key = b->kind == AV_VIDEO && media && !b->config &&
             (b->frame == FLV_FRAME_KEY || b->frame == FLV_FRAME_GENERATED_KEY);
    b->payload = media && b->multitrack != FLV_MANY_TRACKS && b->multitrack != FLV_MANY_CODECS
                     ? size - rd_left(r) : size;
}

/* Reads one ModEx, [ERTMP] "while (packetType == ModEx)"; returns the packet type after it. */
static uint8_t modex(struct flv_body *b, struct rd *r)
{
    size_t n = (size_t)rd_u8(r) + 1;
    const uint8_t *data;
    uint8_t next;

    if (n == 256)
        n = (size_t)rd_u16(r) + 1;
    data = rd_take(r, n);
    next = rd_u8(r);
    if (data && next >> 4 == MODEX_NANO && n >= 3) {
        uint32_t nano = (uint32_t)data[0] << 16 | (uint32_t)data[1] << 8 | data[2];

        b->nano = nano < 1000000 ? nano : 0; /* an offset of a millisecond or more is invalid */
    }
    return next & 0x0f;
}

static enum av_codec fourcc(const struct flv_body *b, struct rd *r)
{
    const uint8_t *cc = rd_take(r, 4);

    return cc ? av_codec_of_fourcc(b->kind, cc) : AV_CODEC_NONE;
}

static int32_t coded_cts(enum av_codec codec, enum flv_packet packet, struct rd *r)
{
    return packet == FLV_PACKET_CODED && av_codec_row(codec)->flv.cts ? signed24(rd_u24(r)) : 0;
}

/* Reads all tracks, to check that none is longer than the body. The first sets codec and cts. */
static err_t many_tracks(struct flv_body *b, const uint8_t *data, size_t size)
{
    struct flv_track t;
    size_t at = 0;
    int n = 0;
    err_t err;

    b->track = AV_TRACK_MANY;
    do {
        bool first = at == 0;

        if (n++ == TRACKS_MAX)
            return err_new(ERR_TOO_MANY, "over %d tracks in one body", TRACKS_MAX);
        err = flv_track_next(&t, &at, b, data, size);
        if (!err && first) {
            b->codec = t.codec;
            b->cts = t.cts;
        }
    } while (!err && at < size);
    return err;
}

/* A packet type that is unknown, or invalid inside a multitrack body, is passed through. */
static enum flv_packet packet_of(enum av_kind kind, uint8_t type)
{
    bool known = kind == AV_VIDEO ? type <= FLV_PACKET_TS_CONFIG
                                  : type <= FLV_PACKET_END || type == FLV_PACKET_META;

    return known ? (enum flv_packet)type : FLV_PACKET_META;
}

/* Reads the fields after packet type and track mode: FourCC, track, cts. */
static err_t enhanced_body(struct flv_body *b, struct rd *r, const uint8_t *data, size_t size)
{
    if (b->multitrack != FLV_MANY_CODECS)
        b->codec = fourcc(b, r);
    b->tracks = size - rd_left(r);
    if (b->multitrack == FLV_ONE_TRACK)
        b->track = rd_u8(r);
    if (!r->bad && (b->multitrack == FLV_MANY_TRACKS || b->multitrack == FLV_MANY_CODECS)) {
        set_payload(b, r, size);
        return many_tracks(b, data, size);
    }
    b->cts = coded_cts(b->codec, b->packet, r);
    set_payload(b, r, size);
    return rd_err(r, "enhanced header");
}

/* [ERTMP] ExAudioTagHeader and ExVideoTagHeader from the packet type on, which have the same form.
 * */
static err_t enhanced(struct flv_body *b, uint8_t type, struct rd *r, const uint8_t *data,
                      size_t size)
{
    b->enhanced = true;
    for (int i = 0; type == FLV_PACKET_MODEX; i++) {
        if (i == MODEX_MAX)
            return err_new(ERR_TOO_MANY, "over %d ModEx in one body", MODEX_MAX);
        type = modex(b, r);
    }
    if (b->frame == FLV_FRAME_COMMAND && type != FLV_PACKET_META) {
        b->packet = FLV_PACKET_COMMAND;
        (void)rd_u8(r);
        set_payload(b, r, size);
        return rd_err(r, "enhanced video command");
    }
    if (type == (b->kind == AV_VIDEO ? FLV_PACKET_MULTITRACK : FLV_PACKET_MULTITRACK_AUDIO)) {
        uint8_t both = rd_u8(r);

        type = both & 0x0f;
        if (both >> 4 > FLV_MANY_CODECS) { /* an unknown multitrack type */
            b->packet = FLV_PACKET_META;
            set_payload(b, r, size);
            return rd_err(r, "multitrack header");
        }
        b->multitrack = (enum flv_multitrack)(both >> 4);
    }
    b->packet = packet_of(b->kind, type);
    b->extra = type == FLV_PACKET_META;
    return enhanced_body(b, r, data, size);
}

err_t flv_track_next(struct flv_track *t, size_t *at, const struct flv_body *b,
                     const uint8_t *data, size_t size)
{
    size_t from = *at ? *at : b->tracks;
    struct rd r = rd_init(data + from, size - from), body;
    uint32_t n;

    *t = (struct flv_track){ .codec = b->codec };
    if (rd_left(&r) == 0) {
        *at = size;
        return NULL;
    }
    if (b->multitrack == FLV_MANY_CODECS)
        t->codec = fourcc(b, &r);
    t->id = rd_u8(&r);
    n = b->multitrack == FLV_ONE_TRACK ? (uint32_t)rd_left(&r) : rd_u24(&r);
    body = rd_sub(&r, n);
    t->cts = coded_cts(t->codec, b->packet, &body);
    if (r.bad || body.bad)
        return err_new(ERR_TRUNCATED, "track %d of a multitrack body", t->id);
    t->payload = (size_t)(body.p - data);
    t->size = rd_left(&body);
    *at = (size_t)(r.p - data);
    return NULL;
}

err_t flv_audio_parse(struct flv_body *b, const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    uint8_t first = rd_u8(&r);
    uint8_t id = first >> 4;

    *b = (struct flv_body){ .kind = AV_AUDIO, .multitrack = FLV_NO_MULTITRACK,
                            .packet = FLV_PACKET_CODED };
    if (r.bad)
        return rd_err(&r, "audio header");
    if (id == AUDIO_EX)
        return enhanced(b, first & 0x0f, &r, data, size);
    b->codec = av_codec_of_flv(AV_AUDIO, id);
    if (av_codec_row(b->codec)->flv.packet_type) { /* [FLV] E.4.2.2 AACPacketType */
        uint8_t type = rd_u8(&r);

        b->packet = type <= FLV_PACKET_CODED ? (enum flv_packet)type : FLV_PACKET_META;
    }
    set_payload(b, &r, size);
    return rd_err(&r, "audio header");
}

/* [FLV] E.4.3.1 AVCPacketType and CompositionTime, and the same before HEVC and AV1. */
static err_t legacy_packet(struct flv_body *b, struct rd *r, size_t size)
{
    uint8_t type = rd_u8(r);

    b->packet = type <= FLV_PACKET_END ? (enum flv_packet)type : FLV_PACKET_META;
    if (b->packet == FLV_PACKET_CONFIG || b->packet == FLV_PACKET_CODED) {
        int32_t cts = signed24(rd_u24(r));

        b->cts = b->packet == FLV_PACKET_CODED ? cts : 0;
    }
    set_payload(b, r, size);
    return rd_err(r, "video header");
}

err_t flv_video_parse(struct flv_body *b, const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    uint8_t first = rd_u8(&r);

    *b = (struct flv_body){ .kind = AV_VIDEO, .multitrack = FLV_NO_MULTITRACK,
                            .packet = FLV_PACKET_CODED, .frame = first >> 4 & 7 };
    if (r.bad)
        return rd_err(&r, "video header");
    if (first & VIDEO_EX)
        return enhanced(b, first & 0x0f, &r, data, size);
    b->codec = av_codec_of_flv(AV_VIDEO, first & 0x0f);
    if (b->frame == FLV_FRAME_COMMAND) { /* one byte follows, which may be omitted */
        b->packet = FLV_PACKET_COMMAND;
        set_payload(b, &r, size);
        return NULL;
    }
    if (av_codec_row(b->codec)->flv.packet_type)
        return legacy_packet(b, &r, size);
    set_payload(b, &r, size);
    return NULL;
}
