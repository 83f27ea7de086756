/* SPDX-License-Identifier: MIT */
/* ts.c - receives MPEG-TS as the publisher of a live stream. */
#include "intake/ts.h"

#include "base/log.h"
#include "base/must.h"
#include "intake/media.h"

#include <stdlib.h>
#include <string.h>

enum { VIDEO, AUDIO, TRACKS };

/* Time and number of packets for which audio waits for the video that the tables announce, so that
 * metadata, playlists and files describe both. */
#define WITHOUT_VIDEO AV_MS(2000)
enum { EARLY_MAX = 128 };

struct early {
    struct av_packet *pkt;
    int64_t ticks;
};

struct track {
    enum av_codec codec;
    struct av_info info;
    bool described;      /* info is complete */
    uint64_t frames, at; /* `at`: position of the newest frame that players may start at */
    bool has_at;
};

struct ts_intake {
    struct ts_intake_opts opts;
    struct ts_demux *demux;
    struct live_source *src; /* NULL: frames are only parsed */
    struct track track[TRACKS];
    bool metadata_due;
    bool shows;              /* video has arrived, or is no longer waited for */
    unsigned n_early;
    struct early *early;     /* audio that waits for video; NULL: none */
    unsigned logged;         /* number of logged configurations */
    uint64_t keys, no_memory;
};

/* ---- log lines about streams that are left out */

static void log_note(void *intake, const struct ts_told *told)
{
    (void)intake;
    switch (told->note) {
    case TS_NOTE_TYPE:
        log_warn("TS stream %#x is %s (type %#x), which no other format supports: only SRT "
                 "players get it", told->pid, told->name, told->type);
        break;
    case TS_NOTE_MORE:
        log_trace("TS stream %#x, %s, is not the first of its kind: only SRT players get it",
                  told->pid, told->name);
        break;
    case TS_NOTE_PROGRAM:
        log_trace("TS program %u, PMT at %#x, is not the first one: only SRT players get it",
                  told->program, told->pid);
        break;
    case TS_NOTE_SCRAMBLED:
        log_warn("TS stream %#x, %s, is scrambled and is ignored; send it in the clear, or over "
                 "SRT with a passphrase", told->pid, told->name);
        break;
    }
}

/* ---- begin and end */

static void forget_early(struct ts_intake *t)
{
    for (unsigned i = 0; i < t->n_early; i++)
        (void)av_packet_unref(t->early[i].pkt);
    t->n_early = 0;
    free(t->early);
    t->early = NULL;
}

struct ts_intake *ts_intake_new(const struct ts_intake_opts *opts)
{
    struct ts_intake *t = must(calloc(1, sizeof(*t)));
    const struct ts_demux_opts of = { .sei_filter = opts->sei_filter, .tell = log_note, .arg = t };

    t->opts = *opts;
    t->demux = ts_demux_new(&of);
    return t;
}

void ts_intake_free(struct ts_intake *t)
{
    if (!t)
        return;
    forget_early(t);
    (void)live_source_unref(t->src);
    ts_demux_free(t->demux);
    free(t);
}

void ts_intake_begin(struct ts_intake *t, struct live_source *src)
{
    (void)live_source_unref(t->src);
    t->src = src ? live_source_ref(src) : NULL;
}

/* ---- packets of the stream */

static void push_metadata(struct ts_intake *t, int64_t ticks)
{
    const struct intake_medium media[TRACKS] = {
        { AV_VIDEO, t->track[VIDEO].codec, &t->track[VIDEO].info, 0, 0 },
        { AV_AUDIO, t->track[AUDIO].codec, &t->track[AUDIO].info, 0, 0 },
    };
    struct av_packet *pkt = intake_metadata(media, TRACKS, t->opts.signature);

    t->metadata_due = false;
    if (pkt)
        intake_push(t->src, pkt, ticks);
}

static struct av_packet *packet_of(struct ts_intake *t, const struct ts_frame *f)
{
    struct av_packet *pkt = intake_packet(t->src, f->kind, f->codec, f->size, f->config);

    if (!pkt) {
        t->no_memory++;
        return NULL;
    }
    ts_frame_copy(f, pkt->data);
    pkt->key = f->key && f->kind == AV_VIDEO;
    pkt->cts = (int32_t)(f->pts - f->dts);
    return pkt;
}

static bool waits_for_video(struct ts_intake *t, const struct ts_frame *f)
{
    int64_t since = t->n_early ? f->dts - t->early[0].ticks : 0;

    if (!t->shows)
        t->shows = f->kind == AV_VIDEO || t->n_early == EARLY_MAX || since < 0 ||
                   since > WITHOUT_VIDEO ||
                   ts_demux_codec(t->demux, AV_VIDEO) == AV_CODEC_NONE;
    return !t->shows;
}

static void hold(struct ts_intake *t, struct av_packet *pkt, int64_t ticks)
{
    if (!t->early)
        t->early = must(malloc(EARLY_MAX * sizeof(*t->early)));
    t->early[t->n_early++] = (struct early){ pkt, ticks };
}

static void release(struct ts_intake *t)
{
    for (unsigned i = 0; i < t->n_early; i++)
        live_source_push(t->src, t->early[i].pkt, t->early[i].ticks);
    forget_early(t);
}

static void push_frame(struct ts_intake *t, const struct ts_frame *f)
{
    struct av_packet *pkt = packet_of(t, f);

    if (pkt && waits_for_video(t, f)) {
        hold(t, pkt, f->dts);
        return;
    }
    if (!pkt)
        return;
    if (t->metadata_due)
        push_metadata(t, f->dts);
    if (f->kind == AV_VIDEO) /* players need its configuration first */
        intake_push(t->src, pkt, f->dts);
    if (t->n_early)
        release(t);
    if (f->kind != AV_VIDEO)
        intake_push(t->src, pkt, f->dts);
}

/* ---- codec and configuration */

/* Parses the frame, or as much of its beginning as is contiguous. */
static void parse_frame(struct ts_intake *t, struct track *k, const struct ts_frame *f)
{
    k->described = true;
    if (f->n_pieces > 0 && f->pieces[0].head_size == 0)
        t->metadata_due |= intake_parse_frame(&k->info, k->codec, f->pieces[0].data,
                                              f->pieces[0].size);
}

static void take_config(struct ts_intake *t, struct track *k, const struct ts_frame *f)
{
    uint8_t *config = malloc(f->size);

    if (!config) {
        t->no_memory++;
        return;
    }
    ts_frame_copy(f, config);
    t->metadata_due |= intake_parse(&k->info, k->codec, config, f->size) == INTAKE_CHANGED;
    intake_log_config(&t->logged, f->kind, k->codec, &k->info, f->size);
    free(config);
}

static void note_frame(struct ts_intake *t, struct track *k, const struct ts_frame *f)
{
    k->frames++;
    t->keys += f->key && f->kind == AV_VIDEO;
    if (f->kind == AV_AUDIO || f->key) {
        k->at = f->at;
        k->has_at = true;
    }
    if (!k->described)
        parse_frame(t, k, f);
}

static void take(struct ts_intake *t, const struct ts_frame *f)
{
    struct track *k = &t->track[f->kind == AV_VIDEO ? VIDEO : AUDIO];

    if (k->codec != f->codec) {
        k->codec = f->codec;
        k->info = (struct av_info){ 0 };
        k->described = false;
        t->metadata_due = true;
    }
    if (f->config)
        take_config(t, k, f);
    else
        note_frame(t, k, f);
    if (t->src)
        push_frame(t, f);
}

static void take_all(struct ts_intake *t)
{
    struct ts_frame f;

    while (ts_demux_next(t->demux, &f))
        take(t, &f);
}

void ts_intake_put(struct ts_intake *t, const uint8_t *data, size_t size)
{
    ts_demux_put(t->demux, data, size);
    take_all(t);
}

void ts_intake_hole(struct ts_intake *t)
{
    ts_demux_hole(t->demux);
    take_all(t);
}

void ts_intake_end(struct ts_intake *t)
{
    ts_demux_flush(t->demux);
    take_all(t);
    if (t->n_early)
        release(t);
    t->src = live_source_unref(t->src);
}

/* ---- state */

bool ts_intake_is_ts(const struct ts_intake *t)
{
    struct ts_demux_stat s;

    ts_demux_stat(t->demux, &s);
    return s.packets > 0;
}

bool ts_intake_key(const struct ts_intake *t, uint64_t *at)
{
    bool video = ts_demux_codec(t->demux, AV_VIDEO) != AV_CODEC_NONE; /* it may arrive later */
    const struct track *k = &t->track[video ? VIDEO : AUDIO];

    *at = k->at;
    return k->has_at;
}

size_t ts_intake_tables(const struct ts_intake *t, uint8_t out[TS_TABLES_MAX])
{
    return ts_demux_tables(t->demux, out);
}

void ts_intake_stat(const struct ts_intake *t, struct ts_intake_stat *out)
{
    *out = (struct ts_intake_stat){
        .video_frames = t->track[VIDEO].frames, .audio_frames = t->track[AUDIO].frames,
        .keys = t->keys, .no_memory = t->no_memory, .video = t->track[VIDEO].codec,
        .audio = t->track[AUDIO].codec,
    };
    ts_demux_stat(t->demux, &out->ts);
}
