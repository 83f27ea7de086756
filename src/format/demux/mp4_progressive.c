/* SPDX-License-Identifier: MIT */
/* mp4_progressive.c - groups of a file with sample tables.
 *
 * A position is a video sample and an audio sample; all samples before them belong to earlier
 * positions. A group goes from a key frame to the next one, with the audio in between. Audio after
 * the last video frame, or without video, is divided about every second. */
#include "format/demux/mp4.h"

struct edge { /* the parts of a position */
    uint32_t video, audio;
};

static demux_position join(struct edge e)
{
    return (demux_position)e.video << 32 | e.audio;
}

static const struct mp4_table *table(const struct mp4_index *x, int track)
{
    return &x->tracks[track].table;
}

static int64_t dts_of(const struct mp4_index *x, int track, int64_t ticks)
{
    return mp4_moov_dts(&x->tracks[track], ticks) + x->shift;
}

/* Returns the first audio sample that is not before that time. */
static uint32_t audio_from(const struct mp4_index *x, int64_t time)
{
    const struct mp4_trak *t = &x->tracks[DEMUX_AUDIO];
    uint32_t n;

    if (t->table.n == 0)
        return 0;
    n = mp4_table_find(&t->table, mp4_moov_ticks(t, time - x->shift));
    return n > t->table.first ? n : t->table.first;
}

static int64_t video_end(const struct mp4_index *x)
{
    return dts_of(x, DEMUX_VIDEO, table(x, DEMUX_VIDEO)->end);
}

/* Returns the first audio sample of the group that starts with that video sample. */
static uint32_t audio_at(const struct mp4_index *x, uint32_t video)
{
    const struct mp4_table *t = table(x, DEMUX_VIDEO);
    struct mp4_cursor c;

    if (video == t->first)
        return table(x, DEMUX_AUDIO)->first;
    if (video >= t->n)
        return audio_from(x, video_end(x));
    c = mp4_table_at(t, video);
    return audio_from(x, dts_of(x, DEMUX_VIDEO, c.dts));
}

/* ------------------------------------------------------------ limits of groups */

/* True if at most about a second of audio follows the last video frame: it belongs to the last
 * group. */
static bool is_short(const struct mp4_index *x, uint32_t tail)
{
    return table(x, DEMUX_AUDIO)->n - tail <= x->tracks[DEMUX_AUDIO].per_second;
}

static struct edge begin_of(const struct mp4_index *x, uint32_t video)
{
    const struct mp4_table *t = table(x, DEMUX_VIDEO);
    struct edge e = { video, audio_at(x, video) };

    if (t->n > 0 && video >= t->n && is_short(x, e.audio))
        e.audio = table(x, DEMUX_AUDIO)->n;
    return e;
}

/* Returns the end of a group without video, which has a fixed number of audio samples. */
static struct edge end_of_audio(const struct mp4_index *x, struct edge e, uint32_t tail)
{
    uint32_t step = x->tracks[DEMUX_AUDIO].per_second, n = table(x, DEMUX_AUDIO)->n;

    if (e.audio < tail)
        e.audio = tail;
    else
        e.audio += step - (e.audio - tail) % step;
    if (e.audio > n)
        e.audio = n;
    return e;
}

/* Returns the end of the group at this position. */
static struct edge end_of(const struct mp4_index *x, struct edge e, bool *starts)
{
    const struct mp4_table *t = table(x, DEMUX_VIDEO);
    uint32_t at = audio_at(x, e.video);

    if (e.video >= t->n && t->n > 0 && is_short(x, at)) { /* the group was too long */
        *starts = false;
        return begin_of(x, e.video);
    }
    if (e.video >= t->n) {
        *starts = e.audio >= at && (e.audio - at) % x->tracks[DEMUX_AUDIO].per_second == 0;
        return end_of_audio(x, e, at);
    }
    *starts = mp4_table_key(t, e.video) == e.video && e.audio == at;
    if (e.audio < at && mp4_table_key(t, e.video) == e.video)
        return (struct edge){ e.video, at }; /* the remaining audio before it */
    return begin_of(x, mp4_table_next_key(t, e.video));
}

demux_position mp4_progressive_seek(const struct mp4_index *x, int64_t time)
{
    const struct mp4_trak *t = &x->tracks[DEMUX_VIDEO];
    const struct mp4_table *b = &t->table;
    uint32_t n, tail, audio, step = x->tracks[DEMUX_AUDIO].per_second;
    struct mp4_cursor c;
    int64_t shown;

    if (b->n == 0 || time >= video_end(x)) {
        tail = audio_at(x, b->n);
        audio = audio_from(x, time + 1);
        if (b->n == 0 || (audio > tail && !is_short(x, tail))) {
            audio = audio > tail ? audio - 1 - tail : 0;
            return join((struct edge){ b->n, tail + audio - audio % step });
        }
    }
    n = mp4_table_find(b, mp4_moov_ticks(t, time - x->shift + 1));
    n = mp4_table_key(b, n > b->first ? n - 1 : b->first);
    c = mp4_table_at(b, n);
    shown = dts_of(x, DEMUX_VIDEO, c.dts) + mp4_moov_cts(t, c.dts, mp4_table_offset(b, &c));
    if (n > b->first && shown > time)
        n = mp4_table_key(b, n - 1);
    return join(begin_of(x, n));
}

int64_t mp4_progressive_time(const struct mp4_index *x, demux_position place, int64_t *pts)
{
    struct edge e = { (uint32_t)(place >> 32), (uint32_t)place };
    int track = e.video < table(x, DEMUX_VIDEO)->n ? DEMUX_VIDEO : DEMUX_AUDIO;
    const struct mp4_table *t = table(x, track);
    uint32_t n = track == DEMUX_VIDEO ? e.video : e.audio;
    struct mp4_cursor c;
    int64_t dts;

    if (n >= t->n) {
        *pts = x->head.info.zero + x->head.info.duration;
        return *pts;
    }
    c = mp4_table_at(t, n);
    dts = dts_of(x, track, c.dts);
    *pts = dts;
    if (track == DEMUX_VIDEO)
        *pts += mp4_moov_cts(&x->tracks[track], c.dts, mp4_table_offset(t, &c));
    return dts;
}

/* ------------------------------------------------------------ a group */

struct side { /* one track of the merge */
    struct mp4_cursor c;
    uint32_t n, end;
    int64_t time;
};

static void look(const struct mp4_index *x, struct side *s, int track)
{
    s->time = s->n < s->end ? dts_of(x, track, s->c.dts) : INT64_MAX;
}

static struct side begin_side(const struct mp4_index *x, int track, uint32_t n, uint32_t end)
{
    struct side s = { .n = n, .end = end };

    if (n < end)
        s.c = mp4_table_at(table(x, track), n);
    look(x, &s, track);
    return s;
}

static bool add(const struct mp4_index *x, struct demux_list *l, const struct side *s, int track,
                bool key)
{
    const struct mp4_table *t = table(x, track);
    uint32_t size = mp4_table_size(t, &s->c);
    struct demux_sample out = { .at = (int64_t)s->c.at, .size = size, .track = (uint8_t)track,
                                .key = key, .dts = s->time };

    if (size == 0 || size > DEMUX_SAMPLE_MAX || !mp4_table_described(t, &s->c) ||
        s->c.at > (uint64_t)x->file_size || size > (uint64_t)x->file_size - s->c.at)
        return true;
    if (track == DEMUX_VIDEO)
        out.cts = mp4_moov_cts(&x->tracks[track], s->c.dts, mp4_table_offset(t, &s->c));
    return demux_list_add(l, &out);
}

/* Adds the samples of both tracks ordered by time, up to their ends. */
static bool merge(const struct mp4_index *x, struct demux_list *l, struct side s[DEMUX_TRACKS])
{
    uint32_t key = s[DEMUX_VIDEO].n;

    if (key >= s[DEMUX_VIDEO].end || mp4_table_key(table(x, DEMUX_VIDEO), key) != key)
        key = UINT32_MAX;
    for (unsigned i = 0; i < DEMUX_GROUP_MAX; i++) {
        int track = s[DEMUX_VIDEO].time <= s[DEMUX_AUDIO].time ? DEMUX_VIDEO : DEMUX_AUDIO;
        struct side *from = &s[track];

        if (from->n >= from->end)
            track = track == DEMUX_VIDEO ? DEMUX_AUDIO : DEMUX_VIDEO;
        from = &s[track];
        if (from->n >= from->end)
            return true;
        if (!add(x, l, from, track, track == DEMUX_AUDIO || from->n == key))
            return false;
        from->n++;
        if (from->n < from->end)
            (void)mp4_table_next(table(x, track), &from->c);
        look(x, from, track);
    }
    return true;
}

/* Returns the number of samples, limited so that the sum of two does not overflow. */
static unsigned how_many(uint32_t from, uint32_t to)
{
    uint32_t n = to > from ? to - from : 0;

    return n < DEMUX_GROUP_MAX ? n : DEMUX_GROUP_MAX;
}

enum demux_status mp4_progressive_group(struct demux_group **out, const struct mp4_index *x,
                                        demux_position place, const char **why)
{
    struct edge e = { (uint32_t)(place >> 32), (uint32_t)place }, end;
    uint32_t videos = table(x, DEMUX_VIDEO)->n, audios = table(x, DEMUX_AUDIO)->n;
    struct demux_list list = { 0 };
    struct side s[DEMUX_TRACKS];
    bool starts;

    *why = "there is no such place";
    if (e.video > videos || e.audio > audios || (e.video == videos && e.audio == audios))
        return DEMUX_END;
    end = end_of(x, e, &starts);
    s[DEMUX_VIDEO] = begin_side(x, DEMUX_VIDEO, e.video, end.video);
    s[DEMUX_AUDIO] = begin_side(x, DEMUX_AUDIO, e.audio, end.audio);
    *why = "there is no memory";
    if (demux_list_expect(&list, how_many(e.video, end.video) + how_many(e.audio, end.audio)) &&
        merge(x, &list, s))
        *out = demux_list_take(&list, place);
    demux_list_drop(&list);
    if (!*out)
        return DEMUX_NO_MEMORY;
    (*out)->starts = starts;
    (*out)->next = join((struct edge){ s[DEMUX_VIDEO].n, s[DEMUX_AUDIO].n });
    (*out)->last = s[DEMUX_VIDEO].n >= videos && s[DEMUX_AUDIO].n >= audios;
    return DEMUX_OK;
}
