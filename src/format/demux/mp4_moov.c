/* SPDX-License-Identifier: MIT */
/* mp4_moov.c - the tracks of an MP4 file, [ISO-FF] 8.2 to 8.8: selection and timing. */
#include "av/packet.h"
#include "base/mem.h"
#include "format/demux/mp4.h"

#include <stdlib.h>
#include <string.h>

enum {
    PREROLL = 10,   /* audio before the presented part: 1/PREROLL seconds */
    BACK_MAX = 16,  /* key frames that are tried as the first one */
    EARLY_MAX = 10, /* seconds */
    CTS_MAX = 1 << 30,
    PER_SECOND_MAX = DEMUX_GROUP_MAX / 2,
};

#define SECONDS_MAX (INT64_C(1) << 30) /* longest duration of samples in tables */
#define TIME_MAX (SECONDS_MAX * AV_CLOCK)

/* ------------------------------------------------------------ times */

static int64_t floor_div(int64_t a, int64_t b, int64_t *rest)
{
    int64_t q = a / b;

    *rest = a % b;
    if (*rest < 0) {
        *rest += b;
        q--;
    }
    return q;
}

/* Converts between clocks, rounded down, in steps that do not overflow. */
static int64_t convert(int64_t t, int64_t from, int64_t to)
{
    int64_t rest, whole = floor_div(t, from, &rest);

    return whole * to + rest * to / from;
}

int64_t mp4_moov_time(const struct mp4_trak *t, int64_t ticks)
{
    return convert(ticks - t->from, t->scale, AV_CLOCK) + t->wait;
}

int64_t mp4_moov_dts(const struct mp4_trak *t, int64_t ticks)
{
    return mp4_moov_time(t, ticks - t->early);
}

int32_t mp4_moov_cts(const struct mp4_trak *t, int64_t ticks, int32_t offset)
{
    int64_t cts = mp4_moov_time(t, ticks + offset) - mp4_moov_dts(t, ticks);

    if (cts > CTS_MAX || cts < -CTS_MAX)
        return 0;
    return (int32_t)cts;
}

/* An offset that would shift all times by more than EARLY_MAX is an error of the file. */
void mp4_moov_early(struct mp4_trak *t, int32_t offset)
{
    int64_t early = -(int64_t)offset;

    if (early > t->early && early <= (int64_t)EARLY_MAX * t->scale)
        t->early = early;
}

int64_t mp4_moov_ticks(const struct mp4_trak *t, int64_t dts)
{
    int64_t x = dts - t->wait, rest, whole;

    if (x > TIME_MAX || x < -TIME_MAX)
        x = x > 0 ? TIME_MAX : -TIME_MAX;
    whole = floor_div(x, AV_CLOCK, &rest);
    return whole * t->scale + (rest * t->scale + AV_CLOCK - 1) / AV_CLOCK + t->from +
           t->early;
}

/* [ISO-FF] 8.6.6: empty edits, which delay the track, and the presented part of the media. Gaps
 * between several edits are played too. */
static void read_edits(struct mp4_trak *t, struct rd r, uint32_t movie_scale)
{
    bool wide = rd_u8(&r) == 1, media = false;
    uint32_t n;

    (void)rd_u24(&r);
    n = rd_u32(&r);
    for (uint32_t i = 0; i < n && rd_left(&r) >= (wide ? 20u : 12u); i++) {
        uint64_t lasts = wide ? rd_u64(&r) : rd_u32(&r);
        int64_t from = wide ? (int64_t)rd_u64(&r) : (int32_t)rd_u32(&r);

        (void)rd_u32(&r);
        if (lasts / movie_scale > SECONDS_MAX || from / t->scale > SECONDS_MAX)
            return;
        if (from == -1 && !media)
            t->wait += convert((int64_t)lasts, movie_scale, AV_CLOCK);
        if (t->wait > TIME_MAX)
            t->wait = TIME_MAX;
        if (from < 0)
            continue;
        if (!media)
            t->from = from;
        media = true;
        t->to = lasts == 0 ? INT64_MAX : from + convert((int64_t)lasts, movie_scale, t->scale) + 1;
    }
}

/* ------------------------------------------------------------ a track */

static void read_head(struct mp4_trak *t, struct rd tkhd, struct rd mdhd, struct rd hdlr)
{
    uint32_t word = rd_u32(&tkhd);
    const uint8_t *type;

    t->enabled = word & 1;
    (void)rd_take(&tkhd, word >> 24 == 1 ? 16 : 8);
    t->id = rd_u32(&tkhd);
    (void)rd_take(&tkhd, 4 + (word >> 24 == 1 ? 8 : 4) + 16 + 36);
    t->width = rd_u32(&tkhd) >> 16;
    t->height = rd_u32(&tkhd) >> 16;
    (void)rd_take(&mdhd, rd_u32(&mdhd) >> 24 == 1 ? 16 : 8);
    t->scale = rd_u32(&mdhd);
    (void)rd_take(&hdlr, 8);
    type = rd_take(&hdlr, 4);
    t->video = type && memcmp(type, "vide", 4) == 0;
    if (!type || (!t->video && memcmp(type, "soun", 4) != 0))
        t->scale = 0;
}

/* Reads a track. It gets no codec if it cannot be played. False: out of memory. */
static bool read_trak(struct mp4_trak *t, struct rd trak, uint32_t movie_scale)
{
    struct rd mdia = mp4_tree_find(trak, MP4_TYPE('m', 'd', 'i', 'a'));
    struct rd minf = mp4_tree_find(mdia, MP4_TYPE('m', 'i', 'n', 'f'));
    struct rd stbl = mp4_tree_find(minf, MP4_TYPE('s', 't', 'b', 'l'));
    struct rd edts = mp4_tree_find(trak, MP4_TYPE('e', 'd', 't', 's'));

    *t = (struct mp4_trak){ .to = INT64_MAX };
    read_head(t, mp4_tree_find(trak, MP4_TYPE('t', 'k', 'h', 'd')),
              mp4_tree_find(mdia, MP4_TYPE('m', 'd', 'h', 'd')),
              mp4_tree_find(mdia, MP4_TYPE('h', 'd', 'l', 'r')));
    if (t->scale == 0 || stbl.bad)
        return true;
    t->stsd = mp4_tree_find(stbl, MP4_TYPE('s', 't', 's', 'd'));
    if (!mp4_codec_read(&t->codec, t->video, t->stsd))
        return false;
    mp4_table_take(&t->table, stbl);
    read_edits(t, mp4_tree_find(edts, MP4_TYPE('e', 'l', 's', 't')), movie_scale);
    return true;
}

void mp4_moov_drop(struct mp4_trak *t)
{
    free(t->codec.config);
    free(t->table.marks);
    *t = (struct mp4_trak){ 0 };
}

/* Prefers the first track of its kind, but an enabled track over a disabled one. */
static void choose(struct mp4_index *x, struct mp4_trak *t)
{
    struct mp4_trak *old = &x->tracks[t->video ? DEMUX_VIDEO : DEMUX_AUDIO];

    if (!t->codec.codec || (old->codec.codec && (old->enabled || !t->enabled))) {
        x->head.info.left_out++;
        mp4_moov_drop(t);
        return;
    }
    if (old->codec.codec)
        x->head.info.left_out++;
    mp4_moov_drop(old);
    *old = *t;
}

/* ------------------------------------------------------------ the part to play */

/* Returns the sample from which a decoder must start to output the first presented frame. Audio
 * needs a short preroll. */
static uint32_t first_sample(const struct mp4_trak *t)
{
    const struct mp4_table *b = &t->table;
    uint32_t n = mp4_table_find(b, t->from + (t->video ? 1 : -(int64_t)(t->scale / PREROLL)));
    struct mp4_cursor c;

    if (!t->video)
        return n < b->n ? n : 0;
    if (b->has_keys && b->keys.n == 0)
        return 0;
    n = mp4_table_key(b, n > 0 ? n - 1 : 0);
    for (int i = 0; i < BACK_MAX && n > 0; i++) { /* frames may be shown later than decoded */
        c = mp4_table_at(b, n);
        if (c.dts + mp4_table_offset(b, &c) <= t->from)
            break;
        n = mp4_table_key(b, n - 1);
    }
    return b->has_keys && n < mp4_be32(b->keys.v) - 1 ? mp4_be32(b->keys.v) - 1 : n;
}

static void limit_to_edits(struct mp4_trak *t)
{
    struct mp4_table *b = &t->table;
    uint32_t n;

    if (t->from >= b->end) { /* no sample would remain */
        t->from = 0;
        t->to = INT64_MAX;
    }
    b->first = first_sample(t);
    if (t->to < b->end) {
        n = mp4_table_find(b, t->to);
        b->n = n > b->first ? n : b->n;
        b->end = b->n == n ? t->to : b->end;
    }
    if (b->first >= b->n)
        b->first = b->n = 0;
}

static enum demux_status build(struct mp4_index *x, int64_t file_size, const char **why)
{
    for (int i = 0; i < DEMUX_TRACKS; i++) {
        struct mp4_trak *t = &x->tracks[i];
        struct mp4_table *b = &t->table;
        enum demux_status st;
        int64_t lasts;

        if (!t->codec.codec)
            continue;
        st = mp4_table_build(b, file_size, t->scale, why);
        if (st != DEMUX_OK)
            return st;
        mp4_moov_early(t, b->least);
        if (b->n > 0)
            limit_to_edits(t);
        lasts = b->end / t->scale;
        t->per_second = lasts > 0 && b->n / lasts < PER_SECOND_MAX ? (uint32_t)(b->n / lasts)
                                                                   : PER_SECOND_MAX;
        if (t->per_second == 0)
            t->per_second = 1;
    }
    return DEMUX_OK;
}

/* [ISO-FF] 8.8.3 */
static void read_mvex(struct mp4_index *x, struct rd mvex)
{
    struct mp4_node b;

    x->fragmented = !mvex.bad;
    while (mp4_tree_next(&mvex, &b)) {
        uint32_t id;

        if (b.type != MP4_TYPE('t', 'r', 'e', 'x') || rd_left(&b.body) < 24)
            continue;
        (void)rd_u32(&b.body);
        id = rd_u32(&b.body);
        (void)rd_u32(&b.body);
        for (int i = 0; i < DEMUX_TRACKS; i++) {
            struct mp4_trak *t = &x->tracks[i];

            if (t->codec.codec && t->id == id) {
                t->duration = rd_u32(&b.body);
                t->size = rd_u32(&b.body);
                t->flags = rd_u32(&b.body);
            }
        }
    }
}

static uint32_t movie_scale(struct rd moov)
{
    struct rd mvhd = mp4_tree_find(moov, MP4_TYPE('m', 'v', 'h', 'd'));
    uint32_t scale;

    (void)rd_take(&mvhd, rd_u32(&mvhd) >> 24 == 1 ? 16 : 8);
    scale = rd_u32(&mvhd);
    return scale > 0 ? scale : 1000;
}

enum demux_status mp4_moov_read(struct mp4_index *x, struct rd moov, int64_t file_size,
                                const char **why)
{
    struct rd r = moov;
    uint32_t scale = movie_scale(moov);
    struct mp4_node b;

    while (mp4_tree_next(&r, &b)) {
        struct mp4_trak t;

        if (b.type != MP4_TYPE('t', 'r', 'a', 'k'))
            continue;
        if (!read_trak(&t, b.body, scale)) {
            *why = "there is no memory";
            return DEMUX_NO_MEMORY;
        }
        choose(x, &t);
    }
    *why = "no track of it can be played";
    if (!x->tracks[DEMUX_VIDEO].codec.codec && !x->tracks[DEMUX_AUDIO].codec.codec)
        return DEMUX_UNSUPPORTED;
    x->main = x->tracks[DEMUX_VIDEO].codec.codec ? DEMUX_VIDEO : DEMUX_AUDIO;
    read_mvex(x, mp4_tree_find(moov, MP4_TYPE('m', 'v', 'e', 'x')));
    return build(x, file_size, why);
}

/* ------------------------------------------------------------ keeping the needed parts */

static size_t bytes_of(const struct mp4_table *t, int i)
{
    const size_t bits[MP4_TABLES] = { 64, 64, 96, 32, t->wide ? 64 : 32, t->size_bits };

    return ((size_t)t->rows[i].n * bits[i] + 7) / 8;
}

void mp4_moov_shrink(struct mp4_index *x)
{
    size_t n = 0;
    uint8_t *to, *less;

    for (int i = 0; i < DEMUX_TRACKS * MP4_TABLES; i++)
        n += bytes_of(&x->tracks[i / MP4_TABLES].table, i % MP4_TABLES);
    if (n > x->tables_size - x->tables_size / 4)
        return;
    less = mem_try(n > 0 ? n : 1);
    if (!less)
        return;
    to = less;
    for (int i = 0; i < DEMUX_TRACKS * MP4_TABLES; i++) {
        struct mp4_table *t = &x->tracks[i / MP4_TABLES].table;
        size_t bytes = bytes_of(t, i % MP4_TABLES);

        if (bytes > 0)
            memcpy(to, t->rows[i % MP4_TABLES].v, bytes);
        t->rows[i % MP4_TABLES].v = to;
        to += bytes;
    }
    free(x->tables);
    x->tables = less;
    x->tables_size = n;
}
