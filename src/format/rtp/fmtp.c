/* SPDX-License-Identifier: MIT */
/* fmtp.c - writes the a=fmtp of sent tracks from their decoder configuration. */
#include "av/nalu.h"
#include "av/vp9.h"
#include "base/base64.h"
#include "format/nal.h"
#include "format/rtp/pack_impl.h"

#include <string.h>

/* The parameter sets of one type, in base64. */
struct list {
    struct wr *w;
    const struct nal_kind *nal;
    int type;         /* -1: any */
    const char *name; /* NULL: already written */
};

static void put_set(void *arg, const uint8_t *unit, size_t size)
{
    struct list *l = arg;

    if (l->type >= 0 && nal_type(l->nal, unit) != l->type)
        return;
    wr_text(l->w, l->name ? l->name : ",");
    l->name = NULL;
    base64_put(l->w, unit, size);
}

static void put_sets(struct list l, enum av_codec codec, const uint8_t *config, size_t size)
{
    unsigned length;
    err_t err;

    err = av_codec_row(codec)->nalu->sets(config, size, &length, put_set, &l);
    err_free(&err); /* players get them in the stream */
}

/* [H264] 8.1 */
void rtp_h264_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size)
{
    wr_text(w, "packetization-mode=1");
    if (size < 4)
        return;
    wr_printf(w, ";profile-level-id=%02X%02X%02X", config[1], config[2], config[3]);
    put_sets((struct list){ w, &nal_h264, -1, ";sprop-parameter-sets=" }, codec, config, size);
}

/* [HEVC] 7.1 */
void rtp_h265_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size)
{
    size_t before = w->len;

    put_sets((struct list){ w, &nal_h265, 32, "sprop-vps=" }, codec, config, size);
    put_sets((struct list){ w, &nal_h265, 33, w->len > before ? ";sprop-sps=" : "sprop-sps=" },
             codec, config, size);
    put_sets((struct list){ w, &nal_h265, 34, w->len > before ? ";sprop-pps=" : "sprop-pps=" },
             codec, config, size);
}

/* [AV1-RTP] 7.2 */
void rtp_av1_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size)
{
    (void)codec;
    if (size >= 4)
        wr_printf(w, "profile=%d;level-idx=%d;tier=%d", config[1] >> 5, config[1] & 0x1f,
                  config[2] >> 7);
}

/* [VP9-RTP] 6.1 */
void rtp_vp9_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size)
{
    (void)codec;
    wr_printf(w, "profile-id=%d", size >= 8 ? *vp9_record(config, size) : 0);
}

/* [AAC] 4.1 */
void rtp_aac_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size)
{
    (void)codec;
    wr_text(w, "streamtype=5;profile-level-id=1;mode=AAC-hbr;config=");
    for (size_t i = 0; i < size; i++)
        wr_printf(w, "%02X", config[i]);
    wr_text(w, ";sizelength=13;indexlength=3;indexdeltalength=3");
}

/* [Opus] 6.1 */
void rtp_opus_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size)
{
    (void)codec;
    wr_printf(w, "sprop-stereo=%d", size > 9 && config[9] == 1 ? 0 : 1);
}
