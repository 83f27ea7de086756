/* SPDX-License-Identifier: MIT */
/* mp4_moof.c - the samples of a fragment, [ISO-FF] 8.8.4 to 8.8.12. */
#include "format/demux/mp4.h"

enum {
    TFHD_BASE = 1, TFHD_ENTRY = 2, TFHD_DURATION = 8, TFHD_SIZE = 0x10, TFHD_FLAGS = 0x20,
    TFHD_BASE_IS_MOOF = 0x20000,
    TRUN_OFFSET = 1, TRUN_FIRST_FLAGS = 4, TRUN_DURATION = 0x100, TRUN_SIZE = 0x200,
    TRUN_FLAGS = 0x400, TRUN_CTS = 0x800,
    NON_SYNC = 0x10000,
};

#define TICKS_MAX (INT64_C(1) << 60)
#define SECONDS_MAX (INT64_C(1) << 33)

void mp4_moof_begin(struct mp4_moof *m, const struct mp4_index *x, struct rd body, int64_t at,
                    int64_t file_size)
{
    m->x = x;
    m->trafs = body;
    m->truns = m->rows = rd_init(NULL, 0);
    m->left = m->samples = 0;
    m->at = m->data = at;
    m->file_size = file_size;
    for (int i = 0; i < DEMUX_TRACKS; i++) {
        m->number[i] = 0;
        m->time[i] = m->last[i] + m->lasts[i];
    }
}

enum demux_status mp4_moof_open(struct mp4_moof *m, const struct mp4_index *x,
                                struct mp4_window *w, struct mp4_top *b)
{
    enum demux_status st = mp4_window_box(w, b->at, b);
    struct rd body = rd_init(NULL, 0);
    const uint8_t *p;

    if (st != DEMUX_OK)
        return st;
    if (b->type == MP4_TYPE('m', 'o', 'o', 'f')) {
        if (b->cut || b->size > MP4_MOOF_MAX)
            return DEMUX_END;
        p = mp4_window_get(w, b->at, (size_t)b->size, &st);
        if (!p)
            return st;
        body = rd_init(p + b->head, (size_t)b->size - b->head);
    }
    mp4_moof_begin(m, x, body, b->at, x->file_size);
    return DEMUX_OK;
}

static const struct mp4_trak *track(const struct mp4_moof *m)
{
    return &m->x->tracks[m->track];
}

/* Returns the largest valid time. */
static int64_t most(const struct mp4_moof *m)
{
    uint32_t scale = track(m)->scale;

    return scale < TICKS_MAX / SECONDS_MAX ? SECONDS_MAX * scale : TICKS_MAX;
}

static bool find_track(struct mp4_moof *m, uint32_t id)
{
    for (uint8_t i = 0; i < DEMUX_TRACKS; i++) {
        if (m->x->tracks[i].codec.codec && m->x->tracks[i].id == id) {
            m->track = i;
            return true;
        }
    }
    return false;
}

/* [ISO-FF] 8.8.7: data offsets count from the start of the file, of the moof, or from the end of
 * the data of the previous traf. */
static bool read_tfhd(struct mp4_moof *m, struct rd r)
{
    uint32_t flags = rd_u32(&r), id = rd_u32(&r);

    if (r.bad)
        return false;
    m->base = flags & TFHD_BASE ? (int64_t)rd_u64(&r) : flags & TFHD_BASE_IS_MOOF ? m->at : m->data;
    if (r.bad || m->base < 0 || m->base > m->file_size)
        return false;
    m->data = m->base; /* also for tracks that are not played */
    if (!find_track(m, id))
        return false;
    m->duration = track(m)->duration;
    m->size = track(m)->size;
    m->sample_flags = track(m)->flags;
    if (flags & TFHD_ENTRY)
        (void)rd_u32(&r);
    if (flags & TFHD_DURATION)
        m->duration = rd_u32(&r);
    if (flags & TFHD_SIZE)
        m->size = rd_u32(&r);
    if (flags & TFHD_FLAGS)
        m->sample_flags = rd_u32(&r);
    return !r.bad;
}

/* [ISO-FF] 8.8.12; without a tfdt the time continues. */
static bool read_tfdt(struct mp4_moof *m, struct rd r)
{
    uint64_t time;

    if (r.bad)
        return true;
    time = rd_u32(&r) >> 24 == 1 ? rd_u64(&r) : rd_u32(&r);
    if (r.bad || time > (uint64_t)most(m))
        return false;
    m->time[m->track] = (int64_t)time;
    return true;
}

static bool next_traf(struct mp4_moof *m)
{
    struct mp4_node b;

    while (mp4_tree_next(&m->trafs, &b)) {
        struct rd tfdt;

        if (b.type != MP4_TYPE('t', 'r', 'a', 'f'))
            continue;
        tfdt = mp4_tree_find(b.body, MP4_TYPE('t', 'f', 'd', 't'));
        m->truns = b.body;
        if (read_tfhd(m, mp4_tree_find(b.body, MP4_TYPE('t', 'f', 'h', 'd'))) &&
            read_tfdt(m, tfdt))
            return true;
    }
    return false;
}

static uint32_t row_bytes(uint32_t flags)
{
    return (flags & TRUN_DURATION ? 4u : 0) + (flags & TRUN_SIZE ? 4u : 0) +
           (flags & TRUN_FLAGS ? 4u : 0) + (flags & TRUN_CTS ? 4u : 0);
}

/* [ISO-FF] 8.8.8. Any number of samples of size 0 is ignored. */
static bool read_trun(struct mp4_moof *m, struct rd r)
{
    uint32_t n;
    int64_t offset = m->data;

    m->flags = rd_u32(&r) & 0xffffff;
    n = rd_u32(&r);
    if (m->flags & TRUN_OFFSET)
        offset = m->base + (int32_t)rd_u32(&r);
    m->first_flags = m->flags & TRUN_FIRST_FLAGS ? rd_u32(&r) : m->sample_flags;
    m->row = row_bytes(m->flags);
    if (r.bad || offset < 0 || offset > m->file_size)
        return false;
    if (m->row > 0 && n > rd_left(&r) / m->row)
        n = (uint32_t)(rd_left(&r) / m->row);
    if (!(m->flags & TRUN_SIZE) && m->size == 0)
        return false;
    m->data = offset;
    m->rows = r;
    m->left = n;
    m->first = true;
    return n > 0;
}

static bool next_trun(struct mp4_moof *m)
{
    struct mp4_node b;

    while (mp4_tree_next(&m->truns, &b)) {
        if (b.type == MP4_TYPE('t', 'r', 'u', 'n') && read_trun(m, b.body))
            return true;
    }
    return false;
}

/* ------------------------------------------------------------ samples */

static void read_row(struct mp4_moof *m, struct mp4_moof_sample *s)
{
    uint32_t flags = m->first ? m->first_flags : m->sample_flags;

    s->duration = m->flags & TRUN_DURATION ? rd_u32(&m->rows) : m->duration;
    s->size = m->flags & TRUN_SIZE ? rd_u32(&m->rows) : m->size;
    if (m->flags & TRUN_FLAGS)
        flags = rd_u32(&m->rows);
    s->offset = m->flags & TRUN_CTS ? (int32_t)rd_u32(&m->rows) : 0;
    s->key = m->track == DEMUX_AUDIO || !(flags & NON_SYNC);
    s->track = m->track;
    m->first = false;
    m->samples++;
    m->left--;
}

static void count(struct mp4_moof *m, struct mp4_moof_sample *s)
{
    uint8_t i = m->track;

    s->at = m->data;
    m->data += s->size;
    s->number = m->number[i]++;
    s->dts = m->time[i] > m->last[i] ? m->time[i] : m->last[i];
    m->last[i] = s->dts;
    m->lasts[i] = s->duration;
    if (m->time[i] + s->duration <= most(m))
        m->time[i] += s->duration;
}

/* Skips samples that are not completely in the file, and the samples after them in their trun. */
bool mp4_moof_next(struct mp4_moof *m, struct mp4_moof_sample *s)
{
    while (m->samples < MP4_MOOF_SAMPLES) {
        if (m->left == 0 && !next_trun(m)) {
            if (!next_traf(m))
                return false;
            continue;
        }
        read_row(m, s);
        if (s->size > m->file_size - m->data) {
            m->left = 0;
            continue;
        }
        count(m, s);
        if (s->size > 0)
            return true;
    }
    return false;
}
