/* SPDX-License-Identifier: MIT */
/* rtc_cut.c - the packets that a server makes of a file. */
#include "tools/load/floor.h"

#include "base/must.h"
#include "tools/load/rtp_out.h"

#include <stdlib.h>

enum { FPS = 25, AUDIO_A_FRAME = 2, SOUND = 120, MTU = 1200, GROWN = 4096,
       MESSAGE_HEAD = 5, PIECE_HEAD = 16, PIECE = 1176, BLOCK = 16 };

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

void load_cut_equal(struct load_cut *c, unsigned packets, unsigned size, unsigned period)
{
    *c = (struct load_cut){ .period = period };
    begin_frame(c, 0);
    for (unsigned i = 0; i < packets; i++)
        add_packet(c, size);
    end_frame(c);
}

static void add_audio_track(struct load_cut *c, uint32_t ms)
{
    begin_frame(c, ms);
    add_packet(c, SOUND);
    end_frame(c);
}

void load_cut_plain(struct load_cut *c, unsigned kbps, bool silent)
{
    size_t frame = (size_t)kbps * 125 / FPS, n = (frame + MTU - 1) / MTU;

    load_cut_equal(c, (unsigned)n, (unsigned)(frame / n), 1000 / FPS);
    for (uint32_t i = 0; i < AUDIO_A_FRAME && !silent; i++)
        add_audio_track(c, i * c->period / AUDIO_A_FRAME);
}

/* ---- of a file, for WebRTC */

static err_t add_packets(void *arg, unsigned track)
{
    (void)track;
    for (size_t i = 0; i < load_packets.n; i++)
        add_packet(arg, load_packets.sizes[i] - (size_t)RTP_HEADER);
    return NULL;
}

err_t load_cut_file(struct load_cut *c, const char *path)
{
    const struct rtp_packer_opts opts = { .sets = true, .mtu = MTU, .no_end = true };
    struct load_media source;
    struct load_out out = { .source = NULL };
    err_t err = load_media_load(&source, path, true), bad;

    if (!err)
        err = load_out_init(&out, &source, &opts, true);
    *c = (struct load_cut){ .period = source.period };
    for (size_t i = 0; !err && i < source.count; i++) {
        const struct load_message *msg = &source.messages[i];

        begin_frame(c, msg->time);
        bad = load_out_message(&out, msg, 0, NULL, add_packets, c);
        err_free(&bad); /* a broken frame is left out */
        end_frame(c);
    }
    load_out_fini(&out);
    load_media_free(&source);
    return err || c->n > 0 ? err : err_new(ERR_UNSUPPORTED, "%s has nothing for WebRTC", path);
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
    err_t err = load_media_load(&media, path, false);

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
