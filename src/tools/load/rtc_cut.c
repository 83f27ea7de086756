/* SPDX-License-Identifier: MIT */
/* rtc_cut.c - the packets that a server makes of a file. */
#include "tools/load/rtc_cut.h"

#include "base/must.h"
#include "base/wr.h"
#include "format/frame.h"
#include "format/rtp/pack.h"
#include "tools/load/rtsp_source.h"

#include <stdlib.h>
#include <string.h>

enum { FPS = 25, SOUND_A_FRAME = 2, SOUND = 120, MTU = 1200, FRAME_MAX = 16 << 20, GROWN = 4096,
       MESSAGE_HEAD = 5, PIECE_HEAD = 16, PIECE = 1176, BLOCK = 16 };

struct cutter {
    struct rtp_sink sink; /* first: it is found by that */
    struct load_cut *cut;
    struct rtp_packer packers[LOAD_SOURCE_TRACKS];
    bool open[LOAD_SOURCE_TRACKS];
};

/* ---- what there is */

static void add_packet(struct load_cut *c, size_t size)
{
    if (c->n % GROWN == 0)
        c->sizes = must(realloc(c->sizes, (c->n + GROWN) * sizeof(*c->sizes)));
    c->sizes[c->n++] = (uint16_t)size;
}

static void begin_frame(struct load_cut *c, uint32_t ms)
{
    if (c->n_frames % GROWN == 0)
        c->frames = must(realloc(c->frames, (c->n_frames + GROWN) * sizeof(*c->frames)));
    c->frames[c->n_frames++] = (struct load_cut_frame){ .ms = ms, .first = (uint32_t)c->n };
}

/* One without packets is none. */
static void end_frame(struct load_cut *c)
{
    struct load_cut_frame *f = &c->frames[c->n_frames - 1];

    f->n = (uint32_t)c->n - f->first;
    c->n_frames -= f->n == 0;
}

/* ---- of nothing */

static void add_sound(struct load_cut *c, uint32_t ms)
{
    begin_frame(c, ms);
    add_packet(c, SOUND);
    end_frame(c);
}

void load_cut_plain(struct load_cut *c, unsigned kbps, bool silent)
{
    size_t frame = (size_t)kbps * 125 / FPS, n = (frame + MTU - 1) / MTU;

    *c = (struct load_cut){ .period = 1000 / FPS };
    begin_frame(c, 0);
    for (size_t i = 0; i < n; i++)
        add_packet(c, frame / n);
    end_frame(c);
    for (uint32_t i = 0; i < SOUND_A_FRAME && !silent; i++)
        add_sound(c, i * c->period / SOUND_A_FRAME);
}

/* ---- of a file, for WebRTC */

static void on_packet(struct rtp_sink *sink, uint8_t *head, size_t size, bool marker,
                      int64_t ticks)
{
    (void)head;
    (void)marker;
    (void)ticks;
    add_packet(((struct cutter *)sink)->cut, size);
}

static bool carries(enum av_codec codec)
{
    return codec == AV_H264 || codec == AV_H265 || codec == AV_AV1 || codec == AV_VP9 ||
           codec == AV_OPUS;
}

static void pack(struct cutter *k, unsigned track, const struct frame *f)
{
    err_t err = rtp_pack(&k->packers[track], f, &k->sink);

    k->sink.out->len = 0;
    err_free(&err);
}

static void open_tracks(struct cutter *k, const struct load_source *source)
{
    for (unsigned i = 0; i < source->n; i++) {
        const struct rtp_packer_opts opts = { .codec = source->tracks[i].codec, .sets = true,
                                              .mtu = MTU, .no_end = true };
        struct frame_reader r;
        struct frame f;

        k->open[i] = carries(opts.codec) && rtp_packer_init(&k->packers[i], &opts);
        frame_begin(&r, source->tracks[i].config);
        if (k->open[i] && source->tracks[i].config->config && frame_next(&r, &f))
            pack(k, i, &f);
    }
}

static void cut(struct cutter *k, const struct load_source *source, size_t message)
{
    struct frame_reader r;
    struct frame f;

    if (!source->packets[message])
        return;
    frame_begin(&r, source->packets[message]);
    while (frame_next(&r, &f)) {
        for (unsigned i = 0; i < source->n; i++) {
            if (k->open[i] && source->tracks[i].codec == f.codec)
                pack(k, i, &f);
        }
    }
}

err_t load_cut_file(struct load_cut *c, const char *path)
{
    struct load_source source = { 0 };
    struct cutter k = { .cut = c };
    struct wr out;
    err_t err = load_source_load(&source, path);

    if (err) {
        load_source_free(&source);
        return err;
    }
    *c = (struct load_cut){ .period = source.media.period };
    wr_init(&out, FRAME_MAX);
    k.sink = (struct rtp_sink){ .out = &out, .packet = on_packet };
    open_tracks(&k, &source);
    for (size_t i = 0; i < source.media.count; i++) {
        begin_frame(c, source.media.messages[i].time);
        cut(&k, &source, i);
        end_frame(c);
    }
    for (unsigned i = 0; i < source.n; i++) {
        if (k.open[i])
            rtp_packer_fini(&k.packers[i]);
    }
    wr_free(&out);
    load_source_free(&source);
    return c->n > 0 ? NULL : err_new(ERR_UNSUPPORTED, "%s has nothing for WebRTC", path);
}

/* ---- of a file, for RTMFP */

/* Packet, chunk and checksum have some 16 bytes beside what is in it, and the rest is filled. */
static void add_message(struct load_cut *c, size_t size)
{
    for (size_t at = 0; at < size; at += PIECE) {
        size_t n = size - at < PIECE ? size - at : PIECE;

        add_packet(c, (n + PIECE_HEAD + BLOCK - 1) / BLOCK * BLOCK);
    }
}

err_t load_cut_messages(struct load_cut *c, const char *path, unsigned every)
{
    struct load_media media;
    err_t err = load_media_load(&media, path);

    *c = (struct load_cut){ .period = err ? 0 : media.period };
    if (err)
        return err;
    for (size_t i = 0; i < media.count; i++) {
        uint32_t ms = (media.messages[i].time / every + 1) * every;

        if (c->n_frames == 0 || c->frames[c->n_frames - 1].ms != ms)
            begin_frame(c, ms);
        add_message(c, MESSAGE_HEAD + media.messages[i].size);
        c->frames[c->n_frames - 1].n = (uint32_t)c->n - c->frames[c->n_frames - 1].first;
    }
    load_media_free(&media);
    return NULL;
}
