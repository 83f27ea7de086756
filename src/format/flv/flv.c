/* SPDX-License-Identifier: MIT */
/* flv.c - FLV files, their tags, and packets from them. */
#include "format/flv/flv.h"

#include <string.h>

static void put(uint8_t *out, uint32_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(v >> 8 * (n - 1 - i));
}

err_t flv_tag_parse(struct flv_tag *tag, struct rd *r)
{
    tag->type = rd_u8(r) & 0x1f; /* [FLV] E.4.1: 2 bits reserved, 1 bit filter */
    tag->size = rd_u24(r);
    tag->time = rd_u24(r);
    tag->time |= (uint32_t)rd_u8(r) << 24; /* TimestampExtended is the high byte */
    (void)rd_u24(r);                       /* StreamID, always 0 */
    return rd_err(r, "FLV tag header");
}

void flv_tag_build(uint8_t out[FLV_TAG_HEADER], const struct flv_tag *tag)
{
    out[0] = tag->type;
    put(out + 1, tag->size, 3);
    put(out + 4, tag->time, 3);
    out[7] = (uint8_t)(tag->time >> 24);
    put(out + 8, 0, 3);
}

err_t flv_file_parse(struct rd *r)
{
    const uint8_t *magic = rd_take(r, 3);
    uint8_t version = rd_u8(r);
    uint32_t header;

    (void)rd_u8(r); /* flags for audio and video: often wrong, so ignored */
    header = rd_u32(r);
    if (r->bad)
        return rd_err(r, "FLV file header");
    if (memcmp(magic, "FLV", 3) != 0 || version != 1 || header < FLV_FILE_HEADER)
        return err_new(ERR_MALFORMED, "no FLV file");
    (void)rd_take(r, header - FLV_FILE_HEADER);
    (void)rd_u32(r); /* PreviousTagSize0 */
    return rd_err(r, "FLV file header");
}

void flv_file_build(uint8_t out[FLV_FILE_HEADER + FLV_TAG_TRAILER], bool audio, bool video)
{
    memcpy(out, "FLV\x01", 4);
    out[4] = (uint8_t)((audio ? 4 : 0) | (video ? 1 : 0));
    put(out + 5, FLV_FILE_HEADER, 4);
    put(out + 9, 0, 4);
}

/* True if this data message is the stream's metadata (onMetaData, @setDataFrame). */
static bool flv_data_is_metadata(uint8_t type, const uint8_t *data, size_t size)
{
    static const char *const names[] = { "onMetaData", "@setDataFrame" };
    struct rd r = rd_init(data, size);
    uint16_t n;
    const uint8_t *name;

    if (type == FLV_DATA_AMF3)
        (void)rd_u8(&r); /* encoding marker: AMF0 follows */
    if (rd_u8(&r) != 2)  /* an AMF0 string */
        return false;
    n = rd_u16(&r);
    name = rd_take(&r, n);
    for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++) {
        if (n == strlen(names[i]) && memcmp(name, names[i], n) == 0)
            return true;
    }
    return false;
}

static int32_t cts_of(const struct flv_body *b)
{
    return b->cts * (AV_CLOCK / 1000) + (int32_t)((uint64_t)b->nano * AV_CLOCK / 1000000000);
}

err_t flv_packet_describe(struct av_packet *pkt)
{
    struct flv_body b;
    err_t err;

    pkt->codec = AV_CODEC_NONE;
    pkt->config = pkt->key = pkt->extra = false;
    pkt->track = 0;
    pkt->cts = 0;
    pkt->payload = 0;
    pkt->kind = pkt->origin == FLV_VIDEO ? AV_VIDEO : pkt->origin == FLV_AUDIO ? AV_AUDIO : AV_DATA;
    if (pkt->kind == AV_DATA) {
        pkt->config = flv_data_is_metadata(pkt->origin, pkt->data, pkt->size);
        pkt->payload = pkt->origin == FLV_DATA_AMF3 && pkt->size > 0 ? 1 : 0;
        return NULL;
    }
    err = pkt->kind == AV_VIDEO ? flv_video_parse(&b, pkt->data, pkt->size)
                                : flv_audio_parse(&b, pkt->data, pkt->size);
    if (err)
        return err_wrap(err, "FLV %s", pkt->kind == AV_VIDEO ? "video" : "audio");
    pkt->codec = (uint8_t)b.codec;
    pkt->config = b.config;
    pkt->key = b.key;
    pkt->extra = b.extra;
    pkt->track = b.track;
    pkt->cts = cts_of(&b);
    pkt->payload = (uint32_t)b.payload;
    return NULL;
}
