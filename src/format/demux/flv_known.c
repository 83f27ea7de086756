/* SPDX-License-Identifier: MIT */
/* flv_known.c - uses the key frames listed in an FLV file's metadata: a film of two hours opens
 * with a few reads instead of a scan over half a million tags.
 *
 * Some listed key frames are checked; then the whole list is used, or nothing of it. The list does
 * not have the audio time at a key frame, so that is read when the group is played; bounds on both
 * sides ensure that times do not decrease from one group to the next.
 */
#include "format/demux/flv_impl.h"

enum {
    PROBES = 8,
    SILENT = 50,      /* a file whose first samples have no audio has none */
    TIME_OFF_MAX = 5, /* largest difference of a tag's time from the list, ms */
    AUDIO_OFF_MAX = 300,
};

/* Returns the time of a listed key frame in ms of the file's clock; -1: it is invalid. */
static int32_t time_of(const struct flv_keyframes *k, size_t i, double offset)
{
    double ms = k->time[i] * 1000 + offset;

    return ms >= 0 && ms < FLV_TIME_MAX ? (int32_t)(ms + 0.5) : -1;
}

static int64_t place_of(const struct flv_keyframes *k, size_t i, int64_t end)
{
    double at = k->at[i];

    return at >= 0 && at < (double)end ? (int64_t)at : -1;
}

/* Returns the index of the listed key frame at that offset, or k->n. Called for a few key frames at
 * the start of the file. */
static size_t find(const struct flv_keyframes *k, int64_t at)
{
    size_t i = 0;

    while (i < k->n && k->at[i] != (double)at)
        i++;
    return i;
}

/* Checks that the entry is a key frame with about that time, after audio with about the same
 * time. */
static enum demux_status probe(struct flv_scan *s, const struct flv_entry *e, bool *fine)
{
    struct flv_tags t;
    struct flv_seen seen;
    uint32_t sound = 0;
    int32_t off;
    enum demux_status st;

    *fine = false;
    demux_flv_tags(&t, s->tags.in, e->at, s->tags.end);
    st = demux_flv_next(&t, &seen);
    if (st != DEMUX_OK)
        return st == DEMUX_END ? DEMUX_OK : st;
    off = (int32_t)(seen.tag.time + e->shift[DEMUX_VIDEO] - (uint32_t)e->last[DEMUX_VIDEO]);
    if (!seen.media || seen.track != DEMUX_VIDEO || !seen.says.key || off < -TIME_OFF_MAX ||
        off > TIME_OFF_MAX)
        return DEMUX_OK;
    *fine = true;
    if (!s->seen[DEMUX_AUDIO])
        return DEMUX_OK;
    st = demux_flv_audio_before(s->tags.in, s->x->begin, e->at, &sound);
    off = (int32_t)(sound + e->shift[DEMUX_AUDIO] - (uint32_t)e->last[DEMUX_VIDEO]);
    *fine = st == DEMUX_OK && off > -AUDIO_OFF_MAX && off < AUDIO_OFF_MAX;
    return st == DEMUX_END ? DEMUX_OK : st;
}

/* Adds entries for the listed key frames from number i on, while they are plausible. */
static enum demux_status add_all(struct flv_scan *s, const struct flv_keyframes *k, size_t i,
                                 double offset, struct flv_entry *last)
{
    int32_t sound = s->time.v[DEMUX_AUDIO].last; /* later audio times are not below this */
    struct flv_entry e = *last;
    enum demux_status st = DEMUX_OK;

    while (st == DEMUX_OK && ++i < k->n) {
        int32_t time = time_of(k, i, offset);
        int64_t at = place_of(k, i, s->tags.end);

        if (time < 0 || at <= e.at || time < e.last[DEMUX_VIDEO] ||
            time - last->last[DEMUX_VIDEO] > FLV_GAP_MAX)
            break;
        if (time - last->last[DEMUX_VIDEO] < FLV_ENTRY_EVERY || time < sound + FLV_ENTRY_EVERY / 2)
            continue;
        e.at = at;
        e.last[DEMUX_VIDEO] = time;
        e.show = time + (s->first_cts > 0 ? s->first_cts : 0);
        *last = e;
        st = demux_flv_add_entry(s, &e);
    }
    return st;
}

static enum demux_status probe_all(struct flv_scan *s, size_t from, bool *fine)
{
    const struct flv_index *x = s->x;
    size_t n = x->n - from;
    enum demux_status st = DEMUX_OK;

    *fine = n > 0;
    for (size_t i = 0; st == DEMUX_OK && *fine && i < PROBES; i++)
        st = probe(s, &x->entries[from + (n - 1) * i / (PROBES - 1)], fine);
    return st;
}

/* Lets the scan continue at the last listed key frame, which it then adds itself. */
static enum demux_status go_on(struct flv_scan *s)
{
    struct flv_index *x = s->x;
    const struct flv_entry *e = &x->entries[x->n - 1];
    int32_t sound = FLV_TIME_NONE;
    enum demux_status st = DEMUX_OK;

    if (s->seen[DEMUX_AUDIO])
        st = demux_flv_audio_floor(x, s->tags.in, x->n - 1, &sound);
    if (st != DEMUX_OK)
        return st;
    demux_flv_tags(&s->tags, s->tags.in, e->at, s->tags.end);
    s->time.v[DEMUX_VIDEO].last = e->last[DEMUX_VIDEO];
    if (sound != FLV_TIME_NONE)
        s->time.v[DEMUX_AUDIO].last = sound;
    s->since = 0;
    s->entry_time = e->last[DEMUX_VIDEO] - FLV_ENTRY_EVERY;
    x->n--;
    return DEMUX_OK;
}

enum demux_status demux_flv_take_known(struct flv_scan *s, const struct flv_keyframes *k,
                                       const struct flv_seen *key, bool *taken)
{
    struct flv_index *x = s->x;
    bool sound = s->seen[DEMUX_AUDIO];
    size_t from = x->n, i;
    int32_t now = s->time.v[DEMUX_VIDEO].last;
    struct flv_entry e = { .at = key->at, .starts = true };
    enum demux_status st;

    *taken = false;
    if (!sound && (k->audio || s->samples < SILENT))
        return DEMUX_OK;
    i = find(k, key->at);
    if (i == k->n)
        return DEMUX_OK;
    e.last[DEMUX_VIDEO] = now;
    e.last[DEMUX_AUDIO] = sound ? FLV_TIME_LOOK : FLV_TIME_KEY;
    e.shift[DEMUX_VIDEO] = s->time.v[DEMUX_VIDEO].shift;
    e.shift[DEMUX_AUDIO] = s->time.v[sound ? DEMUX_AUDIO : DEMUX_VIDEO].shift;
    st = add_all(s, k, i, now - k->time[i] * 1000, &e);
    if (st == DEMUX_OK)
        st = probe_all(s, from, taken);
    if (st == DEMUX_OK && *taken)
        return go_on(s);
    x->n = from;
    return st;
}

/* ---- audio */

static int32_t between(const struct flv_index *x, size_t a, size_t b)
{
    return (int32_t)(((int64_t)x->entries[a].last[DEMUX_VIDEO] +
                      x->entries[b].last[DEMUX_VIDEO]) / 2);
}

/* Entries with an audio time and entries without one form separate ranges. */
enum demux_status demux_flv_audio_floor(const struct flv_index *x, const struct demux_input *in,
                                        size_t entry, int32_t *out)
{
    const struct flv_entry *e = &x->entries[entry];
    int32_t time = e->last[DEMUX_VIDEO], low, high;
    enum demux_status st;
    uint32_t raw;

    *out = e->last[e->last[DEMUX_AUDIO] == FLV_TIME_KEY ? DEMUX_VIDEO : DEMUX_AUDIO];
    if (*out != FLV_TIME_LOOK)
        return DEMUX_OK;
    st = demux_flv_audio_before(in, x->begin, e->at, &raw);
    if (st != DEMUX_OK && st != DEMUX_END)
        return st;
    low = entry > 0 ? between(x, entry - 1, entry) : 0;
    if (entry > 0 && low < e[-1].last[DEMUX_AUDIO])
        low = e[-1].last[DEMUX_AUDIO];
    high = entry + 1 < x->n ? between(x, entry, entry + 1) : time;
    if (st == DEMUX_OK)
        time += (int32_t)(raw + e->shift[DEMUX_AUDIO] - (uint32_t)time);
    *out = time < low ? low : time > high ? high : time;
    return DEMUX_OK;
}
