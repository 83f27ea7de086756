/* SPDX-License-Identifier: MIT */
/* tables.c - the tables of a whole MP4 file, [ISO-FF] 8.6 and 8.7, before its media. */
#include "format/mp4/box.h"
#include "format/mp4/final.h"
#include "format/mp4/track.h"

#include <string.h>

/* Offsets of this much media, and of the boxes before it, fit into 32 bits. */
#define OFFSET32_MAX 0xf0000000u

static void write_runs(struct wr *w, const char *type, uint8_t version, const struct mp4_runs *r)
{
    size_t box = mp4_full_box(w, type, version, 0);

    wr_u32(w, (uint32_t)r->n);
    for (size_t i = 0; i < r->n; i++) {
        wr_u32(w, r->v[i].n);
        wr_u32(w, r->v[i].value);
    }
    mp4_end(w, box);
}

static void write_stss(struct wr *w, const struct mp4_final_track *t)
{
    size_t box = mp4_full_box(w, "stss", 0, 0);

    wr_u32(w, (uint32_t)t->n_keys);
    for (size_t i = 0; i < t->n_keys; i++)
        wr_u32(w, t->keys[i]);
    mp4_end(w, box);
}

/* Writes one entry for each change of the count. */
static void write_stsc(struct wr *w, const struct mp4_final_track *t)
{
    size_t box = mp4_full_box(w, "stsc", 0, 0), count = w->len;
    uint32_t n = 0;

    wr_u32(w, 0);
    for (size_t i = 0; i < t->n_chunks; i++) {
        if (i > 0 && t->chunks[i].samples == t->chunks[i - 1].samples)
            continue;
        wr_u32(w, (uint32_t)i + 1);
        wr_u32(w, t->chunks[i].samples);
        wr_u32(w, 1);
        n++;
    }
    mp4_patch32(w, count, n);
    mp4_end(w, box);
}

static void write_stsz(struct wr *w, const struct mp4_final_track *t)
{
    size_t box = mp4_full_box(w, "stsz", 0, 0);

    wr_u32(w, 0);
    wr_u32(w, (uint32_t)t->n);
    for (size_t i = 0; i < t->n; i++)
        wr_u32(w, t->sizes[i]);
    mp4_end(w, box);
}

/* Writes the offsets of the chunks; `base` is the offset of the media in the file. */
static void write_offsets(struct wr *w, const struct mp4_final_track *t, bool wide, uint64_t base)
{
    size_t box = mp4_full_box(w, wide ? "co64" : "stco", 0, 0);

    wr_u32(w, (uint32_t)t->n_chunks);
    for (size_t i = 0; i < t->n_chunks; i++)
        wr_be(w, base + t->chunks[i].at, wide ? 8 : 4);
    mp4_end(w, box);
}

static void write_stbl(struct wr *w, const struct mp4_final_track *t, bool wide, uint64_t base)
{
    size_t stbl = mp4_box(w, "stbl");

    wr_bytes(w, t->stsd.buf, t->stsd.len);
    write_runs(w, "stts", 0, &t->durations);
    if (t->has_offsets)
        write_runs(w, "ctts", 1, &t->offsets);
    if (t->n_keys < t->n)
        write_stss(w, t);
    write_stsc(w, t);
    write_stsz(w, t);
    write_offsets(w, t, wide, base);
    mp4_end(w, stbl);
}

/* ------------------------------------------------------------ times */

static int64_t to_movie(int64_t ticks, uint32_t scale)
{
    return ticks / scale * MP4_MOVIE_SCALE + ticks % scale * MP4_MOVIE_SCALE / scale;
}

/* Returns the presentation time of the first frame. */
static int64_t first_shown(const struct mp4_final_track *t)
{
    int64_t at = t->begin + (t->first_offset > 0 ? t->first_offset : 0);

    return to_movie(at, t->timescale);
}

static int64_t media_skip(const struct mp4_final_track *t)
{
    return t->first_offset > 0 ? t->first_offset : 0;
}

static int64_t lasts(const struct mp4_final_track *t)
{
    return to_movie(t->next - t->begin, t->timescale);
}

/* [ISO-FF] 8.6.6: delays a track that starts later than the first one, and skips the time that
 * composition offsets add before the first frame, so that audio and video start together. */
static void write_edits(struct wr *w, const struct mp4_final_track *t, int64_t origin)
{
    int64_t wait = first_shown(t) - origin;
    size_t edts, elst;

    if (wait <= 0 && media_skip(t) == 0)
        return;
    edts = mp4_box(w, "edts");
    elst = mp4_full_box(w, "elst", 1, 0);
    wr_u32(w, wait > 0 ? 2 : 1);
    if (wait > 0) {
        wr_be(w, (uint64_t)wait, 8);
        wr_be(w, UINT64_MAX, 8); /* nothing */
        wr_u32(w, 0x10000);
    }
    wr_be(w, (uint64_t)lasts(t), 8);
    wr_be(w, (uint64_t)media_skip(t), 8);
    wr_u32(w, 0x10000);
    mp4_end(w, elst);
    mp4_end(w, edts);
}

/* ------------------------------------------------------------ the moov */

static void write_trak(struct wr *w, const struct mp4_final_track *t, int64_t origin, bool wide,
                       uint64_t base)
{
    const struct mp4_track head = {
        .id = t->id, .kind = t->video ? AV_VIDEO : AV_AUDIO, .timescale = t->timescale,
        .info = { .width = t->width, .height = t->height },
    };
    size_t trak = mp4_box(w, "trak"), mdia, minf;

    mp4_tkhd(&head, w, (uint64_t)(first_shown(t) - origin + lasts(t)));
    write_edits(w, t, origin);
    mdia = mp4_box(w, "mdia");
    mp4_mdhd(&head, w, (uint64_t)(t->next - t->begin));
    mp4_hdlr(&head, w);
    minf = mp4_box(w, "minf");
    mp4_minf_head(&head, w);
    write_stbl(w, t, wide, base);
    mp4_end(w, minf);
    mp4_end(w, mdia);
    mp4_end(w, trak);
}

static void write_moov(struct wr *w, const struct mp4_final *f, bool wide, uint64_t base)
{
    int64_t origin = INT64_MAX, duration = 0;
    size_t moov;
    uint32_t next = 1;

    for (unsigned i = 0; i < DEMUX_TRACKS; i++) {
        if (f->tracks[i].n > 0 && first_shown(&f->tracks[i]) < origin)
            origin = first_shown(&f->tracks[i]);
    }
    for (unsigned i = 0; i < DEMUX_TRACKS; i++) {
        const struct mp4_final_track *t = &f->tracks[i];

        if (t->n > 0 && first_shown(t) - origin + lasts(t) > duration)
            duration = first_shown(t) - origin + lasts(t);
        if (t->id >= next)
            next = t->id + 1;
    }
    moov = mp4_box(w, "moov");
    mp4_mvhd(w, (uint64_t)duration, next);
    for (unsigned i = 0; i < DEMUX_TRACKS; i++) {
        if (f->tracks[i].n > 0)
            write_trak(w, &f->tracks[i], origin, wide, base);
    }
    mp4_end(w, moov);
}

/* Builds it twice: the offsets depend on the size of everything before the media. */
bool mp4_final_build(const struct mp4_final *f, struct wr *out)
{
    bool wide = f->media > OFFSET32_MAX;
    size_t begin = out->len, head = wide ? 16 : 8;
    uint64_t base = 0;

    for (int turn = 0; turn < 2; turn++) {
        out->len = begin;
        mp4_ftyp(out, false, NULL);
        write_moov(out, f, wide, base);
        base = out->len - begin + head;
    }
    wr_u32(out, wide ? 1 : (uint32_t)(f->media + 8));
    wr_bytes(out, "mdat", 4);
    if (wide)
        wr_be(out, f->media + 16, 8);
    return !out->bad;
}
