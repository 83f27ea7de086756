/* SPDX-License-Identifier: MIT */
/* pack_audio.c - AAC, MP3, Opus, G.711. */
#include "format/rtp/pack_impl.h"

#include "base/be.h"

#include <string.h>

enum { AU_HEADERS = 2, AU_HEADER = 2, AU_MAX = 0x1fff, AU_SAMPLES = 1024, MP3_HEADER = 4 };

/* ---- [AAC] AAC-hbr: 13 bits of size, 3 of index */

err_t rtp_aac_configure(struct rtp_packer *p, const struct frame *f)
{
    struct av_info info;
    err_t err = av_info_parse(&info, f->codec, f->data, f->size);

    if (err)
        return err;
    if (p->clock != info.coded_rate)
        p->count = (struct audio_clock){ .rate = info.coded_rate };
    p->clock = info.coded_rate;
    return NULL;
}

void rtp_aac_flush(struct rtp_packer *p)
{
    size_t head = AU_HEADERS + (size_t)AU_HEADER * p->n;
    int64_t ticks = p->ticks;
    uint8_t *at;

    if (p->n == 0)
        return;
    p->ticks = p->waiting_since;
    at = rtp_pack_packet(p, head + p->waiting.len, true);
    p->ticks = ticks;
    if (at) {
        (void)be_put16(at, AU_HEADER * p->n * 8);
        for (unsigned i = 0; i < p->n; i++)
            (void)be_put16(at + AU_HEADERS + (size_t)AU_HEADER * i, (uint32_t)p->sizes[i] << 3);
        memcpy(at + head, p->waiting.buf, p->waiting.len);
    }
    p->waiting.len = 0;
    p->n = 0;
}

/* Writes a unit in one packet or in fragments: each has the size of the whole unit, and the last
 * one the marker. */
static void put_unit(struct rtp_packer *p, const uint8_t *from, size_t size)
{
    size_t head = AU_HEADERS + AU_HEADER, left = size, each;

    each = rtp_pack_even(size, p->opts.mtu - head);
    while (left > 0) {
        size_t n = left < each ? left : each;
        uint8_t *at = rtp_pack_packet(p, head + n, n == left);

        if (!at)
            return;
        (void)be_put16(at, AU_HEADER * 8);
        (void)be_put16(at + AU_HEADERS, size << 3);
        memcpy(at + head, from, n);
        from += n;
        left -= n;
    }
}

/* True if the unit may share the packet of the waiting units. They must follow each other without a
 * gap. */
static bool may_share(const struct rtp_packer *p, size_t size, int64_t span)
{
    size_t more = AU_HEADERS + (size_t)AU_HEADER * (p->n + 1) + p->waiting.len + size;

    return p->n < RTP_SHARED_MAX && more <= p->opts.mtu && p->ticks == p->waiting_until &&
           p->ticks + AU_SAMPLES - p->waiting_since <= span;
}

err_t rtp_aac_pack(struct rtp_packer *p, const struct frame *f)
{
    int64_t span = p->opts.span * (int64_t)p->clock / AV_CLOCK;

    if (f->size > AU_MAX)
        return err_new(ERR_CODEC, "an AAC frame of %zu bytes", f->size);
    if (p->n > 0 && !may_share(p, f->size, span))
        rtp_aac_flush(p);
    if (span < 2 * AU_SAMPLES || AU_HEADERS + AU_HEADER + f->size > p->opts.mtu) {
        put_unit(p, f->data, f->size);
        return NULL;
    }
    if (p->n == 0)
        p->waiting_since = p->ticks;
    p->sizes[p->n++] = (uint16_t)f->size;
    p->waiting_until = p->ticks + AU_SAMPLES;
    wr_bytes(&p->waiting, f->data, f->size);
    if (p->waiting_until + AU_SAMPLES - p->waiting_since > span)
        rtp_aac_flush(p);
    return NULL;
}

/* ---- [MP3] 3.5: an offset before each fragment */

err_t rtp_mp3_pack(struct rtp_packer *p, const struct frame *f)
{
    size_t at, n, each = rtp_pack_even(f->size, p->opts.mtu - MP3_HEADER);

    if (f->size > UINT16_MAX)
        return err_new(ERR_CODEC, "an MP3 frame of %zu bytes", f->size);
    for (at = 0; at < f->size; at += n) {
        uint8_t *to;

        n = f->size - at < each ? f->size - at : each;
        to = rtp_pack_packet(p, MP3_HEADER + n, false);
        if (!to)
            break;
        (void)be_put16(to, 0);
        (void)be_put16(to + 2, at);
        memcpy(to + MP3_HEADER, f->data + at, n);
    }
    return NULL;
}

/* ---- frames that are payloads without changes */

err_t rtp_opus_pack(struct rtp_packer *p, const struct frame *f)
{
    uint8_t *at;

    if (f->size > RTP_MTU_MAX)
        return err_new(ERR_CODEC, "an Opus packet of %zu bytes", f->size);
    at = rtp_pack_packet(p, f->size, false);
    if (at)
        memcpy(at, f->data, f->size);
    return NULL;
}

/* A byte is a sample, so a frame can be divided anywhere. */
err_t rtp_g711_pack(struct rtp_packer *p, const struct frame *f)
{
    int64_t ticks = p->ticks;
    size_t at, n, each = rtp_pack_even(f->size, p->opts.mtu);

    for (at = 0; at < f->size; at += n) {
        uint8_t *to;

        n = f->size - at < each ? f->size - at : each;
        p->ticks = ticks + (int64_t)at;
        to = rtp_pack_packet(p, n, false);
        if (!to)
            break;
        memcpy(to, f->data + at, n);
    }
    return NULL;
}
