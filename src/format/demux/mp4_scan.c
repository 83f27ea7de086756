/* SPDX-License-Identifier: MIT */
/* mp4_scan.c - scans all fragments of a file for the starts of groups.
 *
 * Reads the moof of each fragment and stores only the positions of key frames, so the size of the
 * index depends on the number of key frames, not of fragments. */
#include "base/mem.h"
#include "format/demux/mp4.h"

#include <stdlib.h>

enum {
    OTHERS_MAX = 1 << 16,         /* boxes that are not part of a fragment */
    SAMPLES_MAX = 1 << 26,        /* per file */
    GOES_ON = DEMUX_GROUP_MAX / 2, /* samples of a group before a new group continues it */
    VIDEO_GAP = 4,                /* key frames of the same quarter of a second share a group */
};

struct scan {
    struct mp4_index *x;
    struct mp4_moof m;
    size_t memory;
    int64_t samples;  /* samples that may still be added */
    unsigned others;  /* other boxes so far */
    uint32_t since;   /* samples in the newest entry */
    bool key;         /* a key frame was seen */
    int64_t newest;   /* dts of the newest entry where play can start */
    enum demux_status st;
    const char *why;
};

bool mp4_scan_add(struct mp4_frags *f, const struct mp4_entry *e)
{
    struct mp4_entry *v = mem_try_room(f->v, f->n, &f->cap, sizeof(*v));

    if (!v)
        return false;
    f->v = v;
    f->v[f->n++] = *e;
    return true;
}

static void add(struct scan *s, const struct mp4_entry *e)
{
    if ((s->x->frags.n + 1) * sizeof(*e) > s->memory) {
        s->st = DEMUX_TOO_LARGE;
        s->why = "its index is too large";
    } else if (!mp4_scan_add(&s->x->frags, e)) {
        s->st = DEMUX_NO_MEMORY;
        s->why = "there is no memory";
    }
    s->since = 0;
}

/* Adds an entry in this moof, at a sample of the main track; NULL: at the start of the moof. */
static void enter(struct scan *s, const struct mp4_entry *moof, const struct mp4_moof_sample *m,
                  bool starts)
{
    struct mp4_frags *f = &s->x->frags;
    struct mp4_entry e = *moof;

    e.starts = starts;
    if (m) {
        e.number = m->number;
        e.dts = m->dts;
        e.late = m->offset > 0 ? m->offset : 0;
    }
    if (f->n > 0 && f->v[f->n - 1].at == e.at && f->v[f->n - 1].number == e.number)
        f->v[f->n - 1] = e; /* replaces an entry that was added before its first sample was known */
    else
        add(s, &e);
}

static void look_at_main(struct scan *s, const struct mp4_entry *moof,
                         const struct mp4_moof_sample *m)
{
    const struct mp4_trak *t = &s->x->tracks[s->x->main];
    int64_t gap = t->video ? t->scale / VIDEO_GAP : t->scale;

    if (m->key && !s->key) { /* all earlier samples are in the first group */
        s->x->frags.v[0].dts = m->dts;
        s->x->frags.v[0].late = m->offset > 0 ? m->offset : 0;
        s->newest = m->dts;
        s->key = true;
    } else if (m->key && m->dts - s->newest >= gap) {
        s->newest = m->dts;
        enter(s, moof, m, true);
    } else if (s->since >= GOES_ON) {
        enter(s, moof, m, false);
    }
}

void mp4_scan_note(struct mp4_index *x, const struct mp4_moof_sample *m)
{
    if (!x->seen[m->track]) {
        x->seen[m->track] = true;
        x->begins[m->track] = m->dts;
    }
    x->ends[m->track] = m->dts + m->duration;
    mp4_moov_early(&x->tracks[m->track], m->offset);
}

/* Scans one fragment. An incomplete one ends the scan: the file is damaged or still being
 * written. */
static enum demux_status one(struct scan *s, struct mp4_window *w, struct mp4_top *b)
{
    struct mp4_entry moof = { .at = b->at };
    struct mp4_moof_sample m;
    enum demux_status st;

    for (int i = 0; i < DEMUX_TRACKS; i++) {
        moof.last[i] = s->m.last[i];
        moof.lasts[i] = s->m.lasts[i];
    }
    st = mp4_moof_open(&s->m, s->x, w, b);
    if (st != DEMUX_OK)
        return st == DEMUX_BROKEN ? DEMUX_END : st;
    s->others += b->type != MP4_TYPE('m', 'o', 'o', 'f') && b->type != MP4_TYPE('m', 'd', 'a', 't');
    for (bool first = true; s->st == DEMUX_OK && mp4_moof_next(&s->m, &m); first = false) {
        if (first && (s->x->frags.n == 0 || s->since >= GOES_ON))
            enter(s, &moof, NULL, s->x->frags.n == 0);
        if (s->st == DEMUX_OK && m.track == s->x->main)
            look_at_main(s, &moof, &m);
        mp4_scan_note(s->x, &m);
        s->since++;
        if (--s->samples < 0) {
            s->st = DEMUX_TOO_LARGE;
            s->why = "it has too many samples";
        }
    }
    return s->others > OTHERS_MAX ? DEMUX_END : s->st;
}

enum demux_status mp4_scan(struct mp4_index *x, struct mp4_window *w, int64_t from,
                           size_t memory, const char **why)
{
    struct scan s = { .x = x, .memory = memory, .st = DEMUX_OK, .why = "it cannot be read" };
    struct mp4_top b = { .at = from };
    enum demux_status st = DEMUX_OK;

    s.samples = x->file_size < SAMPLES_MAX ? x->file_size : SAMPLES_MAX;
    for (int i = 0; i < DEMUX_TRACKS; i++)
        s.m.last[i] = x->seen[i] ? x->ends[i] : 0; /* from the sample tables */
    while (st == DEMUX_OK) {
        st = one(&s, w, &b);
        if (st == DEMUX_OK)
            b.at += b.size;
    }
    x->frags.end = b.at;
    x->frags.keyless = !s.key;
    *why = s.why;
    return st == DEMUX_END ? DEMUX_OK : st;
}
