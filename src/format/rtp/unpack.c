/* SPDX-License-Identifier: MIT */
/* unpack.c - assembles frames from RTP payloads. */
#include "format/rtp/unpack_impl.h"

#include <string.h>

err_t rtp_unpacker_init(struct rtp_unpacker *u, const struct rtp_unpacker_opts *opts)
{
    const struct av_codec_rtp *rtp = &av_codec_row(opts->fmt->codec)->rtp;
    err_t err = NULL;

    *u = (struct rtp_unpacker){ .fmt = opts->fmt, .clock = opts->clock,
                                .channels = opts->channels, .keep_broken = opts->keep_broken };
    u->need_key = opts->fmt->video != NULL;
    wr_init(&u->frame, RTP_FRAME_MAX);
    wr_init(&u->config, RTP_CONFIG_MAX);
    if (u->clock == 0)
        u->clock = rtp->clock ? rtp->clock : 8000;
    if (opts->fmt->read)
        err = opts->fmt->read(u, &opts->fmtp);
    if (err)
        rtp_unpacker_fini(u);
    return err;
}

void rtp_unpacker_fini(struct rtp_unpacker *u)
{
    nal_sets_fini(&u->sets);
    wr_free(&u->frame);
    wr_free(&u->config);
}

void rtp_unpack_configure(struct rtp_unpacker *u, const void *config, size_t size)
{
    if (u->has_config && u->config.len == size && memcmp(u->config.buf, config, size) == 0)
        return;
    wr_clear(&u->config);
    wr_bytes(&u->config, config, size);
    u->has_config = u->config_due = !u->config.bad;
}

bool rtp_unpack_begins(const struct rtp_unpacker *u, const struct rtp_payload *p)
{
    return u->fmt->video && p->size > 0 && u->fmt->video->first(u, p);
}

const uint8_t *rtp_unpack_config(const struct rtp_unpacker *u, size_t *size)
{
    *size = u->has_config ? u->config.len : 0;
    return u->has_config ? u->config.buf : NULL;
}

void rtp_unpack_out(struct rtp_unpacker *u, int64_t ticks, const uint8_t *data, size_t size)
{
    if (size == 0)
        return;
    u->ready = true;
    u->out = (struct rtp_frame){ .ticks = ticks, .data = data, .size = size };
}

void rtp_unpack_put(struct rtp_unpacker *u, const struct rtp_payload *p)
{
    u->in = *p;
    u->has_in = p->size > 0;
    u->at = 0;
    u->headers = 0;
}

bool rtp_unpack_next(struct rtp_unpacker *u, struct rtp_frame *f)
{
    while (!u->ready) {
        if (!u->has_in)
            return false;
        u->fmt->unpack(u);
    }
    *f = u->out;
    if (u->config_due) {
        u->config_due = false;
        *f = (struct rtp_frame){ .config = true, .ticks = u->out.ticks, .data = u->config.buf,
                                 .size = u->config.len };
        return true;
    }
    u->ready = false;
    u->stats.frames++;
    return true;
}
