/* SPDX-License-Identifier: MIT */
/* flv_group.c - the samples between two entries of an FLV file's index. */
#include "format/demux/flv_impl.h"

/* A position is the number of an entry, and a part of its group. A group has several parts only if
 * the metadata does not list all key frames. */
enum { PART_BITS = 8, PARTS = 1 << PART_BITS, PART_SAMPLES = DEMUX_GROUP_MAX - DEMUX_TRACKS };

struct walk {
    const struct flv_index *x;
    const struct demux_input *in;
    size_t entry;
    unsigned part;
    int64_t end;                /* end of the group's tags */
    int32_t most[DEMUX_TRACKS]; /* start times of the next group */
    struct flv_time time;
    struct flv_tags tags;
    uint64_t seen;              /* samples since the entry */
    bool more;                  /* more samples follow this part */
    struct demux_list list;
};

demux_position demux_flv_seek(const struct demux_index *index, int64_t time)
{
    const struct flv_index *x = (const struct flv_index *)index;
    int64_t ms = time / AV_MS(1);
    size_t low = 0, high = x->n; /* the first entry is before it, or none is */

    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;

        if (x->entries[mid].show <= ms)
            low = mid;
        else
            high = mid;
    }
    while (low > 0 && !x->entries[low].starts)
        low--;
    return (demux_position)low << PART_BITS;
}

int64_t demux_flv_place_time(const struct demux_index *index, demux_position place, int64_t *pts)
{
    const struct flv_index *x = (const struct flv_index *)index;
    size_t i = place >> PART_BITS < x->n ? (size_t)(place >> PART_BITS) : x->n - 1;
    const struct flv_entry *e = &x->entries[i];
    int32_t dts = e->last[e->last[DEMUX_VIDEO] != FLV_TIME_NONE ? DEMUX_VIDEO : DEMUX_AUDIO];

    *pts = AV_MS(e->show);
    return AV_MS(dts);
}

/* ---- times of an entry */

static enum demux_status set_times(struct walk *w)
{
    const struct flv_entry *e = &w->x->entries[w->entry], *next = e + 1;
    bool last = w->entry + 1 == w->x->n;
    int32_t sound = FLV_TIME_NONE, next_audio = FLV_TIME_NONE;
    enum demux_status st = demux_flv_audio_floor(w->x, w->in, w->entry, &sound);

    if (st == DEMUX_OK && !last)
        st = demux_flv_audio_floor(w->x, w->in, w->entry + 1, &next_audio);
    for (unsigned t = 0; t < DEMUX_TRACKS; t++) {
        int32_t from = t == DEMUX_AUDIO ? sound : e->last[t];
        int32_t to = last ? FLV_TIME_NONE : t == DEMUX_AUDIO ? next_audio : next->last[t];

        w->time.v[t].known = from != FLV_TIME_NONE;
        w->time.v[t].last = from != FLV_TIME_NONE ? from : 0;
        w->time.v[t].shift = e->shift[t];
        w->most[t] = to != FLV_TIME_NONE ? to : INT32_MAX;
    }
    return st;
}

static int64_t bounded(const struct walk *w, unsigned track, int32_t time)
{
    return AV_MS(time < w->most[track] ? time : w->most[track]);
}

/* Returns the time of a sample that is not shown: a track that starts later does not start before
 * the other track's time. */
static int64_t time_aside(const struct walk *w, unsigned track)
{
    return bounded(w, track, w->time.v[w->time.v[track].known ? track : 1 - track].last);
}

/* ---- samples */

static enum demux_status add(struct walk *w, const struct demux_sample *s)
{
    uint64_t from = (uint64_t)w->part * PART_SAMPLES;

    w->seen++;
    if (w->seen <= from)
        return DEMUX_OK;
    if (w->seen > from + PART_SAMPLES) {
        w->more = true;
        return DEMUX_END;
    }
    return demux_list_add(&w->list, s) ? DEMUX_OK : DEMUX_NO_MEMORY;
}

/* Adds the current configuration if it differs from the file's first one, for players that start
 * here. */
static enum demux_status add_config(struct walk *w, unsigned track)
{
    const struct flv_index *x = w->x;
    const struct flv_entry *e = &x->entries[w->entry];
    const struct flv_config *config = NULL;
    struct demux_sample s = { .track = (uint8_t)track, .config = true };

    for (size_t i = x->n_configs; !config && i > 0; i--) {
        if (x->configs[i - 1].track == track && x->configs[i - 1].at < e->at)
            config = &x->configs[i - 1];
    }
    if (!config)
        return DEMUX_OK;
    s.at = config->at;
    s.size = config->size;
    s.origin = track == DEMUX_VIDEO ? FLV_VIDEO : FLV_AUDIO;
    s.dts = time_aside(w, track);
    return demux_list_add(&w->list, &s) ? DEMUX_OK : DEMUX_NO_MEMORY;
}

static enum demux_status take(struct walk *w, const struct flv_seen *seen)
{
    bool aside = seen->says.config || seen->says.extra;
    unsigned t = seen->track;
    struct demux_sample s = {
        .at = seen->body, .size = seen->tag.size, .track = seen->track, .origin = seen->tag.type,
        .key = seen->says.key, .config = aside,
    };

    if (!seen->media || seen->body == w->x->config_at[t])
        return DEMUX_OK;
    if (aside)
        s.dts = time_aside(w, t);
    else
        s.dts = bounded(w, t, demux_flv_time(&w->time, t, seen->tag.time));
    return add(w, &s);
}

static enum demux_status walk(struct walk *w)
{
    struct flv_seen seen;
    enum demux_status st = DEMUX_OK;

    for (unsigned t = 0; st == DEMUX_OK && t < DEMUX_TRACKS; t++) {
        if (w->part == 0 && w->x->entries[w->entry].starts)
            st = add_config(w, t);
    }
    while (st == DEMUX_OK && w->tags.at < w->end) {
        st = demux_flv_next(&w->tags, &seen);
        if (st == DEMUX_END) /* a tag was expected */
            return DEMUX_BROKEN;
        if (st == DEMUX_OK)
            st = take(w, &seen);
    }
    return st == DEMUX_END ? DEMUX_OK : st;
}

static enum demux_status finish(struct demux_group **out, struct walk *w, demux_position place)
{
    struct demux_group *g = demux_list_take(&w->list, place);

    if (!g)
        return DEMUX_NO_MEMORY;
    w->more = w->more && w->part + 1 < PARTS;
    g->next = w->more ? place + 1 : (demux_position)(w->entry + 1) << PART_BITS;
    g->last = !w->more && w->entry + 1 == w->x->n;
    g->starts = w->part == 0 && w->x->entries[w->entry].starts;
    *out = g;
    return DEMUX_OK;
}

enum demux_status demux_flv_group(struct demux_group **out, const struct demux_index *index,
                                  const struct demux_input *in, demux_position place,
                                  const char **why)
{
    const struct flv_index *x = (const struct flv_index *)index;
    struct walk w = { .x = x, .in = in, .entry = (size_t)(place >> PART_BITS),
                      .part = (unsigned)place % PARTS };
    enum demux_status st;

    if (place >> PART_BITS >= x->n)
        return DEMUX_END;
    w.end = w.entry + 1 < x->n ? x->entries[w.entry + 1].at : x->end;
    demux_flv_tags(&w.tags, in, x->entries[w.entry].at, x->end);
    st = set_times(&w);
    if (st == DEMUX_OK)
        st = walk(&w);
    if (st == DEMUX_OK)
        return finish(out, &w, place);
    demux_list_drop(&w.list);
    *why = st == DEMUX_BROKEN ? "no FLV tag where one was" : "an FLV tag cannot be read";
    return st;
}
