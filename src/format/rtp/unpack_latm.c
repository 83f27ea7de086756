/* SPDX-License-Identifier: MIT */
/* unpack_latm.c - AAC in LATM, [LATM] RFC 6416 section 6, its configuration in SDP (cpresent 0). */
#include "av/aac.h"
#include "av/bits.h"
#include "format/rtp/read.h"
#include "format/rtp/unpack_impl.h"

enum { SAMPLES = 1024, CONFIG = 64 };

/* An element may be in several packets, the last of them has the marker. */
static bool gather(struct rtp_unpacker *u)
{
    if (u->in.lost > 0 || u->in.restart) {
        u->stats.broken += u->piece;
        u->piece = false;
        u->skip = !u->in.restart && !u->skip_marked; /* it may be the rest of one */
        u->in.lost = 0;
        u->in.restart = false;
    }
    u->skip_marked = u->in.marker;
    if (u->skip) {
        u->skip = !u->in.marker;
        return false;
    }
    if (!u->piece || u->ticks != u->in.ticks) {
        u->frame.len = 0;
        u->frame.bad = ERR_OK;
        u->ticks = u->in.ticks;
    }
    wr_bytes(&u->frame, u->in.data, u->in.size);
    u->piece = !u->in.marker;
    return u->in.marker && !u->frame.bad;
}

/* [AAC] 1.7.3.1, PayloadLengthInfo: 255s, and what is less. */
static bool next_frame(struct rtp_unpacker *u)
{
    size_t size = 0;
    uint8_t b = 255;

    while (b == 255 && u->at < u->frame.len) {
        b = u->frame.buf[u->at++];
        size += b;
    }
    if (b == 255 || size > u->frame.len - u->at) {
        u->stats.broken++;
        return false;
    }
    rtp_unpack_out(u, u->ticks + u->headers_at * (int64_t)SAMPLES, u->frame.buf + u->at, size);
    u->at += size;
    return true;
}

void rtp_latm_unpack(struct rtp_unpacker *u)
{
    if (u->headers == 0) {
        if (!gather(u)) {
            u->has_in = false;
            return;
        }
        u->headers = u->subframes;
        u->headers_at = 0;
        u->at = 0;
    }
    if (!next_frame(u))
        u->headers_at = u->headers;
    else
        u->headers_at++;
    u->has_in = u->headers_at < u->headers;
}

/* An AudioSpecificConfig of what the parser read: the one that is in there begins anywhere in a
 * byte. */
static size_t build_asc(uint8_t out[8], const struct aac_config *c)
{
    uint64_t v = 0;
    unsigned bits = 0;
    bool explicit_rate = c->rate_index == 15;

#define PUT(value, n) (v = v << (n) | (value), bits += (n))
    PUT((uint64_t)c->object, 5);
    PUT((uint64_t)c->rate_index, 4);
    if (explicit_rate)
        PUT((uint64_t)c->core_rate, 24);
    PUT((uint64_t)c->channel_config, 4);
    PUT(0u, 3); /* frames of 1024, no core coder, no extension */
#undef PUT
    v <<= (8 - bits % 8) % 8;
    bits = (bits + 7) / 8;
    for (unsigned i = 0; i < bits; i++)
        out[i] = (uint8_t)(v >> 8 * (bits - 1 - i));
    return bits;
}

/* [AAC] 1.7.3.1, StreamMuxConfig: one program of one layer. */
err_t rtp_latm_read(struct rtp_unpacker *u, const struct rtp_text *fmtp)
{
    uint8_t config[CONFIG] = { 0 }, asc[CONFIG] = { 0 };
    struct rtp_text text;
    struct aac_config c;
    struct bits b;
    size_t size;
    err_t err;

    if (rtp_text_number(fmtp, "cpresent", 1) != 0)
        return err_new(ERR_UNSUPPORTED, "LATM with its configuration in the stream");
    if (!rtp_text_value(fmtp, "config", &text))
        return err_new(ERR_CODEC, "LATM without a configuration");
    size = rtp_text_hex(&text, config, sizeof(config));
    b = bits_init(config, size);
    if (bits_flag(&b) || !bits_flag(&b))
        return err_new(ERR_UNSUPPORTED, "LATM of version 1, or of several times");
    u->subframes = bits_u(&b, 6) + 1;
    if (bits_u(&b, 4) != 0 || bits_u(&b, 3) != 0 || b.bad)
        return err_new(ERR_UNSUPPORTED, "LATM of several programs or layers");
    for (size_t i = 0; i + 2 < size; i++)
        asc[i] = (uint8_t)bits_u(&b, 8);
    err = aac_asc_parse(&c, asc, size - 2);
    if (err)
        return err_wrap(err, "StreamMuxConfig");
    if (c.channel_config == 0 || c.object > 30)
        return err_new(ERR_UNSUPPORTED, "LATM with channels of its own");
    rtp_unpack_configure(u, asc, build_asc(asc, &c));
    return NULL;
}
