/* SPDX-License-Identifier: MIT */
/* final.c - the tables of a fragmented MP4 file, collected. */
#include "format/mp4/final.h"

#include "base/must.h"
#include "base/rd.h"

#include <stdlib.h>
#include <string.h>

enum {
    STSD_MAX = 128 * 1024, SAMPLES_MAX = 1 << 20, /* of one fragment */
    NON_SYNC = 0x10000,
};

static void *grow(void *v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    *cap = *cap ? *cap * 2 : 64;
    v = must(realloc(v, *cap * size));
    return v;
}

void mp4_final_init(struct mp4_final *f)
{
    *f = (struct mp4_final){ 0 };
    for (int i = 0; i < MP4_FINAL_TRACKS; i++)
        wr_init(&f->tracks[i].stsd, STSD_MAX);
}

void mp4_final_fini(struct mp4_final *f)
{
    for (int i = 0; i < MP4_FINAL_TRACKS; i++) {
        struct mp4_final_track *t = &f->tracks[i];

        wr_free(&t->stsd);
        free(t->durations.v);
        free(t->offsets.v);
        free(t->sizes);
        free(t->keys);
        free(t->chunks);
    }
    free(f->spans);
}

/* ------------------------------------------------------------ boxes */

struct box {
    char type[5];
    struct rd body;
};

static bool next_box(struct rd *r, struct box *b)
{
    uint32_t size = rd_u32(r);
    const uint8_t *type = rd_take(r, 4);

    if (r->bad || size < 8)
        return false;
    memcpy(b->type, type, 4);
    b->type[4] = '\0';
    b->body = rd_sub(r, size - 8);
    return !r->bad;
}

static bool is(const struct box *b, const char *type)
{
    return strcmp(b->type, type) == 0;
}

/* The first box of that type; an empty, bad reader if there is none. */
static struct rd find(struct rd in, const char *type)
{
    struct box b;

    while (rd_left(&in) > 0 && next_box(&in, &b)) {
        if (is(&b, type))
            return b.body;
    }
    return (struct rd){ .bad = true };
}

static struct rd find_in(struct rd in, const char *a, const char *b)
{
    struct rd r = find(in, a);

    return r.bad ? r : find(r, b);
}

/* ------------------------------------------------------------ moov */

static void read_tkhd(struct mp4_final_track *t, struct rd r)
{
    uint8_t version = rd_u8(&r);

    (void)rd_take(&r, 3 + (version ? 16 : 8));
    t->id = rd_u32(&r);
    (void)rd_take(&r, 4 + (version ? 8u : 4u) + 16 + 36);
    t->width = rd_u32(&r) >> 16;
    t->height = rd_u32(&r) >> 16;
    if (r.bad)
        t->id = 0;
}

static bool read_trak(struct mp4_final *f, struct rd trak)
{
    struct mp4_final_track *t = &f->tracks[f->n_tracks];
    struct rd tkhd = find(trak, "tkhd"), mdhd = find_in(trak, "mdia", "mdhd");
    struct rd hdlr = find_in(trak, "mdia", "hdlr"), minf = find_in(trak, "mdia", "minf"), stsd;
    const uint8_t *type;
    uint8_t version;

    if (f->n_tracks == MP4_FINAL_TRACKS)
        return false;
    read_tkhd(t, tkhd);
    version = rd_u8(&mdhd);
    (void)rd_take(&mdhd, 3 + (version ? 16 : 8));
    t->timescale = rd_u32(&mdhd);
    (void)rd_take(&hdlr, 8);
    type = rd_take(&hdlr, 4);
    stsd = minf.bad ? minf : find_in(minf, "stbl", "stsd");
    if (t->id == 0 || t->timescale == 0 || mdhd.bad || !type || stsd.bad)
        return false;
    t->video = memcmp(type, "vide", 4) == 0;
    wr_u32(&t->stsd, (uint32_t)rd_left(&stsd) + 8);
    wr_bytes(&t->stsd, "stsd", 4);
    wr_bytes(&t->stsd, stsd.p, rd_left(&stsd));
    f->n_tracks++;
    return !t->stsd.bad;
}

static struct mp4_final_track *track(struct mp4_final *f, uint32_t id)
{
    for (unsigned i = 0; i < f->n_tracks; i++) {
        if (f->tracks[i].id == id)
            return &f->tracks[i];
    }
    return NULL;
}

static void read_trex(struct mp4_final *f, struct rd r)
{
    struct mp4_final_track *t;

    (void)rd_u32(&r);
    t = track(f, rd_u32(&r));
    (void)rd_u32(&r);
    if (!t || rd_left(&r) < 12)
        return;
    t->sample_duration = rd_u32(&r);
    t->sample_size = rd_u32(&r);
    t->sample_flags = rd_u32(&r);
}

bool mp4_final_head(struct mp4_final *f, const uint8_t *moov, size_t size)
{
    struct rd r = rd_init(moov, size), mvex;
    struct box b;

    while (rd_left(&r) > 0) {
        if (!next_box(&r, &b) || (is(&b, "trak") && !read_trak(f, b.body)))
            return false;
    }
    mvex = find(rd_init(moov, size), "mvex");
    while (!mvex.bad && rd_left(&mvex) > 0 && next_box(&mvex, &b)) {
        if (is(&b, "trex"))
            read_trex(f, b.body);
    }
    return f->n_tracks > 0;
}

/* ------------------------------------------------------------ moof */

static void add_run(struct mp4_runs *r, uint32_t value, uint32_t n)
{
    if (r->n > 0 && r->v[r->n - 1].value == value) {
        r->v[r->n - 1].n += n;
        return;
    }
    r->v = grow(r->v, r->n, &r->cap, sizeof(r->v[0]));
    r->v[r->n++] = (struct mp4_run){ n, value };
}

/* The last sample lasts longer than it said: until the next one comes. */
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

static void add_sample(struct mp4_final_track *t, uint32_t size, uint32_t duration, uint32_t flags,
                       int32_t offset)
{
    if (t->n == 0)
        t->first_offset = offset;
    add_run(&t->durations, duration, 1);
    add_run(&t->offsets, (uint32_t)offset, 1);
    t->has_offsets |= offset != 0;
    t->next += duration;
    t->sizes = grow(t->sizes, t->n, &t->sizes_cap, sizeof(t->sizes[0]));
    t->sizes[t->n++] = size;
    if (!(flags & NON_SYNC)) {
        t->keys = grow(t->keys, t->n_keys, &t->keys_cap, sizeof(t->keys[0]));
        t->keys[t->n_keys++] = (uint32_t)t->n;
    }
}

/* A traf, read: what its samples have in common, and a reader at the first of them. */
struct traf {
    struct mp4_final_track *t;
    uint32_t duration, size, flags, first_flags;
    uint32_t trun_flags, n;
    uint8_t trun_version;
    int64_t begin;
    uint64_t at; /* of the samples, in the payload */
    struct rd samples;
};

static bool read_tfhd(struct mp4_final *f, struct traf *x, struct rd r)
{
    uint32_t flags = rd_u32(&r) & 0xffffff;

    x->t = track(f, rd_u32(&r));
    if (!x->t || flags & 1) /* an absolute base is not what we write */
        return false;
    x->duration = x->t->sample_duration;
    x->size = x->t->sample_size;
    x->flags = x->t->sample_flags;
    if (flags & 2)
        (void)rd_u32(&r);
    if (flags & 8)
        x->duration = rd_u32(&r);
    if (flags & 0x10)
        x->size = rd_u32(&r);
    if (flags & 0x20)
        x->flags = rd_u32(&r);
    return !r.bad;
}

static bool read_tfdt(struct traf *x, struct rd r)
{
    bool wide = rd_u32(&r) >> 24 != 0;
    uint64_t begin = wide ? rd_u64(&r) : rd_u32(&r);

    x->begin = (int64_t)begin;
    return !r.bad && begin <= INT64_MAX / 2;
}

static uint64_t sample_bytes(uint32_t flags)
{
    return (flags & 0x100 ? 4u : 0) + (flags & 0x200 ? 4u : 0) + (flags & 0x400 ? 4u : 0) +
           (flags & 0x800 ? 4u : 0);
}

/* `head`: bytes from the begin of the moof to the payload. */
static bool read_trun(struct traf *x, struct rd r, uint64_t head)
{
    uint32_t word = rd_u32(&r), offset;

    x->trun_flags = word & 0xffffff;
    x->trun_version = (uint8_t)(word >> 24);
    x->n = rd_u32(&r);
    if (!(x->trun_flags & 1))
        return false;
    offset = rd_u32(&r);
    x->first_flags = x->trun_flags & 4 ? rd_u32(&r) : x->flags;
    x->samples = r;
    x->at = offset - head;
    return !r.bad && offset >= head && x->n > 0 && x->n <= SAMPLES_MAX &&
           sample_bytes(x->trun_flags) * x->n == rd_left(&r);
}

static bool read_traf(struct mp4_final *f, struct traf *x, struct rd traf, uint64_t head)
{
    struct rd tfhd = find(traf, "tfhd"), tfdt = find(traf, "tfdt"), trun = find(traf, "trun");

    return !tfhd.bad && !tfdt.bad && !trun.bad && read_tfhd(f, x, tfhd) && read_tfdt(x, tfdt) &&
           read_trun(x, trun, head);
}

struct sample {
    uint32_t duration, size, flags;
    int32_t offset;
};

static struct sample read_sample(const struct traf *x, struct rd *r, bool first)
{
    struct sample s = { x->duration, x->size, first ? x->first_flags : x->flags, 0 };

    if (x->trun_flags & 0x100)
        s.duration = rd_u32(r);
    if (x->trun_flags & 0x200)
        s.size = rd_u32(r);
    if (x->trun_flags & 0x400)
        s.flags = rd_u32(r);
    if (x->trun_flags & 0x800)
        s.offset = (int32_t)rd_u32(r);
    return s;
}

/* Is all that the samples claim inside of the payload? */
static bool fits(const struct traf *x, uint64_t payload)
{
    struct rd r = x->samples;
    uint64_t end = x->at;

    for (uint32_t i = 0; i < x->n; i++)
        end += read_sample(x, &r, i == 0).size;
    return end <= payload;
}

static void take(struct mp4_final *f, struct traf *x)
{
    struct mp4_final_track *t = x->t;
    struct rd r = x->samples;

    if (t->n == 0)
        t->begin = t->next = x->begin;
    else if (x->begin > t->next)
        extend_last(t, (uint64_t)(x->begin - t->next));
    t->chunks = grow(t->chunks, t->n_chunks, &t->chunks_cap, sizeof(t->chunks[0]));
    t->chunks[t->n_chunks++] = (struct mp4_chunk){ f->media + x->at, x->n };
    for (uint32_t i = 0; i < x->n; i++) {
        struct sample s = read_sample(x, &r, i == 0);

        add_sample(t, s.size, s.duration, s.flags, s.offset);
    }
}

bool mp4_final_fragment(struct mp4_final *f, const uint8_t *moof, size_t size, uint64_t from,
                        uint64_t payload)
{
    struct rd r = rd_init(moof, size);
    struct traf x[MP4_FINAL_TRACKS];
    struct box b;
    unsigned n = 0;

    if (!next_box(&r, &b) || !is(&b, "moof"))
        return false;
    r = b.body;
    while (rd_left(&r) > 0) {
        if (!next_box(&r, &b))
            return false;
        if (!is(&b, "traf"))
            continue;
        if (n == MP4_FINAL_TRACKS || !read_traf(f, &x[n], b.body, size + 8) ||
            !fits(&x[n], payload))
            return false;
        n++;
    }
    for (unsigned i = 0; i < n; i++)
        take(f, &x[i]);
    f->spans = grow(f->spans, f->n_spans, &f->spans_cap, sizeof(f->spans[0]));
    f->spans[f->n_spans++] = (struct mp4_span){ from, payload };
    f->media += payload;
    return true;
}
