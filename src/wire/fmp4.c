/* SPDX-License-Identifier: MIT */
/* fmp4.c - a live stream as fragmented MP4. */
#include "wire/fmp4.h"

#include "base/must.h"
#include "format/mp4/box.h"
#include "format/mp4/frag.h"
#include "proto/http/ws.h"
#include "wire/flv.h"

#include <stdlib.h>

#define AUDIO_SPAN AV_MS(100) /* longest time that audio waits for a video frame */
#define SILENCE    AV_MS(3000) /* a track without frames for this time is no longer described */

enum { FRAGMENT_MAX = 24 << 20, INIT_MAX = 256 * 1024, KINDS = 2 };

/* State of one kind: video or audio. */
struct kind_state {
    struct mp4_part *part;
    bool left_out;       /* left out because of the parameter */
    bool waits;          /* its frames are left out until the next key frame */
    int64_t newest;      /* dts of its newest frame, 1/90000 s */
    /* codec of a silent track that is not described now; 0: described */
    enum av_codec silent_codec;
};

struct fmp4_state {
    struct mp4_frag frag;
    struct frame_tracks tracks;
    struct kind_state kinds[KINDS];
    bool ws;
    bool init_sent;    /* a player may have an initialization segment */
    bool changed;      /* changed since the last initialization segment */
    int64_t audio_at;  /* dts of the first audio frame collected */
    struct blocks out; /* output for one packet */
};

static void *open_any(const uint32_t param[LIVE_PARAMS], bool ws)
{
    struct fmp4_state *s = must(calloc(1, sizeof(*s)));
    uint32_t mask = param[FMP4_WIRE_LEAVE_OUT];

    mp4_frag_init(&s->frag, FRAGMENT_MAX, NULL);
    blocks_init(&s->out, 2 * (size_t)FRAGMENT_MAX, NULL);
    s->ws = ws;
    s->kinds[0] = (struct kind_state){ .part = &s->frag.video,
                                       .left_out = mask & FLV_WIRE_NO_VIDEO };
    s->kinds[1] = (struct kind_state){ .part = &s->frag.audio,
                                       .left_out = mask & FLV_WIRE_NO_AUDIO };
    return s;
}

static void *open_state(const uint32_t param[LIVE_PARAMS], const struct live_source *src)
{
    (void)src;
    return open_any(param, false);
}

static void *open_ws(const uint32_t param[LIVE_PARAMS], const struct live_source *src)
{
    (void)src;
    return open_any(param, true);
}

static void close_state(void *state)
{
    struct fmp4_state *s = state;

    mp4_frag_fini(&s->frag);
    blocks_free(&s->out);
    free(s);
}

/* ---- initialization */

/* Writes the codecs, for players that must know them before the rest. */
static void put_codecs(const struct fmp4_state *s, struct wr *w)
{
    size_t box = mp4_box(w, "free");
    const char *before = "codecs=";
    char name[64];

    for (int i = 0; i < KINDS; i++) {
        const struct mp4_track *t = &s->kinds[i].part->track;

        if (!t->codec)
            continue;
        wr_text(w, before);
        wr_text(w, mp4_track_name(t, name, sizeof(name)));
        before = ",";
    }
    mp4_end(w, box);
}

static bool has_track(const struct fmp4_state *s)
{
    return s->frag.video.track.codec || s->frag.audio.track.codec;
}

/* Appends an initialization segment. It is built in one buffer because the sizes of boxes are
 * patched. */
static void put_init(const struct fmp4_state *s, struct wr *out, bool ws)
{
    uint8_t head[HTTP_WS_HEAD_MAX];
    struct wr w;

    if (!has_track(s))
        return;
    wr_init(&w, INIT_MAX);
    mp4_frag_header(&s->frag, &w);
    put_codecs(s, &w);
    if (!w.bad && ws)
        wr_bytes(out, head, http_ws_head(head, HTTP_WS_BINARY, w.len, NULL));
    if (!w.bad)
        wr_bytes(out, w.buf, w.len);
    wr_free(&w);
}

/* ---- frames */

static void cut(struct fmp4_state *s, int64_t dts)
{
    mp4_frag_cut(&s->frag, dts, false, &s->out);
}

static void take_configuration(struct kind_state *k, const struct frame *f)
{
    bool changed;
    err_t err = mp4_track_set(&k->part->track, f, &changed);

    err_free(&err); /* keeps the old configuration */
}

static void add(struct fmp4_state *s, struct kind_state *k, const struct frame *f)
{
    bool first = k->part->n == 0, changed = false;
    err_t err;

    if (f->kind == AV_VIDEO && !f->config)
        cut(s, f->dts);
    err = mp4_frag_add(&s->frag, f, &changed);
    err_free(&err); /* a broken frame is left out */
    s->changed |= changed;
    if (f->kind != AV_AUDIO || k->part->n == 0)
        return;
    if (first)
        s->audio_at = f->dts;
    if (f->dts - s->audio_at >= AUDIO_SPAN)
        (void)mp4_frag_cut_one(&s->frag, AV_AUDIO, f->dts, &s->out);
}

/* A silent track has frames again. */
static void resume_track(struct fmp4_state *s, struct kind_state *k, bool start)
{
    k->part->track.codec = k->silent_codec;
    k->silent_codec = AV_CODEC_NONE;
    k->waits = s->init_sent && !start;
    s->changed = true;
}

static void take(struct fmp4_state *s, const struct frame *f, bool start)
{
    struct kind_state *k = &s->kinds[f->kind == AV_VIDEO ? 0 : 1];

    if (k->left_out || !frame_is_of(&s->tracks, f) || !mp4_track_takes(f->codec))
        return;
    if (k->silent_codec && !f->config)
        resume_track(s, k, start);
    if (mp4_frag_changes(&s->frag, f)) {
        cut(s, f->dts); /* the collected frames need the old configuration */
        if (f->kind == AV_AUDIO)
            mp4_frag_jump(&s->frag);
        k->waits = s->init_sent && !start;
        k->silent_codec = AV_CODEC_NONE;
        k->newest = f->dts;
        s->changed = true;
    }
    if (!f->config)
        k->newest = f->dts;
    if (k->waits && !f->config)
        take_configuration(k, f);
    else
        add(s, k, f);
}

/* ---- packets */

/* Removes silent tracks from the description, for example after the publisher returned without
 * audio or was muted: players must not wait for them. */
static void drop_silent(struct fmp4_state *s)
{
    for (int i = 0; i < KINDS; i++) {
        struct kind_state *k = &s->kinds[i], *other = &s->kinds[1 - i];
        struct mp4_track *t = &k->part->track;

        if (!t->codec || !other->part->track.codec || other->newest - k->newest < SILENCE)
            continue;
        k->silent_codec = t->codec;
        t->codec = AV_CODEC_NONE;
        s->changed = true;
    }
}

/* Starts a GOP: players join behind this, because the collected frames belong to the previous
 * one. */
static void begin_group(struct fmp4_state *s, const struct av_packet *pkt)
{
    cut(s, pkt->dts);
    drop_silent(s);
    s->kinds[0].waits = s->kinds[1].waits = false;
}

static void end_packet(struct fmp4_state *s, struct wr *out)
{
    size_t size = blocks_len(&s->out);
    uint8_t head[HTTP_WS_HEAD_MAX];

    if (size > 0 && !s->out.w.bad && s->ws)
        wr_bytes(out, head, http_ws_head(head, HTTP_WS_BINARY, size, NULL));
    for (struct block *b = s->out.w.bad ? NULL : blocks_begin(&s->out); b; b = b->next)
        wr_bytes(out, b->data, b->len);
    blocks_free(&s->out);
}

static void make(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct fmp4_state *s = state;
    struct frame_reader r;
    struct frame f;

    frame_choose(&s->tracks, pkt);
    if (pkt->start)
        begin_group(s, pkt);
    frame_begin(&r, pkt);
    while (frame_next(&r, &f))
        take(s, &f, pkt->start);
    if (pkt->start && s->changed) {
        if (s->init_sent)
            put_init(s, &s->out.w, false);
        s->changed = false;
    }
    end_packet(s, out);
}

static void join(void *state, struct wr *out)
{
    struct fmp4_state *s = state;

    put_init(s, out, s->ws);
    s->init_sent = true;
}

const struct live_format fmp4_wire = { .name = "fmp4", .open = open_state, .close = close_state,
                                       .make = make, .join = join, .behind = true };
const struct live_format fmp4_wire_ws = { .name = "ws-fmp4", .open = open_ws,
                                          .close = close_state, .make = make, .join = join,
                                          .behind = true };
