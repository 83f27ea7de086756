/* SPDX-License-Identifier: MIT */
/* fuzz_rtp_media.c - any payloads as those of a codec; and any frames, which become
 * payloads and are read back. */
#include "base/container_of.h"
#include "base/rd.h"
#include "format/rtp/formats.h"
#include "format/rtp/pack.h"
#include "format/rtp/unpack.h"
#include "fuzz.h"

#include <assert.h>
#include <string.h>

enum { FRAMES = 2000 }; /* per input: many small ones repeat the same */

static const struct {
    const char *name;
    enum av_kind kind;
} formats[] = {
    { "H264", AV_VIDEO }, { "H265", AV_VIDEO }, { "AV1", AV_VIDEO }, { "VP9", AV_VIDEO },
    { "MPEG4-GENERIC", AV_AUDIO }, { "MP4A-LATM", AV_AUDIO }, { "MPA", AV_AUDIO },
    { "opus", AV_AUDIO }, { "PCMU", AV_AUDIO },
};

static void look(const struct rtp_frame *f)
{
    uint8_t sum = 0;

    assert(f->size > 0 && f->size <= RTP_FRAME_MAX);
    for (size_t i = 0; i < f->size; i++)
        sum ^= f->data[i];
    (void)sum;
}

static void read_all(struct rtp_unpacker *u, const struct rtp_payload *p)
{
    struct rtp_frame f;

    rtp_unpack_put(u, p);
    while (rtp_unpack_next(u, &f))
        look(&f);
}

/* Each: two bytes of length, one of time, marker and loss. */
static void payloads(struct rtp_unpacker *u, struct rd *r)
{
    int64_t ticks = 0;

    while (rd_left(r) > 3) {
        size_t n = rd_u16(r) & 0x7ff;
        uint8_t b = rd_u8(r);
        struct rtp_payload p = { .marker = b & 1, .lost = b >> 1 & 1, .restart = (b & 0x0c) == 0x0c };

        p.size = n < rd_left(r) ? n : rd_left(r);
        p.data = rd_take(r, p.size);
        ticks += b >> 4;
        p.ticks = ticks;
        read_all(u, &p);
    }
}

struct back {
    struct rtp_sink sink;
    struct rtp_unpacker *u;
    size_t mtu;
    unsigned n;
    size_t at[4096], size[4096];
    bool marker[4096];
};

static void packet(struct rtp_sink *s, uint8_t *head, size_t size, bool marker, int64_t ticks)
{
    struct back *k = container_of(s, struct back, sink);

    (void)ticks;
    assert(size > 0 && (size <= k->mtu || k->u->fmt->codec == AV_OPUS));
    memset(head, 0xff, s->head);
    if (k->n < 4096) {
        k->at[k->n] = (size_t)(head - s->out->buf) + s->head;
        k->size[k->n] = size;
        k->marker[k->n++] = marker;
    }
}

/* Each: two bytes of length, one of its kind. */
static void frames(struct rtp_unpacker *u, struct rd *r, size_t mtu)
{
    struct rtp_packer_opts opts = { .codec = u->fmt->codec, .mtu = mtu, .sets = true,
                                    .span = mtu & 1 ? 20000 : 0 };
    static struct back k;
    struct rtp_packer p;
    struct wr out;
    int64_t dts = 0;

    wr_init(&out, 1 << 20);
    k = (struct back){ .sink = { .out = &out, .head = 5, .packet = packet }, .u = u, .mtu = mtu };
    (void)rtp_packer_init(&p, &opts);
    for (unsigned i = 0; i < FRAMES && rd_left(r) > 3; i++) {
        size_t n = rd_u16(r) & 0x3fff, most = n < rd_left(r) ? n : rd_left(r);
        uint8_t b = rd_u8(r);
        struct frame f = { .kind = av_codec_row(u->fmt->codec)->kind, .codec = u->fmt->codec,
                           .config = b & 1, .key = b & 2, .dts = dts, .pts = dts };
        err_t err;

        most = most < rd_left(r) ? most : rd_left(r);
        f.size = most;
        f.data = rd_take(r, most);
        dts += b * 16;
        if (most == 0)
            continue;
        out.len = 0;
        k.n = 0;
        err = rtp_pack(&p, &f, &k.sink);
        err_free(&err);
        for (unsigned j = 0; j < k.n; j++) {
            struct rtp_payload got = { .data = out.buf + k.at[j], .size = k.size[j], .ticks = dts,
                                       .marker = k.marker[j] };

            read_all(u, &got);
        }
    }
    if (p.fmt->flush)
        p.fmt->flush(&p);
    rtp_packer_fini(&p);
    wr_free(&out);
}

/* A byte of the format, one of the direction and the limit, then fmtp up to a 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    unsigned which = rd_u8(&r) % (sizeof(formats) / sizeof(formats[0]));
    uint8_t how = rd_u8(&r);
    const uint8_t *end = r.p ? memchr(r.p, 0, rd_left(&r)) : NULL;
    struct rtp_unpacker_opts opts = { .clock = which < 4 ? 90000 : 8000 };
    struct rtp_unpacker u;
    err_t err;

    if (r.bad || !end)
        return 0;
    opts.fmt = rtp_format_named(formats[which].kind, formats[which].name,
                                strlen(formats[which].name));
    opts.fmtp = (struct span){ (const char *)r.p, (size_t)(end - r.p) };
    opts.keep_broken = how & 2;
    (void)rd_take(&r, opts.fmtp.n + 1);
    err = rtp_unpacker_init(&u, &opts);
    if (!err) {
        if (how & 1 && opts.fmt->pack)
            frames(&u, &r, RTP_MTU_MIN + (how >> 2) * (size_t)20);
        else
            payloads(&u, &r);
        rtp_unpacker_fini(&u);
    }
    err_free(&err);
    assert(err_live() == 0);
    return 0;
}
