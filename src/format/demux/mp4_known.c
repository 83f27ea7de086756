/* SPDX-License-Identifier: MIT */
/* mp4_known.c - uses the file's own list of fragments: mfra at its end, [ISO-FF] 8.8.9, or sidx
 * before the fragments, 8.16.3.
 *
 * The list avoids reading each fragment, which can take minutes on a disk. But some writers list
 * fragments that do not start with a key frame, or wrong kinds of times. So some entries are
 * checked, and if any of them is wrong the list is not used. */
#include "format/demux/mp4.h"

enum {
    LIST_MAX = 32 * 1024 * 1024, /* bytes */
    CHECKS = 16,
    WALK_MAX = 1 << 16,          /* samples and boxes of a checked group */
    /* longest distance of two entries, seconds; a longer one is an error */
    APART = 30,
    OTHERS_MAX = 64,             /* boxes between moov and moof */
};

struct known {
    struct mp4_index *x;
    struct mp4_window *w;
    size_t memory;
    int64_t first;  /* offset of the file's first moof */
    int64_t shift;  /* from listed times to decoding times, ticks */
    int32_t late;
    bool shifted;   /* both are known */
};

static bool add(struct known *k, int64_t at, int64_t time)
{
    struct mp4_frags *f = &k->x->frags;
    const struct mp4_entry e = { .at = at, .dts = time, .starts = true };

    if (f->n > 0 && (at <= f->v[f->n - 1].at || time < f->v[f->n - 1].dts))
        return false;
    return (f->n + 1) * sizeof(e) <= k->memory && mp4_scan_add(f, &e);
}

/* ------------------------------------------------------------ lists */

static uint64_t number(struct rd *r, unsigned bytes)
{
    return rd_be(r, bytes);
}

/* [ISO-FF] 8.8.10: each entry must be the first sample of its moof. */
static bool read_tfra(struct known *k, struct rd r)
{
    const struct mp4_trak *t = &k->x->tracks[k->x->main];
    bool wide = rd_u32(&r) >> 24 == 1;
    uint32_t id = rd_u32(&r), sizes = rd_u32(&r), n = rd_u32(&r);

    if (r.bad || id != t->id)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t time = number(&r, wide ? 8 : 4), at = number(&r, wide ? 8 : 4);
        uint64_t trun, sample;

        (void)number(&r, (sizes >> 4 & 3) + 1);
        trun = number(&r, (sizes >> 2 & 3) + 1);
        sample = number(&r, (sizes & 3) + 1);
        if (r.bad || trun != 1 || sample != 1 || time > INT64_MAX / 4 || at > INT64_MAX / 4 ||
            !add(k, (int64_t)at, (int64_t)time))
            return false;
    }
    return true;
}

/* [ISO-FF] 8.8.11: the last box of the file contains the size of the list. */
static bool read_mfra(struct known *k)
{
    enum { MFRO = 16 };
    int64_t end = k->x->file_size, size;
    struct mp4_node b;
    struct mp4_top top;
    struct rd r;
    enum demux_status st;
    const uint8_t *p = mp4_window_get(k->w, end - MFRO, MFRO, &st);

    if (!p || mp4_be32(p + 4) != MP4_TYPE('m', 'f', 'r', 'o'))
        return false;
    size = mp4_be32(p + 12);
    if (size > LIST_MAX || size > end ||
        mp4_window_box(k->w, end - size, &top) != DEMUX_OK || top.size != size ||
        top.type != MP4_TYPE('m', 'f', 'r', 'a'))
        return false;
    p = mp4_window_get(k->w, end - size, (size_t)size, &st);
    if (!p)
        return false;
    r = rd_init(p + top.head, (size_t)size - top.head);
    k->x->frags.end = end - size;
    while (mp4_tree_next(&r, &b)) {
        if (b.type == MP4_TYPE('t', 'f', 'r', 'a') && read_tfra(k, b.body))
            return true;
        k->x->frags.n = 0;
    }
    return false;
}

/* [ISO-FF] 8.16.3: each entry must be media, not another list, and start with a key frame. */
static bool read_sidx(struct known *k, struct rd r, int64_t at)
{
    const struct mp4_trak *t = &k->x->tracks[k->x->main];
    bool wide = rd_u32(&r) >> 24 == 1;
    uint32_t id = rd_u32(&r), scale = rd_u32(&r);
    uint64_t time = number(&r, wide ? 8 : 4), skip = number(&r, wide ? 8 : 4);
    uint32_t n = rd_u32(&r) & 0xffff;

    if (r.bad || id != t->id || scale != t->scale || skip > INT64_MAX / 4 || time > INT64_MAX / 4)
        return false;
    at += (int64_t)skip;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t size = rd_u32(&r), lasts = rd_u32(&r), sap = rd_u32(&r) >> 28;

        if (r.bad || size >> 31 || (sap != 9 && sap != 10) || at > k->x->file_size ||
            !add(k, at, (int64_t)time))
            return false;
        at += size;
        time += lasts;
    }
    k->x->frags.end = at;
    return at <= k->x->file_size;
}

/* True if no fragment follows the listed ones. */
static bool is_all(struct known *k)
{
    struct mp4_top b;
    enum demux_status st = mp4_window_box(k->w, k->x->frags.end, &b);

    return st == DEMUX_END || (st == DEMUX_OK && b.type == MP4_TYPE('m', 'f', 'r', 'a'));
}

/* Finds the first moof, and reads a list that comes before it. */
static bool find_first(struct known *k, int64_t from)
{
    struct mp4_top b = { .at = from };

    for (int i = 0; i < OTHERS_MAX && mp4_window_box(k->w, b.at, &b) == DEMUX_OK; i++) {
        k->first = b.at;
        if (b.type == MP4_TYPE('m', 'o', 'o', 'f'))
            return true;
        if (b.type == MP4_TYPE('s', 'i', 'd', 'x') && k->x->frags.n == 0 && b.size <= LIST_MAX) {
            enum demux_status st;
            const uint8_t *p = mp4_window_get(k->w, b.at, (size_t)b.size, &st);

            if (!p || !read_sidx(k, rd_init(p + b.head, (size_t)b.size - b.head), b.at + b.size) ||
                !is_all(k))
                k->x->frags.n = 0;
        }
        b.at += b.size;
    }
    return false;
}

/* ------------------------------------------------------------ checking the list */

/* Checks the first sample of the main track: a key frame, with the same time shift as the others.
 * */
static bool check_first(struct known *k, const struct mp4_entry *e,
                        const struct mp4_moof_sample *s)
{
    int64_t shift = s->dts - e->dts;
    int32_t late = s->offset > 0 ? s->offset : 0;

    if (!s->key || (k->shifted && (shift != k->shift || late != k->late)))
        return false;
    k->shifted = true;
    k->shift = shift;
    k->late = late;
    return true;
}

/* Checks all samples of a group. */
static bool check(struct known *k, uint32_t n)
{
    const struct mp4_frags *f = &k->x->frags;
    int64_t stop = n + 1 < f->n ? f->v[n + 1].at : f->end;
    struct mp4_top b = { .at = f->v[n].at };
    int left = WALK_MAX;
    bool seen = false;

    while (b.at < stop && --left > 0) {
        struct mp4_moof m = { 0 };
        struct mp4_moof_sample s;

        if (mp4_moof_open(&m, k->x, k->w, &b) != DEMUX_OK)
            return false;
        b.at += b.size;
        while (--left > 0 && mp4_moof_next(&m, &s)) {
            mp4_scan_note(k->x, &s);
            if (s.track == k->x->main && !seen && !check_first(k, &f->v[n], &s))
                return false;
            seen |= s.track == k->x->main;
        }
    }
    return seen && b.at == stop && left > 0;
}

/* Checks the first group, the last one, and some in between. */
static bool check_some(struct known *k)
{
    const struct mp4_frags *f = &k->x->frags;
    uint32_t step = f->n / CHECKS + 1;
    int64_t lasts = (f->v[f->n - 1].dts - f->v[0].dts) / k->x->tracks[k->x->main].scale;

    if (f->n < 2 || lasts / (f->n - 1) > APART || f->v[f->n - 1].at >= f->end)
        return false;
    for (uint32_t i = 0; i < f->n - 1; i += step) {
        if (!check(k, i))
            return false;
    }
    return check(k, f->n - 1);
}

bool mp4_known(struct mp4_index *x, struct mp4_window *w, int64_t from, size_t memory)
{
    const struct mp4_index before = *x;
    struct known k = { .x = x, .w = w, .memory = memory };
    bool listed = find_first(&k, from);

    if (listed && x->frags.n == 0)
        listed = read_mfra(&k);
    /* a sidx may be before the first moof, and so may the offsets that it lists */
    if (listed && x->frags.n > 0 && x->frags.v[0].at <= k.first && x->frags.v[0].at >= from &&
        check_some(&k)) {
        for (uint32_t i = 0; i < x->frags.n; i++) {
            x->frags.v[i].dts += k.shift;
            x->frags.v[i].late = k.late;
        }
        return true;
    }
    x->frags.n = 0;
    for (int i = 0; i < DEMUX_TRACKS; i++) {
        x->seen[i] = before.seen[i];
        x->begins[i] = before.begins[i];
        x->ends[i] = before.ends[i];
    }
    return false;
}
