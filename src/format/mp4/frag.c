/* SPDX-License-Identifier: MIT */
/* frag.c - writes frames as fragmented MP4. */
#include "format/mp4/frag.h"

#include "av/nalu.h"
#include "base/mem.h"
#include "format/mp4/box.h"

#include <stdlib.h>
#include <string.h>

enum {
    TFHD_BASE_IS_MOOF = 0x20000,
    TRUN_OFFSET = 1, TRUN_DURATION = 0x100, TRUN_SIZE = 0x200, TRUN_FLAGS = 0x400, TRUN_CTS = 0x800,
    SAMPLE_SYNC = 0x02000000, SAMPLE_NON_SYNC = 0x01010000, /* [ISO-FF] 8.8.3.1 */
    SAMPLE_BYTES = 16, /* largest size of a sample in a trun */
};

static void part_init(struct mp4_part *p, uint32_t id, enum av_kind kind, size_t max_bytes,
                      struct block_pool *pool)
{
    *p = (struct mp4_part){ 0 };
    mp4_track_init(&p->track, id, kind);
    blocks_init(&p->data, max_bytes, pool);
}

void mp4_frag_init(struct mp4_frag *f, size_t max_bytes, struct block_pool *pool)
{
    *f = (struct mp4_frag){ .sequence = 1 };
    part_init(&f->video, 1, AV_VIDEO, max_bytes, pool);
    part_init(&f->audio, 2, AV_AUDIO, max_bytes, pool);
}

static void part_fini(struct mp4_part *p)
{
    mp4_track_fini(&p->track);
    blocks_free(&p->data);
    free(p->v);
}

void mp4_frag_fini(struct mp4_frag *f)
{
    part_fini(&f->video);
    part_fini(&f->audio);
}

size_t mp4_frag_bytes(const struct mp4_frag *f)
{
    return blocks_len(&f->video.data) + blocks_len(&f->audio.data);
}

bool mp4_frag_is_empty(const struct mp4_frag *f)
{
    return f->video.n == 0 && f->audio.n == 0;
}

void mp4_frag_jump(struct mp4_frag *f)
{
    f->clock.started = false;
}

bool mp4_frag_changes(const struct mp4_frag *f, const struct frame *fr)
{
    const struct mp4_track *t = fr->kind == AV_VIDEO ? &f->video.track : &f->audio.track;
    const struct av_codec_row *row = av_codec_row(fr->codec);
    uint32_t width, height;

    if (!mp4_track_takes(fr->codec))
        return false;
    if (!fr->config && row->key_size)
        return fr->key && t->info.width > 0 &&
               row->key_size(fr->data, fr->size, &width, &height) &&
               (width != t->info.width || height != t->info.height);
    if (!fr->config)
        return row->frame_config > 0 && t->codec != fr->codec;
    return t->codec != fr->codec || t->config.len != fr->size ||
           memcmp(t->config.buf, fr->data, fr->size) != 0;
}

/* ------------------------------------------------------------ samples */

static void push(struct mp4_part *p, const struct mp4_sample *s)
{
    struct mp4_sample *v = mem_try_room(p->v, p->n, &p->cap, sizeof(*v));

    if (!v) {
        p->data.w.bad = ERR_NO_MEMORY; /* the fragment fails, like when its bytes do not fit */
        return;
    }
    p->v = v;
    p->v[p->n++] = *s;
}

/* Sets the end of the newest sample to `next`. */
static void close_sample(struct mp4_part *p, int64_t next)
{
    int64_t lasts = next - p->last;

    if (p->n == 0)
        return;
    if (lasts < 0 || lasts > UINT32_MAX)
        lasts = p->lasts ? p->lasts : p->usual;
    p->v[p->n - 1].duration = (uint32_t)lasts;
    if (lasts > 0)
        p->usual = (uint32_t)lasts;
}

/* Writes units with lengths; converts Annex B. */
static err_t put_units(struct wr *w, const struct frame *f, unsigned length)
{
    struct nalu_reader r;
    struct nalu n;
    err_t err = nalu_begin(&r, NALU_ANNEXB, length, f->data, f->size);

    while (!err) {
        err = nalu_next(&r, &n);
        if (err || !n.data)
            break;
        if (n.size == 0)
            continue;
        wr_be(w, n.size, length);
        wr_bytes(w, n.data, n.size);
    }
    return err;
}

static err_t put_data(struct mp4_part *p, const struct frame *f)
{
    unsigned length = p->track.info.nalu_length;
    size_t before = blocks_len(&p->data);
    err_t err = NULL;

    if (av_codec_row(f->codec)->nalu && nalu_detect(f->data, f->size, length) == NALU_ANNEXB)
        err = put_units(&p->data.w, f, length);
    else
        wr_bytes(&p->data.w, f->data, f->size);
    if (!err)
        err = wr_err(&p->data.w, "media of a fragment");
    if (err)
        blocks_cut(&p->data, before);
    return err;
}

static err_t add(struct mp4_part *p, const struct frame *f, int64_t at, uint32_t lasts)
{
    size_t before = blocks_len(&p->data);
    struct mp4_sample s = { .duration = lasts, .key = f->key || f->kind == AV_AUDIO };
    err_t err = put_data(p, f);

    if (err)
        return err;
    s.size = (uint32_t)(blocks_len(&p->data) - before);
    if (f->kind == AV_VIDEO)
        s.cts = (int32_t)(f->pts - f->dts);
    close_sample(p, at);
    if (p->n == 0)
        p->begin = at;
    push(p, &s);
    p->last = at;
    p->lasts = lasts;
    return NULL;
}

err_t mp4_frag_add(struct mp4_frag *f, const struct frame *fr, bool *changed)
{
    struct mp4_part *p = fr->kind == AV_VIDEO ? &f->video : &f->audio;
    int64_t at = fr->dts - f->origin;
    uint32_t samples = 0, rate; /* the track has its rate already */
    err_t err = mp4_track_set(&p->track, fr, changed);

    if (err || fr->config)
        return err;
    if (at < 0)
        at = 0;
    if (fr->kind == AV_AUDIO) {
        f->clock.rate = p->track.timescale;
        samples = av_codec_samples(fr->codec, fr->data, fr->size, &rate);
        at = audio_clock_next(&f->clock, at, samples);
    }
    return add(p, fr, at, samples);
}

/* ------------------------------------------------------------ a fragment */

static bool same_durations(const struct mp4_part *p)
{
    for (size_t i = 1; i < p->n; i++) {
        if (p->v[i].duration != p->v[0].duration)
            return false;
    }
    return true;
}

/* [ISO-FF] 8.8.6 to 8.8.8, 8.8.12. Returns the position of the data offset. */
static size_t write_traf(const struct mp4_part *p, bool video, struct wr *w)
{
    bool same = same_durations(p);
    size_t traf = mp4_box(w, "traf");
    uint32_t defaults = (same ? 8u : 0u) | (video ? 0u : 0x20u); /* duration, flags */
    size_t box = mp4_full_box(w, "tfhd", 0, TFHD_BASE_IS_MOOF | defaults);
    uint32_t flags = TRUN_OFFSET | TRUN_SIZE | (same ? 0u : TRUN_DURATION) |
                     (video ? TRUN_FLAGS | TRUN_CTS : 0u);
    size_t offset;

    wr_u32(w, p->track.id);
    if (same)
        wr_u32(w, p->v[0].duration);
    if (!video)
        wr_u32(w, SAMPLE_SYNC);
    mp4_end(w, box);
    box = mp4_full_box(w, "tfdt", 1, 0);
    wr_be(w, (uint64_t)p->begin, 8);
    mp4_end(w, box);
    box = mp4_full_box(w, "trun", 1, flags);
    wr_u32(w, (uint32_t)p->n);
    offset = w->len;
    wr_u32(w, 0);
    for (size_t i = 0; i < p->n; i++) {
        if (!same)
            wr_u32(w, p->v[i].duration);
        wr_u32(w, p->v[i].size);
        if (video) {
            wr_u32(w, p->v[i].key ? SAMPLE_SYNC : SAMPLE_NON_SYNC);
            wr_u32(w, (uint32_t)p->v[i].cts);
        }
    }
    mp4_end(w, box);
    mp4_end(w, traf);
    return offset;
}

static void write_styp(struct wr *w)
{
    wr_bytes(w, "\0\0\0\x18stypmsdh\0\0\0\0msdhiso6", 24);
}

static void forget(struct mp4_part *p)
{
    p->n = 0;
    blocks_free(&p->data);
}

/* Returns the largest size of the moof with the header of mdat. It is patched later, so it must be
 * contiguous. */
static size_t head_size(const struct mp4_part *p)
{
    return 256 + (p ? p->n * SAMPLE_BYTES : 0);
}

/* Writes a fragment with the samples of these tracks; NULL: no such track. */
static void write_fragment(struct mp4_frag *f, struct mp4_part *video, struct mp4_part *audio,
                           struct blocks *out)
{
    size_t video_size = video ? blocks_len(&video->data) : 0, video_offset = 0, audio_offset = 0;
    size_t audio_size = audio ? blocks_len(&audio->data) : 0, moof, box, data;
    struct wr *w = &out->w;

    (void)wr_reserve(w, head_size(video) + head_size(audio));
    moof = mp4_box(w, "moof");
    box = mp4_full_box(w, "mfhd", 0, 0);
    wr_u32(w, f->sequence++);
    mp4_end(w, box);
    if (video)
        video_offset = write_traf(video, true, w);
    if (audio)
        audio_offset = write_traf(audio, false, w);
    mp4_end(w, moof);
    data = w->len + 8 - moof;
    if (video)
        mp4_patch32(w, video_offset, (uint32_t)data);
    if (audio)
        mp4_patch32(w, audio_offset, (uint32_t)(data + video_size));
    wr_u32(w, (uint32_t)(8 + video_size + audio_size));
    wr_bytes(w, "mdat", 4);
    if (video)
        blocks_move(out, &video->data);
    if (audio)
        blocks_move(out, &audio->data);
}

static void close_last(struct mp4_frag *f, int64_t dts)
{
    if (f->video.n > 0 && f->video.lasts == 0)
        close_sample(&f->video, dts - f->origin);
    if (f->audio.n > 0 && f->audio.lasts == 0)
        close_sample(&f->audio, f->audio.last); /* like the previous one */
}

void mp4_frag_drop(struct mp4_frag *f)
{
    forget(&f->video);
    forget(&f->audio);
}

void mp4_frag_cut(struct mp4_frag *f, int64_t dts, bool styp, struct blocks *out)
{
    close_last(f, dts);
    if (mp4_frag_is_empty(f))
        return;
    if (styp)
        write_styp(&out->w);
    write_fragment(f, f->video.n > 0 ? &f->video : NULL, f->audio.n > 0 ? &f->audio : NULL, out);
    mp4_frag_drop(f);
}

struct mp4_extent mp4_frag_cut_one(struct mp4_frag *f, enum av_kind kind, int64_t dts,
                                   struct blocks *out)
{
    struct mp4_part *p = kind == AV_VIDEO ? &f->video : &f->audio;
    struct mp4_extent x = { .begin = p->begin };

    close_last(f, dts);
    if (p->n == 0)
        return x;
    for (size_t i = 0; i < p->n; i++)
        x.duration += p->v[i].duration;
    write_styp(&out->w);
    write_fragment(f, kind == AV_VIDEO ? p : NULL, kind == AV_AUDIO ? p : NULL, out);
    forget(p);
    return x;
}
