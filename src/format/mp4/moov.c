/* SPDX-License-Identifier: MIT */
/* moov.c - the boxes that describe a whole file, [ISO-FF] 8.2 to 8.7, and initialization
 * segments. */
#include "format/mp4/box.h"
#include "format/mp4/frag.h"

enum { LANGUAGE_UND = 0x55c4 };

static bool is_video(const struct mp4_track *t)
{
    return t->kind == AV_VIDEO;
}

void mp4_ftyp(struct wr *w, bool fragmented, const char *brand)
{
    size_t box = mp4_box(w, "ftyp");

    wr_bytes(w, fragmented ? "iso6" : "isom", 4);
    wr_u32(w, 512);
    wr_bytes(w, fragmented ? "iso6isommp41" : "isomiso6mp41", 12);
    if (brand)
        wr_bytes(w, brand, 4);
    mp4_end(w, box);
}

/* Uses version 1 if a time needs 64 bits. Creation times are 0: unknown. */
void mp4_mvhd(struct wr *w, uint64_t duration, uint32_t next_track)
{
    bool wide = duration > UINT32_MAX;
    size_t box = mp4_full_box(w, "mvhd", wide, 0);

    mp4_zeros(w, wide ? 16 : 8);
    wr_u32(w, MP4_MOVIE_SCALE);
    wr_be(w, duration, wide ? 8 : 4);
    wr_u32(w, 0x10000); /* rate 1.0 */
    wr_u16(w, 0x100);   /* volume 1.0 */
    mp4_zeros(w, 10);
    mp4_matrix(w);
    mp4_zeros(w, 24);
    wr_u32(w, next_track);
    mp4_end(w, box);
}

void mp4_tkhd(const struct mp4_track *t, struct wr *w, uint64_t duration)
{
    bool wide = duration > UINT32_MAX;
    size_t box = mp4_full_box(w, "tkhd", wide, 3); /* enabled, in the movie */

    mp4_zeros(w, wide ? 16 : 8);
    wr_u32(w, t->id);
    wr_u32(w, 0);
    wr_be(w, duration, wide ? 8 : 4);
    mp4_zeros(w, 8 + 2);
    wr_u16(w, 0); /* alternate_group */
    wr_u16(w, is_video(t) ? 0 : 0x100);
    wr_u16(w, 0);
    mp4_matrix(w);
    wr_u32(w, is_video(t) ? t->info.width << 16 : 0);
    wr_u32(w, is_video(t) ? t->info.height << 16 : 0);
    mp4_end(w, box);
}

void mp4_mdhd(const struct mp4_track *t, struct wr *w, uint64_t duration)
{
    bool wide = duration > UINT32_MAX;
    size_t box = mp4_full_box(w, "mdhd", wide, 0);

    mp4_zeros(w, wide ? 16 : 8);
    wr_u32(w, t->timescale);
    wr_be(w, duration, wide ? 8 : 4);
    wr_u16(w, LANGUAGE_UND);
    wr_u16(w, 0);
    mp4_end(w, box);
}

void mp4_hdlr(const struct mp4_track *t, struct wr *w)
{
    size_t box = mp4_full_box(w, "hdlr", 0, 0);

    wr_u32(w, 0);
    wr_bytes(w, is_video(t) ? "vide" : "soun", 4);
    mp4_zeros(w, 12);
    wr_bytes(w, is_video(t) ? "Video" : "Sound", 6);
    mp4_end(w, box);
}

void mp4_minf_head(const struct mp4_track *t, struct wr *w)
{
    bool video = is_video(t);
    size_t box = mp4_full_box(w, video ? "vmhd" : "smhd", 0, video), dref, url;

    mp4_zeros(w, video ? 8 : 4);
    mp4_end(w, box);
    box = mp4_box(w, "dinf");
    dref = mp4_full_box(w, "dref", 0, 0);
    wr_u32(w, 1);
    url = mp4_full_box(w, "url ", 0, 1); /* in this file */
    mp4_end(w, url);
    mp4_end(w, dref);
    mp4_end(w, box);
}

static void empty_table(struct wr *w, const char *type, size_t zeros)
{
    size_t box = mp4_full_box(w, type, 0, 0);

    mp4_zeros(w, zeros);
    mp4_end(w, box);
}

static void write_trak(const struct mp4_track *t, struct wr *w)
{
    size_t trak = mp4_box(w, "trak"), mdia, minf, stbl;

    mp4_tkhd(t, w, 0);
    mdia = mp4_box(w, "mdia");
    mp4_mdhd(t, w, 0);
    mp4_hdlr(t, w);
    minf = mp4_box(w, "minf");
    mp4_minf_head(t, w);
    stbl = mp4_box(w, "stbl");
    mp4_track_stsd(t, w);
    empty_table(w, "stts", 4);
    empty_table(w, "stsc", 4);
    empty_table(w, "stsz", 8);
    empty_table(w, "stco", 4);
    mp4_end(w, stbl);
    mp4_end(w, minf);
    mp4_end(w, mdia);
    mp4_end(w, trak);
}

/* [ISO-FF] 8.8.3 */
static void write_trex(const struct mp4_track *t, struct wr *w)
{
    size_t box = mp4_full_box(w, "trex", 0, 0);

    wr_u32(w, t->id);
    wr_u32(w, 1); /* the first sample description */
    mp4_zeros(w, 12);
    mp4_end(w, box);
}

static void write_moov(const struct mp4_track *const *tracks, size_t n, struct wr *w)
{
    size_t moov, mvex;

    mp4_ftyp(w, true, mp4_track_brand(tracks[0]));
    moov = mp4_box(w, "moov");
    mp4_mvhd(w, 0, 3);
    for (size_t i = 0; i < n; i++) {
        if (tracks[i]->codec)
            write_trak(tracks[i], w);
    }
    mvex = mp4_box(w, "mvex");
    for (size_t i = 0; i < n; i++) {
        if (tracks[i]->codec)
            write_trex(tracks[i], w);
    }
    mp4_end(w, mvex);
    mp4_end(w, moov);
}

void mp4_frag_header(const struct mp4_frag *f, struct wr *w)
{
    const struct mp4_track *tracks[] = { &f->video.track, &f->audio.track };

    write_moov(tracks, 2, w);
}

void mp4_frag_header_one(const struct mp4_frag *f, enum av_kind kind, struct wr *w)
{
    const struct mp4_track *track = kind == AV_VIDEO ? &f->video.track : &f->audio.track;

    write_moov(&track, 1, w);
}
