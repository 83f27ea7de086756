/* SPDX-License-Identifier: MIT */
/* fuzz_package.c - any tags of an untrusted publisher, packed as MPEG-TS and as fragmented MP4. The
 * input is pieces of: type, time in 8 ms, size (2 bytes), body. */
#include "format/mp4/frag.h"
#include "format/ts/mux.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 1 << 20 };

struct both {
    struct ts_mux ts;
    struct mp4_frag mp4;
    struct wr out;
    struct blocks fragment;
};

static void cut(struct both *b, int64_t dts)
{
    char name[64];

    b->out.len = 0;
    mp4_frag_cut(&b->mp4, dts, true, &b->fragment);
    blocks_free(&b->fragment);
    if (b->mp4.video.track.codec || b->mp4.audio.track.codec) {
        mp4_frag_header(&b->mp4, &b->out);
        (void)mp4_track_name(&b->mp4.video.track, name, sizeof(name));
        (void)mp4_track_name(&b->mp4.audio.track, name, sizeof(name));
    }
    b->out.len = 0;
}

static void feed(struct both *b, const struct av_packet *pkt)
{
    struct frame_reader r;
    struct frame f;
    bool changed;
    err_t err;

    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        assert(f.size > 0 && f.data >= pkt->data && f.data + f.size <= pkt->data + pkt->size);
        b->out.len = 0;
        err = ts_mux_frame(&b->ts, &f, &b->out);
        assert(b->out.len % TS_PACKET == 0);
        err_free(&err);
        if (mp4_frag_changes(&b->mp4, &f) || f.key)
            cut(b, f.dts);
        err = mp4_frag_add(&b->mp4, &f, &changed);
        err_free(&err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    struct both b;
    int64_t dts = 0;

    ts_mux_init(&b.ts);
    b.ts.audio_span = size & 1 ? AV_MS(100) : 0;
    mp4_frag_init(&b.mp4, LIMIT, NULL);
    blocks_init(&b.fragment, LIMIT, NULL);
    wr_init(&b.out, LIMIT);
    while (rd_left(&r) >= 4) {
        uint8_t type = rd_u8(&r);
        struct av_packet *pkt;
        size_t n;
        err_t err;

        dts += AV_MS(8) * (int8_t)rd_u8(&r);
        dts = dts < 0 ? 0 : dts;
        n = rd_u16(&r);
        n = n < rd_left(&r) ? n : rd_left(&r);
        pkt = av_packet_new(n);
        memcpy(pkt->data, rd_take(&r, n), n);
        pkt->origin = type;
        err = flv_packet_describe(pkt);
        pkt->dts = dts;
        if (!err)
            feed(&b, pkt);
        err_free(&err);
        (void)av_packet_unref(pkt);
    }
    ts_mux_flush(&b.ts, &b.out);
    cut(&b, dts);
    ts_mux_fini(&b.ts);
    mp4_frag_fini(&b.mp4);
    wr_free(&b.out);
    assert(err_live() == 0 && av_packet_live() == 0);
    return 0;
}
