/* SPDX-License-Identifier: MIT */
/* list_mpd.c - the MPD of a stream: what of it players can have, and when. */
#include "sink/hls/stream.h"

#include <stdlib.h>
#include <string.h>

static int64_t longest(const struct hls_stream *s) /* ms */
{
    int64_t wanted = us_to_ms(s->set.fragment);
    int64_t was = av_to_ms(s->segmenter.longest);

    return was > wanted ? was : wanted;
}

/* How far behind a player is: the segment that grows is not there yet, one is on its way to it,
 * and what it knows is as old as its last look at the list. */
static int64_t delay(const struct hls_stream *s) /* ms */
{
    return longest(s) * 2 + us_to_ms(s->dash->update_period);
}

/* In the list is what a player with that delay needs, at least. */
static int64_t window(const struct hls_stream *s) /* ms */
{
    int64_t wanted = longest(s) * s->dash->window_size, needed = delay(s) + longest(s) * 2;

    return wanted > needed ? wanted : needed;
}

int64_t dash_window(const struct hls_stream *s)
{
    return AV_MS(window(s));
}

static int64_t shift(const struct hls_stream *s) /* ms */
{
    int64_t wanted = us_to_ms(s->dash->timeshift), all = window(s), least = delay(s);

    if (wanted > all)
        return all;
    return wanted > least ? wanted : least;
}

static bool listed(const struct hls_segment *seg, const struct hls_shared *init, bool disk)
{
    return seg->init == init && (!disk || seg->on_disk);
}

/* The segments from i to n are a period: those of one track. */
static void put_track(struct hls_stream *s, struct mpd_writer *m, size_t i, size_t n, bool video,
                      bool disk)
{
    struct hls_segment **v = s->list.v;
    struct mpd_track t;
    struct hls_shared *init;
    char *media;

    while (i < n && (v[i]->init->track.video != video || (disk && !v[i]->on_disk)))
        i++;
    if (i == n)
        return;
    init = v[i]->init;
    t = init->track;
    t.init = init->uri;
    t.media = media = hls_track_uri(s, v[i]);
    mpd_set(m, &t);
    for (; i < n; i++) {
        if (listed(v[i], init, disk))
            mpd_segment(m, (uint64_t)v[i]->at.begin, v[i]->at.duration);
    }
    mpd_set_end(m, &t);
    free(media);
}

static bool is_empty(const struct hls_stream *s, size_t i, size_t n, bool disk)
{
    while (disk && i < n && !s->list.v[i]->on_disk)
        i++;
    return i == n;
}

void dash_list_text(struct hls_stream *s, struct wr *w, bool disk)
{
    struct mpd head = {
        .published = hls_clock_now(&s->clock), .available = s->segmenter.available,
        .update = us_to_ms(s->dash->update_period), .shift = shift(s),
        .delay = delay(s), .longest = longest(s),
    };
    struct mpd_writer m;

    mpd_begin(&m, w, &head);
    for (size_t i = 0, n; i < s->list.n; i = n) {
        int64_t period = s->list.v[i]->period;

        for (n = i; n < s->list.n && s->list.v[n]->period == period; n++)
            ;
        if (is_empty(s, i, n, disk))
            continue;
        mpd_period(&m, period, period - s->segmenter.available);
        put_track(s, &m, i, n, true, disk);
        put_track(s, &m, i, n, false, disk);
        mpd_period_end(&m);
    }
    mpd_end(&m);
}
