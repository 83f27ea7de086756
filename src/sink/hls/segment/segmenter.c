/* SPDX-License-Identifier: MIT */
/* segmenter.c - decides where segments and parts begin and end. */
#include "sink/hls/segment/segmenter.h"

#include "format/playlist/m3u8.h"

#define SLACK AV_MS(100)     /* a key frame may be this early and still end a segment */
#define GAP AV_MS(5000)      /* longest gap that stays; or the fragment if that is longer */
#define FRAGMENT AV_MS(1000)
#define YOUNG AV_MS(1000)
#define VIDEO_STOPPED AV_MS(2000)
#define ROUNDED AV_MS(2)     /* tolerance, since times in files are rounded to 1 ms */

enum { WALL_SLACK = 3000 };  /* largest drift of the stream from the wall clock, ms */

/* ---- the stream's own time: without the jumps and gaps of the input */

#define BACK AV_MS(1000)  /* a larger step back is a jump, a smaller one is reordering */
#define FRAME AV_MS(40)   /* assumed duration of the first frame */

static void time_restart(struct hls_time *t)
{
    t->started = false;
}

/* Returns the end of all frames so far. */
static int64_t time_end(const struct hls_time *t)
{
    int64_t end = 0;

    for (int k = 0; k < 2; k++) {
        int64_t mine = t->last[k] + (t->usual[k] ? t->usual[k] : FRAME);

        if (t->seen[k] && mine > end)
            end = mine;
    }
    return end;
}

static bool jumps(const struct hls_time *t, int k, int64_t at, int64_t gap_max)
{
    int64_t newest = t->last[0] > t->last[1] ? t->last[0] : t->last[1];

    if (!t->seen[0] && !t->seen[1])
        return false;
    return (t->seen[k] ? at < t->last[k] - BACK : at < newest - BACK - gap_max) ||
           at > newest + gap_max;
}

/* Moves the frame to the stream's own time. A gap of up to gap_max is kept. */
static void time_apply(struct hls_time *t, struct frame *f, int64_t gap_max)
{
    int k = f->kind == AV_VIDEO ? 0 : 1;
    int64_t at = f->dts + t->offset, cts = f->pts - f->dts;

    if (!t->started || jumps(t, k, at, gap_max)) {
        t->offset = time_end(t) - f->dts;
        at = f->dts + t->offset;
        t->started = true;
    }
    if (t->seen[k] && at <= t->last[k])
        at = t->last[k] + 1;
    if (at < 0)
        at = 0;
    if (t->seen[k] && at - t->last[k] > 1 && at - t->last[k] < AV_MS(1000))
        t->usual[k] = at - t->last[k];
    t->last[k] = at;
    t->seen[k] = true;
    f->dts = at;
    f->pts = at + cts;
}

/* ---- segments */

void segmenter_restart(struct segmenter *g, bool goes_on)
{
    time_restart(&g->time);
    g->wall_base = 0;
    g->has_video = g->audio_alone = false;
    g->key_interval = 0;
    g->key_at = g->waiting_at = -1;
    g->discontinuity = goes_on;
}

void segmenter_forget(struct segmenter *g)
{
    g->promised = false;
}

int64_t segmenter_end(const struct segmenter *g)
{
    return time_end(&g->time);
}

bool segmenter_is_young(const struct segmenter *g)
{
    return g->open && segmenter_end(g) - g->now.at < YOUNG;
}

/* ------------------------------------------------------------ frames */

static void learn_key(struct segmenter *g, const struct frame *f)
{
    g->has_video = true;
    g->audio_alone = false;
    if (!f->key)
        return;
    if (g->key_at >= 0)
        g->key_interval = f->dts - g->key_at;
    g->key_at = f->dts;
}

void segmenter_time(struct segmenter *g, struct frame *f)
{
    time_apply(&g->time, f, g->rules.fragment > GAP ? g->rules.fragment : GAP);
    if (f->kind == AV_VIDEO)
        learn_key(g, f);
}

/* Returns false if only audio is left, for example after a camera was turned off. */
static bool has_video(const struct segmenter *g, int64_t at)
{
    int64_t patience = g->rules.fragment > VIDEO_STOPPED ? g->rules.fragment : VIDEO_STOPPED;

    return g->has_video && (!g->time.seen[0] || at - g->time.last[0] <= patience);
}

/* ------------------------------------------------------------ the end of a segment */

static int64_t fragment_ms(const struct segmenter *g)
{
    return av_to_ms(g->rules.fragment);
}

/* Returns true if the next key frame would be too late for the published target duration. */
static bool next_is_late(const struct segmenter *g, int64_t lasts)
{
    return g->promised && g->key_interval > 0 && lasts >= g->rules.fragment / 2 &&
           m3u8_seconds(lasts + g->key_interval) > g->target;
}

static bool video_ends_it(const struct segmenter *g, const struct frame *f, int64_t lasts)
{
    int64_t quarter = g->rules.fragment / 4;
    int64_t slack = !f->key ? 0 : quarter < SLACK ? quarter : SLACK;

    if (!f->key && g->rules.wait_keyframe)
        return false;
    if (g->rules.floor && fragment_ms(g) > 0)
        return (g->wall_base + av_to_ms(f->dts)) / fragment_ms(g) > g->floor;
    return lasts >= g->rules.fragment - slack || (f->key && next_is_late(g, lasts));
}

static bool ends_it(const struct segmenter *g, const struct frame *f)
{
    int64_t lasts = f->dts - g->now.at;

    if (f->kind == AV_VIDEO)
        return video_ends_it(g, f, lasts);
    if (has_video(g, f->dts))
        return false;
    return (double)lasts >= (double)g->rules.fragment * g->rules.audio_ratio;
}

/* Low latency: returns true if another frame would make the part longer than the part target. */
static bool part_ends(const struct segmenter *g, const struct frame *f)
{
    int64_t usual = g->time.usual[f->kind == AV_VIDEO ? 0 : 1];
    int64_t lasts = f->dts - g->part_begin;

    if (!g->part_open || (f->kind == AV_AUDIO && has_video(g, f->dts)))
        return false;
    if (g->rules.parts == SEGMENTER_FRAGMENTS)
        return lasts >= FRAGMENT;
    if (g->part_listed)
        return lasts + usual > g->part_target;
    return lasts + usual / 2 > g->rules.part;
}

static bool may_begin(struct segmenter *g, const struct frame *f)
{
    if (g->waiting_at < 0)
        g->waiting_at = f->dts;
    if (!g->rules.wait_keyframe || !g->has_video)
        return true;
    if (f->kind == AV_VIDEO)
        return f->key;
    return !has_video(g, f->dts) &&
           (g->audio_alone || f->dts - g->waiting_at > g->rules.fragment + VIDEO_STOPPED);
}

enum segmenter_todo segmenter_next(struct segmenter *g, const struct frame *f, unsigned how)
{
    bool may_end = how & SEGMENTER_FULL || (!(how & SEGMENTER_NO_END) && ends_it(g, f));

    if (g->open && f->dts != g->now.at && may_end) {
        g->audio_alone = f->kind == AV_AUDIO && !has_video(g, f->dts);
        return SEGMENTER_END;
    }
    if (!g->open)
        return may_begin(g, f) ? SEGMENTER_BEGIN : SEGMENTER_SKIP;
    if (!(how & SEGMENTER_NO_PART) && part_ends(g, f)) {
        g->part_open = false;
        return SEGMENTER_PART;
    }
    if (g->rules.parts != SEGMENTER_WHOLE && !g->part_open) {
        g->part_open = true;
        g->part_begin = f->dts;
        g->part_independent = f->kind == AV_AUDIO || f->key;
    }
    return SEGMENTER_ADD;
}

int64_t segmenter_part(struct segmenter *g, int64_t end)
{
    int64_t lasts = end - g->part_begin;

    if (lasts + ROUNDED > g->part_target && !g->part_listed)
        g->part_target = lasts + ROUNDED;
    return lasts;
}

/* ------------------------------------------------------------ begin and end */

/* Returns the wall clock time for a time of the stream. The stream falls behind by drift and by
 * removed gaps. A stream sent faster than real time runs ahead; its playlist must not go back. */
static int64_t wall_at(struct segmenter *g, int64_t at, int64_t clock, int64_t now)
{
    int64_t wall = g->wall_base + av_to_ms(at), slack = WALL_SLACK + fragment_ms(g);
    bool late = g->wall_base != 0 && clock - wall > slack;

    if (!late)
        g->late_since = 0;
    else if (g->late_since == 0)
        g->late_since = now;
    /* With periods this starts a new one, but not for a burst after a stall. */
    if (late && g->rules.periods && now - g->late_since < slack * 1000)
        late = false;
    if (late || g->wall_base == 0) {
        g->wall_base += clock - wall;
        wall = clock;
    }
    return wall;
}

/* Starts a new period at a discontinuity, or if the stream is far from the wall clock. */
static void open_period(struct segmenter *g)
{
    struct segmenter_begin *b = &g->now;

    if (b->wall < g->over) { /* the stream was sent faster than real time */
        g->wall_base += g->over - b->wall;
        b->wall = g->over;
    }
    b->new_period = b->discontinuity || g->base != g->wall_base;
    if (b->new_period) {
        g->period = b->wall;
        if (g->available == 0 || g->available > g->period)
            g->available = g->period;
        g->base = g->wall_base;
    }
    b->period = g->period;
}

void segmenter_open(struct segmenter *g, int64_t at, int64_t wall, int64_t now)
{
    g->now = (struct segmenter_begin){
        .at = at, .wall = wall_at(g, at, wall, now), .discontinuity = g->discontinuity,
    };
    g->waiting_at = at;
    g->discontinuity = false;
    g->floor = fragment_ms(g) > 0 ? g->now.wall / fragment_ms(g) : 0;
    g->floor_name = g->floor > g->floor_name ? g->floor : g->floor_name + 1;
    g->open = true;
    g->part_open = false;
    if (g->rules.periods)
        open_period(g);
}

/* Raises the target duration, which never falls, because players rely on it. */
static void raise_target(struct segmenter *g, int64_t lasts)
{
    int64_t wanted = (int64_t)((double)g->rules.fragment * g->rules.target_ratio);

    if (g->rules.floor) /* a segment that starts just before a key frame lasts until the next one */
        wanted += g->key_interval;
    if (g->target < m3u8_seconds(wanted))
        g->target = m3u8_seconds(wanted);
    if (g->target < m3u8_seconds(lasts))
        g->target = m3u8_seconds(lasts);
    if (g->target == 0)
        g->target = 1;
}

void segmenter_close(struct segmenter *g, int64_t end)
{
    int64_t lasts = end - g->now.at;

    g->open = false;
    g->promised = true;
    raise_target(g, lasts);
    if (lasts > g->longest)
        g->longest = lasts;
    g->over = g->base + av_to_ms(end);
}

void segmenter_lose(struct segmenter *g, bool broken)
{
    g->discontinuity |= g->now.discontinuity || broken;
    g->open = false;
}
