/* SPDX-License-Identifier: MIT */
/* final.c - collects the sample tables of a fragmented MP4 file. */
#include "format/mp4/final.h"

#include "base/must.h"

#include <stdlib.h>

enum { STSD_MAX = 128 * 1024 };

void mp4_final_init(struct mp4_final *f)
{
    *f = (struct mp4_final){ 0 };
}

void mp4_final_fini(struct mp4_final *f)
{
    for (int i = 0; i < DEMUX_TRACKS; i++) {
        struct mp4_final_track *t = &f->tracks[i];

        mp4_moov_drop(&f->source.tracks[i]);
        wr_free(&t->stsd);
        free(t->durations.v);
        free(t->offsets.v);
        free(t->sizes);
        free(t->keys);
        free(t->chunks);
    }
    free(f->spans);
}

/* ------------------------------------------------------------ moov */

static bool describe(struct mp4_final_track *t, const struct mp4_trak *from)
{
    size_t size = rd_left(&from->stsd);

    *t = (struct mp4_final_track){ .id = from->id, .timescale = from->scale, .video = from->video,
                                   .width = from->width, .height = from->height };
    wr_init(&t->stsd, STSD_MAX);
    wr_u32(&t->stsd, (uint32_t)size + 8);
    wr_bytes(&t->stsd, "stsd", 4);
    wr_bytes(&t->stsd, from->stsd.p, size);
    return t->id > 0 && !t->stsd.bad;
}

bool mp4_final_head(struct mp4_final *f, const uint8_t *moov, size_t size)
{
    struct mp4_index *x = &f->source;
    const char *why;
    bool fine = !x->tracks[0].codec.codec && !x->tracks[1].codec.codec &&
                mp4_moov_read(x, rd_init(moov, size), 0, &why) == DEMUX_OK &&
                x->head.info.left_out == 0;

    for (int i = 0; fine && i < DEMUX_TRACKS; i++) {
        if (x->tracks[i].codec.codec)
            fine = describe(&f->tracks[i], &x->tracks[i]);
    }
    return fine;
}

/* ------------------------------------------------------------ moof */

static void add_run(struct mp4_runs *r, uint32_t value, uint32_t n)
{
    if (r->n > 0 && r->v[r->n - 1].value == value) {
        r->v[r->n - 1].n += n;
        return;
    }
    r->v = must_room(r->v, r->n, &r->cap, sizeof(r->v[0]));
    r->v[r->n++] = (struct mp4_run){ n, value };
}

/* Extends the last sample to the start of the next one. */
static void extend_last(struct mp4_final_track *t, uint64_t by)
{
    struct mp4_runs *r = &t->durations;
    uint32_t value = r->v[r->n - 1].value;

    if (by > UINT32_MAX - value)
        by = UINT32_MAX - value;
    if (--r->v[r->n - 1].n == 0)
        r->n--;
    add_run(r, value + (uint32_t)by, 1);
    t->next += (int64_t)by;
}

/* Adds a sample; `at` is its offset in the media of all fragments. */
static void take(struct mp4_final_track *t, const struct mp4_moof_sample *s, uint64_t at)
{
    if (t->n == 0) {
        t->begin = t->next = s->dts;
        t->first_offset = s->offset;
    } else if (s->dts > t->next) {
        extend_last(t, (uint64_t)(s->dts - t->next));
    }
    if (s->number == 0 || at != t->end) {
        t->chunks = must_room(t->chunks, t->n_chunks, &t->chunks_cap, sizeof(t->chunks[0]));
        t->chunks[t->n_chunks++] = (struct mp4_chunk){ .at = at };
    }
    t->chunks[t->n_chunks - 1].samples++;
    t->end = at + s->size;
    add_run(&t->durations, s->duration, 1);
    add_run(&t->offsets, (uint32_t)s->offset, 1);
    t->has_offsets |= s->offset != 0;
    t->next += s->duration;
    t->sizes = must_room(t->sizes, t->n, &t->sizes_cap, sizeof(t->sizes[0]));
    t->sizes[t->n++] = s->size;
    if (s->key) {
        t->keys = must_room(t->keys, t->n_keys, &t->keys_cap, sizeof(t->keys[0]));
        t->keys[t->n_keys++] = (uint32_t)t->n;
    }
}

/* True if the samples of the moof cover the whole payload. */
static bool is_whole(struct mp4_moof m, uint64_t from, uint64_t payload)
{
    struct mp4_moof_sample s;
    uint64_t bytes = 0;

    while (mp4_moof_next(&m, &s)) {
        if ((uint64_t)s.at < from)
            return false;
        bytes += s.size;
    }
    return bytes == payload;
}

bool mp4_final_fragment(struct mp4_final *f, const uint8_t *moof, size_t size, uint64_t from,
                        uint64_t payload)
{
    struct rd r = rd_init(moof, size);
    struct mp4_moof m = f->moof;
    struct mp4_moof_sample s;
    struct mp4_node b;

    if (!mp4_tree_next(&r, &b) || b.type != MP4_TYPE('m', 'o', 'o', 'f'))
        return false;
    mp4_moof_begin(&m, &f->source, b.body, (int64_t)(from - 8 - size), (int64_t)(from + payload));
    if (!is_whole(m, from, payload))
        return false;
    while (mp4_moof_next(&m, &s))
        take(&f->tracks[s.track], &s, f->media + (uint64_t)s.at - from);
    f->moof = m;
    f->spans = must_room(f->spans, f->n_spans, &f->spans_cap, sizeof(f->spans[0]));
    f->spans[f->n_spans++] = (struct mp4_span){ from, payload };
    f->media += payload;
    return true;
}
