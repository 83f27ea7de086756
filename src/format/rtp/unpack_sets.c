/* SPDX-License-Identifier: MIT */
/* unpack_sets.c - parameter sets of H.264 and HEVC, from SDP and from the stream. */
#include "av/bits.h"
#include "av/h264.h"
#include "av/h265.h"
#include "av/nalu.h"
#include "base/mem.h"
#include "format/rtp/unpack_impl.h"

#include <stdlib.h>
#include <string.h>

/* Sets with another id stand beside each other. That of an SPS of HEVC is behind much; there is one
 * in practice. */
static uint32_t id_of(const struct rtp_unpacker *u, uint8_t type, const uint8_t *unit, size_t size)
{
    bool h264 = u->fmt->nal == &rtp_nal_h264;
    struct bits b = bits_init_nalu(unit + u->fmt->nal->head, size - u->fmt->nal->head);

    if (h264 && type == H264_SPS)
        bits_skip(&b, 24); /* profile, constraints, level */
    if (!h264 && type == H265_VPS)
        return bits_u(&b, 4);
    return !h264 && type == H265_SPS ? 0 : bits_ue(&b);
}

/* The place of that set, or one that is empty. NULL: there are too many. */
static struct rtp_set *place(struct rtp_unpacker *u, uint8_t type, uint32_t id)
{
    struct rtp_set *empty = NULL;

    for (unsigned i = 0; i < RTP_SETS_MAX; i++) {
        struct rtp_set *s = &u->sets[i];

        if (s->data && s->type == type && s->id == id)
            return s;
        if (!s->data && !empty)
            empty = s;
    }
    return empty;
}

static void keep(struct rtp_unpacker *u, const uint8_t *unit, size_t size)
{
    const struct rtp_nal *nal = u->fmt->nal;
    struct rtp_set *s;
    uint8_t type, *copy;
    uint32_t id;

    if (size <= nal->head || size > RTP_SET_SIZE)
        return;
    type = rtp_nal_type(nal, unit);
    id = id_of(u, type, unit, size);
    s = nal->flags[type] & RTP_NAL_SET ? place(u, type, id) : NULL;
    if (!s || (s->data && s->size == size && memcmp(s->data, unit, size) == 0))
        return;
    copy = mem_try(size);
    if (!copy)
        return;
    memcpy(copy, unit, size);
    free(s->data);
    *s = (struct rtp_set){ .type = type, .id = id, .size = size, .data = copy };
    u->sets_changed = true;
}

void rtp_nal_keep_set(struct rtp_unpacker *u, const uint8_t *unit, size_t size)
{
    struct nalu_reader r;
    struct nalu n;
    err_t err;

    if (nalu_detect(unit, size, 0) != NALU_ANNEXB) {
        keep(u, unit, size);
        return;
    }
    err = nalu_begin(&r, NALU_ANNEXB, 0, unit, size);
    while (!err) {
        err = nalu_next(&r, &n);
        if (err || !n.data)
            break;
        keep(u, n.data, n.size);
    }
    err_free(&err);
}

void rtp_nal_configuration(struct rtp_unpacker *u)
{
    const struct nalu_codec *codec = av_codec_row(u->fmt->codec)->nalu;
    struct nalu sets[RTP_SETS_MAX];
    unsigned n = 0;
    struct wr w;

    if (!u->sets_changed)
        return;
    u->sets_changed = false;
    for (unsigned i = 0; i < RTP_SETS_MAX; i++) {
        if (u->sets[i].data)
            sets[n++] = (struct nalu){ u->sets[i].data, u->sets[i].size };
    }
    wr_init(&w, RTP_CONFIG_MAX);
    if (codec->record(&w, sets, n) && !w.bad)
        rtp_unpack_configure(u, w.buf, w.len);
    wr_free(&w);
}
