/* SPDX-License-Identifier: MIT */
/* mp4_table.c - sample tables, used in the form of the file, [ISO-FF] 8.6 and 8.7.
 *
 * Rows of the tables are runs of samples, so the position and time of a sample depend on all
 * samples before it. One pass goes over all of them and stores a mark, the position in all tables,
 * every MP4_MARK samples. Each later lookup takes at most MP4_MARK steps from a mark. */
#include "base/mem.h"
#include "format/demux/mp4.h"

#include <stdlib.h>

enum {
    SAMPLES_MAX = 1 << 25, SECONDS_MAX = 1 << 30,
    EMPTY_MAX = 1024, /* consecutive rows and chunks without a sample that end the track */
};

static uint32_t cell(const struct mp4_rows *r, unsigned width, uint32_t row, unsigned column)
{
    return mp4_be32(r->v + (size_t)row * width + (size_t)column * 4);
}

/* ------------------------------------------------------------ reading tables */

/* Reads a count and rows of `width` bytes; the count is limited to the available bytes. */
static struct mp4_rows take_rows(struct rd r, unsigned width, unsigned head)
{
    struct mp4_rows rows = { 0 };

    (void)rd_take(&r, head);
    rows.n = rd_u32(&r);
    if (r.bad)
        return (struct mp4_rows){ 0 };
    if (rows.n > rd_left(&r) / width)
        rows.n = (uint32_t)(rd_left(&r) / width);
    rows.v = r.p;
    return rows;
}

/* [ISO-FF] 8.7.3: stsz or stz2. */
static void take_sizes(struct mp4_table *t, struct rd stbl)
{
    struct rd r = mp4_tree_find(stbl, MP4_TYPE('s', 't', 's', 'z'));
    bool compact = r.bad;
    uint64_t most;

    if (compact)
        r = mp4_tree_find(stbl, MP4_TYPE('s', 't', 'z', '2'));
    (void)rd_u32(&r);
    t->size = rd_u32(&r);
    t->sizes.n = rd_u32(&r);
    t->size_bits = 32;
    if (compact) {
        t->size_bits = (uint8_t)t->size;
        if (t->size_bits != 4 && t->size_bits != 8 && t->size_bits != 16)
            r.bad = true;
    } else if (t->size > 0) {
        t->size_bits = 0;
    }
    if (r.bad)
        t->sizes.n = 0;
    t->sizes.v = r.p;
    most = t->size_bits ? (uint64_t)rd_left(&r) * 8 / t->size_bits : t->sizes.n;
    if (t->sizes.n > most)
        t->sizes.n = (uint32_t)most;
}

/* Drops rows from the first one on that does not increase. */
static void cut_keys(struct mp4_table *t)
{
    for (uint32_t i = 0; i < t->keys.n; i++) {
        if (cell(&t->keys, 4, i, 0) <= (i > 0 ? cell(&t->keys, 4, i - 1, 0) : 0)) {
            t->keys.n = i;
            return;
        }
    }
}

void mp4_table_take(struct mp4_table *t, struct rd stbl)
{
    struct rd keys = mp4_tree_find(stbl, MP4_TYPE('s', 't', 's', 's'));
    struct rd chunks = mp4_tree_find(stbl, MP4_TYPE('s', 't', 'c', 'o'));
    struct rd stsd = mp4_tree_find(stbl, MP4_TYPE('s', 't', 's', 'd'));

    t->times = take_rows(mp4_tree_find(stbl, MP4_TYPE('s', 't', 't', 's')), 8, 4);
    t->offsets = take_rows(mp4_tree_find(stbl, MP4_TYPE('c', 't', 't', 's')), 8, 4);
    t->runs = take_rows(mp4_tree_find(stbl, MP4_TYPE('s', 't', 's', 'c')), 12, 4);
    t->has_keys = !keys.bad;
    t->keys = take_rows(keys, 4, 4);
    cut_keys(t);
    t->wide = chunks.bad;
    if (t->wide)
        chunks = mp4_tree_find(stbl, MP4_TYPE('c', 'o', '6', '4'));
    t->chunks = take_rows(chunks, t->wide ? 8 : 4, 4);
    take_sizes(t, stbl);
    (void)rd_u32(&stsd);
    t->entries = rd_u32(&stsd);
}

/* ------------------------------------------------------------ a cursor */

static uint64_t chunk_at(const struct mp4_table *t, uint32_t chunk)
{
    if (!t->wide)
        return cell(&t->chunks, 4, chunk, 0);
    return (uint64_t)cell(&t->chunks, 8, chunk, 0) << 32 | cell(&t->chunks, 8, chunk, 1);
}

/* Moves to the start of c->chunk, or of the next chunk that has samples. */
static bool enter_chunk(const struct mp4_table *t, struct mp4_cursor *c)
{
    for (int left = EMPTY_MAX; c->chunk < t->chunks.n && left > 0; c->chunk++, left--) {
        for (; c->chunk_row + 1 < t->runs.n && left > 0; c->chunk_row++, left--) {
            if (cell(&t->runs, 12, c->chunk_row + 1, 0) > c->chunk + 1)
                break;
        }
        if (c->chunk_row >= t->runs.n)
            return false;
        c->chunk_left = cell(&t->runs, 12, c->chunk_row, 1);
        if (c->chunk_left > 0) {
            c->at = chunk_at(t, c->chunk);
            return true;
        }
    }
    return false;
}

/* Skips finished rows. */
static bool enter_row(const struct mp4_rows *rows, uint32_t *row, uint32_t *left)
{
    for (int empty = 0; *left == 0; empty++) {
        if (++*row >= rows->n || empty == EMPTY_MAX)
            return false;
        *left = cell(rows, 8, *row, 0);
    }
    return true;
}

static void enter_offsets(const struct mp4_table *t, struct mp4_cursor *c)
{
    if (c->offset_row < t->offsets.n && !enter_row(&t->offsets, &c->offset_row, &c->offset_left))
        c->offset_row = t->offsets.n;
}

static bool begin(const struct mp4_table *t, struct mp4_cursor *c)
{
    *c = (struct mp4_cursor){ 0 };
    if (t->times.n == 0 || t->sizes.n == 0)
        return false;
    c->time_left = cell(&t->times, 8, 0, 0);
    c->offset_left = t->offsets.n > 0 ? cell(&t->offsets, 8, 0, 0) : 0;
    enter_offsets(t, c);
    return enter_row(&t->times, &c->time_row, &c->time_left) && enter_chunk(t, c);
}

/* Returns the duration of a sample. Some writers store negative numbers by mistake: these count as
 * 0. */
static uint32_t lasts(const struct mp4_table *t, const struct mp4_cursor *c)
{
    uint32_t v = cell(&t->times, 8, c->time_row, 1);

    return v <= INT32_MAX ? v : 0;
}

uint32_t mp4_table_size(const struct mp4_table *t, const struct mp4_cursor *c)
{
    const uint8_t *v = t->sizes.v;

    switch (t->size_bits) {
    case 0:
        return t->size;
    case 4:
        return c->n % 2 ? v[c->n / 2] & 15 : v[c->n / 2] >> 4;
    case 8:
        return v[c->n];
    case 16:
        return (uint32_t)v[(size_t)c->n * 2] << 8 | v[(size_t)c->n * 2 + 1];
    default:
        return cell(&t->sizes, 4, c->n, 0);
    }
}

/* Offsets may be negative, even in version 0, because many writers do that. */
int32_t mp4_table_offset(const struct mp4_table *t, const struct mp4_cursor *c)
{
    return c->offset_row < t->offsets.n ? (int32_t)cell(&t->offsets, 8, c->offset_row, 1) : 0;
}

bool mp4_table_described(const struct mp4_table *t, const struct mp4_cursor *c)
{
    uint32_t entry = cell(&t->runs, 12, c->chunk_row, 2);

    return entry <= 1 || entry > t->entries;
}

bool mp4_table_next(const struct mp4_table *t, struct mp4_cursor *c)
{
    uint32_t size = mp4_table_size(t, c);

    if (c->n + 1 >= t->sizes.n)
        return false;
    c->dts += lasts(t, c);
    c->time_left--;
    if (!enter_row(&t->times, &c->time_row, &c->time_left))
        return false;
    if (c->offset_row < t->offsets.n) {
        c->offset_left--;
        enter_offsets(t, c);
    }
    c->n++;
    c->at += size;
    if (--c->chunk_left > 0)
        return true;
    c->chunk++;
    return enter_chunk(t, c);
}

/* ------------------------------------------------------------ marks */

static bool add_mark(struct mp4_table *t, const struct mp4_cursor *c, size_t *cap)
{
    struct mp4_cursor *more = mem_try_room(t->marks, t->n_marks, cap, sizeof(*more));

    if (!more)
        return false;
    t->marks = more;
    t->marks[t->n_marks++] = *c;
    return true;
}

static bool is_inside(const struct mp4_table *t, const struct mp4_cursor *c, int64_t file_size)
{
    uint32_t size = mp4_table_size(t, c);

    return size > 0 && c->at <= (uint64_t)file_size && size <= (uint64_t)file_size - c->at;
}

static void find_least(struct mp4_table *t)
{
    for (uint32_t i = 0; i < t->offsets.n; i++) {
        int32_t v = (int32_t)cell(&t->offsets, 8, i, 1);

        if (v < t->least)
            t->least = v;
    }
}

enum demux_status mp4_table_build(struct mp4_table *t, int64_t file_size, uint32_t scale,
                                  const char **why)
{
    int64_t most = (int64_t)SECONDS_MAX * scale;
    struct mp4_cursor c;
    size_t cap = 0;
    bool more;

    if (t->size_bits == 0 && t->size > 0 && t->sizes.n > file_size / t->size)
        t->sizes.n = (uint32_t)(file_size / t->size);
    find_least(t);
    more = begin(t, &c);
    *why = "it has too many samples";
    for (; more && c.dts <= most; more = mp4_table_next(t, &c)) {
        if (c.n >= SAMPLES_MAX)
            return DEMUX_TOO_LARGE;
        if (c.n % MP4_MARK == 0 && !add_mark(t, &c, &cap)) {
            *why = "there is no memory";
            return DEMUX_NO_MEMORY;
        }
        if (!is_inside(t, &c, file_size))
            continue;
        t->n = c.n + 1;
        t->end = c.dts + lasts(t, &c);
    }
    return DEMUX_OK;
}

/* n must be below t->n. */
struct mp4_cursor mp4_table_at(const struct mp4_table *t, uint32_t n)
{
    struct mp4_cursor c = t->marks[n / MP4_MARK];

    while (c.n < n && mp4_table_next(t, &c))
        continue;
    return c;
}

uint32_t mp4_table_find(const struct mp4_table *t, int64_t ticks)
{
    uint32_t low = 0, high = t->n_marks;
    struct mp4_cursor c;

    while (low < high) { /* the first mark that is not before it */
        uint32_t middle = low + (high - low) / 2;

        if (t->marks[middle].dts < ticks)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    c = t->marks[low - 1];
    while (c.dts < ticks && c.n < t->n) {
        if (!mp4_table_next(t, &c))
            return t->n;
    }
    return c.n < t->n ? c.n : t->n;
}

/* Returns the number of stss rows for samples up to n. */
static uint32_t keys_up_to(const struct mp4_table *t, uint32_t n)
{
    uint32_t low = 0, high = t->keys.n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (cell(&t->keys, 4, middle, 0) <= n + 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t mp4_table_key(const struct mp4_table *t, uint32_t n)
{
    uint32_t rows, key;

    if (!t->has_keys)
        return n;
    rows = keys_up_to(t, n);
    key = rows > 0 ? cell(&t->keys, 4, rows - 1, 0) - 1 : t->first;
    return key > t->first ? key : t->first;
}

uint32_t mp4_table_next_key(const struct mp4_table *t, uint32_t n)
{
    uint32_t rows, key;

    if (!t->has_keys)
        return n + 1 < t->n ? n + 1 : t->n;
    rows = keys_up_to(t, n);
    key = rows < t->keys.n ? cell(&t->keys, 4, rows, 0) - 1 : t->n;
    return key < t->n ? key : t->n;
}
