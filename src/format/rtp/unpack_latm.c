/* SPDX-License-Identifier: MIT */
/* unpack_latm.c - assembles AAC frames in LATM, [LATM] RFC 6416 section 6, with the configuration
 * in the SDP (cpresent 0). */
#include "format/latm.h"
#include "format/rtp/unpack_impl.h"

enum { SAMPLES = 1024, CONFIG = 64 };

/* An element may span several packets; the last of them has the marker. */
static bool collect(struct rtp_unpacker *u)
{
    if (u->in.lost > 0 || u->in.restart) {
        u->stats.broken += u->piece;
        u->piece = false;
        u->skip = !u->in.restart && !u->skip_marked; /* it may be the rest of a lost element */
        u->in.lost = 0;
        u->in.restart = false;
    }
    u->skip_marked = u->in.marker;
    if (u->skip) {
        u->skip = !u->in.marker;
        return false;
    }
    if (!u->piece || u->ticks != u->in.ticks) {
        wr_clear(&u->frame);
        u->ticks = u->in.ticks;
    }
    wr_bytes(&u->frame, u->in.data, u->in.size);
    u->piece = !u->in.marker;
    return u->in.marker && !u->frame.bad;
}

/* [AAC] 1.7.3.1, PayloadLengthInfo: the sum of bytes up to the first one below 255. */
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
        if (!collect(u)) {
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

/* [AAC] 1.7.3.1, StreamMuxConfig: one program of one layer. */
err_t rtp_latm_read(struct rtp_unpacker *u, const struct span *fmtp)
{
    uint8_t config[CONFIG] = { 0 };
    struct latm_config c;
    struct span text;
    struct bits b;
    err_t err;

    if (rtp_text_number(fmtp, "cpresent", 1) != 0)
        return err_new(ERR_UNSUPPORTED, "LATM with its configuration in the stream");
    if (!rtp_text_value(fmtp, "config", &text))
        return err_new(ERR_CODEC, "LATM without a configuration");
    b = bits_init(config, rtp_text_hex(&text, config, sizeof(config)));
    err = latm_config_read(&c, &b, false);
    if (err)
        return err;
    u->subframes = c.frames;
    rtp_unpack_configure(u, c.asc, c.asc_size);
    return NULL;
}
