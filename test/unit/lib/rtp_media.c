/* SPDX-License-Identifier: MIT */
/* rtp_media.c - frames of each codec that RTP carries, and packets of them: for tests. */
#include "rtp_media.h"

#include "format/rtp/formats.h"

/* Bytes that are neither start codes nor parts of one. */
static void media_fill(struct media_buf *b, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        b->p[b->n++] = (uint8_t)(0x11 + (i * 7 + seed * 31) % 0xe0);
}

void media_unit(struct media_buf *b, const char *head, size_t head_size, size_t size,
                              unsigned seed)
{
    size_t whole = head_size + size;

    b->p[b->n++] = (uint8_t)(whole >> 24);
    b->p[b->n++] = (uint8_t)(whole >> 16);
    b->p[b->n++] = (uint8_t)(whole >> 8);
    b->p[b->n++] = (uint8_t)whole;
    memcpy(b->p + b->n, head, head_size);
    b->n += head_size;
    media_fill(b, size, seed);
}

static void media_obu(struct media_buf *b, const char *head, size_t head_size, size_t size,
                             unsigned seed)
{
    size_t before = head[0] & 4 ? 2 : 1, left = head_size - before + size;

    memcpy(b->p + b->n, head, before);
    b->n += before;
    for (; left > 0x7f; left >>= 7)
        b->p[b->n++] = (uint8_t)(left | 0x80);
    b->p[b->n++] = (uint8_t)left;
    memcpy(b->p + b->n, head + before, head_size - before);
    b->n += head_size - before;
    media_fill(b, size, seed);
}

static void media_picture(struct media_buf *b, enum av_codec codec, bool key, size_t size,
                                 unsigned i)
{
    switch (codec) {
    case AV_H264:
        if (i % 3 == 0)
            media_unit(b, "\x06\x05", 2, 20 + i % 9, i); /* SEI */
        media_unit(b, key ? "\x65\x88" : "\x41\x9a", 2, size, i);
        media_unit(b, key ? "\x65\x44" : "\x41\x4a", 2, size / 5 + 1, i + 1);
        break;
    case AV_H265:
        if (i % 3 == 0)
            media_unit(b, "\x4e\x01\x05", 3, 20 + i % 9, i);
        media_unit(b, key ? "\x26\x01\xaf" : "\x02\x01\xd0", 3, size, i);
        media_unit(b, key ? "\x26\x01\x2f" : "\x02\x01\x50", 3, size / 5 + 1, i + 1);
        break;
    case AV_AV1:
        if (key) {
            memcpy(b->p + b->n, &(CONFIG_AV1_SEQUENCE)[4], 13);
            b->n += 13;
        }
        if (i % 3 == 0)
            media_obu(b, "\x2a", 1, 30, i); /* metadata */
        media_obu(b, key ? "\x32\x10" : "\x32\x30", 2, size, i);
        if (i % 4 == 0)
            media_obu(b, "\x36\x08\x30", 3, size / 9, i); /* a layer */
        break;
    default: /* VP9 */
        memcpy(b->p + b->n, key ? VP9_KEY : "\x86\x00\x40", key ? 9 : 3);
        b->n += key ? 9 : 3;
        media_fill(b, size, i);
    }
}

struct frame media_make(enum av_codec codec, unsigned i, size_t size, uint8_t *buf)
{
    bool video = av_codec_row(codec)->kind == AV_VIDEO;
    struct media_buf b = { buf, 0 };
    int64_t each = video ? 3000 : codec == AV_AAC ? 1920 : codec == AV_MP3 ? 2160 : 1800;

    if (video) {
        media_picture(&b, codec, i % 10 == 0, size, i);
    } else if (codec == AV_MP3) {
        memcpy(buf, MP3_FRAME, 4);
        b.n = 4;
        media_fill(&b, 188, i);
    } else {
        if (codec == AV_OPUS)
            buf[b.n++] = 0xfc; /* 20 ms */
        media_fill(&b, size, i);
    }
    return media_frame(codec, video && i % 10 == 0, i * each, buf, b.n);
}

struct frame media_config_of(enum av_codec codec)
{
    switch (codec) {
    case AV_H264: return media_config(codec, MEDIA_BYTES(CONFIG_H264));
    case AV_H265: return media_config(codec, MEDIA_BYTES(CONFIG_H265_SETS));
    case AV_AV1:  return media_config(codec, MEDIA_BYTES(CONFIG_AV1_SEQUENCE));
    case AV_VP9:  return media_config(codec, MEDIA_BYTES(CONFIG_VP9));
    case AV_AAC:  return media_config(codec, MEDIA_BYTES(CONFIG_AAC));
    case AV_OPUS: return media_config(codec, MEDIA_BYTES(CONFIG_OPUS));
    default:      return (struct frame){ .config = false };
    }
}

static void media_packet(struct rtp_sink *s, uint8_t *head, size_t size, bool marker,
                                int64_t ticks)
{
    struct media_packets *k = container_of(s, struct media_packets, sink);

    assert_true(k->n < MEDIA_PACKETS_MAX && size > 0);
    memset(head, '$', s->head);
    k->v[k->n++] = (struct media_sent){ .at = (size_t)(head - k->bytes.buf) + s->head,
                                        .size = size, .marker = marker, .ticks = ticks,
                                        .frame = k->frame };
}

void media_packets_init(struct media_packets *k, size_t head)
{
    *k = (struct media_packets){ .sink = { .head = head, .packet = media_packet } };
    wr_init(&k->bytes, 64 << 20);
    k->sink.out = &k->bytes;
    k->v = malloc(MEDIA_PACKETS_MAX * sizeof(k->v[0]));
    assert_non_null(k->v);
}

void media_packets_free(struct media_packets *k)
{
    wr_free(&k->bytes);
    free(k->v);
}

struct rtp_payload media_payload(const struct media_packets *k, unsigned i)
{
    return (struct rtp_payload){ .data = k->bytes.buf + k->v[i].at, .size = k->v[i].size,
                                 .ticks = k->v[i].ticks, .marker = k->v[i].marker };
}

void media_flush(struct rtp_packer *p)
{
    if (p->fmt->flush)
        p->fmt->flush(p);
}
