/* SPDX-License-Identifier: MIT */
/* flv_scan.c - scans the tags of an FLV file to build its index. */
#include "base/mem.h"
#include "format/demux/flv_impl.h"

#include <stdlib.h>
#include <string.h>

enum {
    CONFIG_MAX = 64 * 1024,
    SAMPLES_MAX = DEMUX_GROUP_MAX - 48, /* per group, with space left for configurations */
    TRIES = 32, /* key frames missing in the metadata, after which the metadata is not used */
    ZERO_MAX = 1000,
};

/* ---- growing arrays */

/* Makes room for element n. */
static enum demux_status grow(struct flv_scan *s, void **v, size_t n, size_t *room, size_t each)
{
    size_t before = *room, more = n < before ? 0 : before ? before : 64;
    void *p;

    if (s->x->base.info.memory + more * each > s->memory_max)
        return DEMUX_TOO_LARGE;
    p = mem_try_room(*v, n, room, each);
    if (!p)
        return DEMUX_NO_MEMORY;
    *v = p;
    s->x->base.info.memory += (*room - before) * each;
    return DEMUX_OK;
}

enum demux_status demux_flv_add_entry(struct flv_scan *s, const struct flv_entry *e)
{
    struct flv_index *x = s->x;
    void *v = x->entries;
    enum demux_status st = grow(s, &v, x->n, &x->room, sizeof(*x->entries));

    x->entries = v;
    if (st != DEMUX_OK)
        return st;
    x->entries[x->n] = *e;
    if (x->n > 0 && e->show < x->entries[x->n - 1].show)
        x->entries[x->n].show = x->entries[x->n - 1].show;
    x->n++;
    return DEMUX_OK;
}

static enum demux_status add_config(struct flv_scan *s, const struct flv_seen *seen)
{
    struct flv_index *x = s->x;
    void *v = x->configs;
    enum demux_status st = grow(s, &v, x->n_configs, &x->room_configs, sizeof(*x->configs));

    x->configs = v;
    if (st == DEMUX_OK)
        x->configs[x->n_configs++] = (struct flv_config){
            .at = seen->body, .size = seen->tag.size, .track = seen->track };
    return st;
}

/* ---- decoder configurations */

static void free_now(struct flv_scan *s, unsigned t)
{
    if (s->now[t] != s->x->config[t])
        free(s->now[t]);
    s->now[t] = NULL;
}

void demux_flv_scan_end(struct flv_scan *s)
{
    for (unsigned t = 0; t < DEMUX_TRACKS; t++)
        free_now(s, t);
}

/* Makes a configuration the current one; takes over `data`. */
static enum demux_status change(struct flv_scan *s, const struct flv_seen *seen, uint8_t *data,
                                size_t size)
{
    struct flv_index *x = s->x;
    unsigned t = seen->track;
    struct demux_track *track = &x->base.info.tracks[t];
    bool first = !x->config[t] && track->codec == seen->says.codec;

    free_now(s, t);
    if (first) {
        x->config[t] = data;
        x->config_at[t] = seen->body;
        track->config = data + seen->says.payload;
        track->config_size = size - seen->says.payload;
        track->config_head = (uint8_t)seen->says.payload;
        x->base.info.memory += size;
    }
    s->now[t] = data;
    s->now_size[t] = size;
    return first ? DEMUX_OK : add_config(s, seen);
}

static enum demux_status take_config(struct flv_scan *s, const struct flv_seen *seen)
{
    unsigned t = seen->track;
    size_t size = seen->tag.size;
    enum demux_status st;
    uint8_t *data;

    if (seen->says.track != 0 || size > CONFIG_MAX || size <= seen->says.payload ||
        seen->says.payload > UINT8_MAX)
        return DEMUX_OK;
    data = mem_try(size);
    if (!data)
        return DEMUX_NO_MEMORY;
    st = s->tags.in->read(s->tags.in, seen->body, data, size);
    if (st == DEMUX_OK &&
        (!s->now[t] || s->now_size[t] != size || memcmp(s->now[t], data, size) != 0))
        return change(s, seen, data, size);
    free(data);
    return st;
}

/* ---- frames */

static bool begins_entry(const struct flv_scan *s, const struct flv_seen *seen, int32_t time)
{
    bool can = seen->track == DEMUX_VIDEO ? seen->says.key : !s->seen[DEMUX_VIDEO];

    return s->x->n == 0 || s->since >= SAMPLES_MAX ||
           (can && time - s->entry_time >= FLV_ENTRY_EVERY);
}

static enum demux_status begin_entry(struct flv_scan *s, const struct flv_seen *seen, int32_t time,
                                     int32_t show)
{
    struct flv_entry e = { .at = seen->at, .show = show > time ? show : time };

    for (unsigned t = 0; t < DEMUX_TRACKS; t++) {
        e.last[t] = s->time.v[t].known ? s->time.v[t].last : FLV_TIME_NONE;
        e.shift[t] = s->time.v[t].shift;
    }
    e.starts = s->x->n == 0 || seen->says.key || !s->seen[DEMUX_VIDEO];
    s->entry_time = time;
    s->since = 0;
    return demux_flv_add_entry(s, &e);
}

/* Adds the first key frame. Audio before it belongs to its group. */
static void first_key(struct flv_scan *s, int32_t time, int32_t cts)
{
    struct flv_entry *e = s->x->entries;

    s->first_cts = cts;
    if (time + cts > 0 && time + cts <= ZERO_MAX)
        s->zero = time + cts;
    if (s->x->n == 1 && e->last[DEMUX_VIDEO] == FLV_TIME_NONE) {
        e->last[DEMUX_VIDEO] = time;
        e->shift[DEMUX_VIDEO] = s->time.v[DEMUX_VIDEO].shift;
        e->show = cts > 0 ? time + cts : time;
    }
}

static enum demux_status take_frame(struct flv_scan *s, const struct flv_seen *seen)
{
    unsigned t = seen->track;
    int32_t before = s->time.v[t].last, time = demux_flv_time(&s->time, t, seen->tag.time);
    int32_t show = time + seen->says.cts, step = time - before;
    enum demux_status st = DEMUX_OK;

    if (time >= FLV_TIME_MAX)
        return DEMUX_END;
    if (begins_entry(s, seen, time))
        st = begin_entry(s, seen, time, show);
    if (seen->says.key && s->first_cts == INT32_MIN)
        first_key(s, time, seen->says.cts);
    if (s->seen[t] && step > 0 && step <= FLV_GAP_MAX)
        s->delta[t] = step;
    if (show + s->delta[t] > s->end[t])
        s->end[t] = show + s->delta[t];
    s->seen[t] = true;
    s->samples++;
    s->since++;
    return st;
}

static enum demux_status take(struct flv_scan *s, const struct flv_seen *seen)
{
    struct demux_track *track = &s->x->base.info.tracks[seen->track];

    s->unknown[seen->track] |= seen->unknown;
    if (!seen->media || seen->says.extra)
        return DEMUX_OK;
    if (track->codec == AV_CODEC_NONE)
        track->codec = seen->says.codec;
    return seen->says.config ? take_config(s, seen) : take_frame(s, seen);
}

static enum demux_status try_known(struct flv_scan *s, struct flv_keyframes *k, unsigned *tries,
                                   const struct flv_seen *seen)
{
    enum demux_status st = DEMUX_OK;
    bool taken = false;

    if (k->n == 0 || !seen->media || !seen->says.key)
        return DEMUX_OK;
    st = demux_flv_take_known(s, k, seen, &taken);
    if (taken || ++*tries == TRIES)
        demux_flv_keyframes_free(k);
    return st;
}

enum demux_status demux_flv_scan(struct flv_scan *s, struct flv_keyframes *k)
{
    struct flv_seen seen;
    enum demux_status st = DEMUX_OK;
    unsigned tries = 0;

    s->first_cts = INT32_MIN;
    while (st == DEMUX_OK) {
        s->x->end = s->tags.at;
        st = demux_flv_next(&s->tags, &seen);
        if (st == DEMUX_OK)
            st = take(s, &seen);
        if (st == DEMUX_OK)
            st = try_known(s, k, &tries, &seen);
    }
    return st == DEMUX_END ? DEMUX_OK : st;
}
