/* SPDX-License-Identifier: MIT */
/* mpd.c - the text of an MPD: the available segments and their times. */
#include "sink/hls/segment/muxer.h"

#include <stdio.h>
#include <stdlib.h>

static int64_t longest(const struct hls_list *l) /* ms */
{
    int64_t wanted = us_to_ms(l->info->set.fragment);
    int64_t was = av_to_ms(l->mux->segmenter.longest);

    return was > wanted ? was : wanted;
}

/* Returns the delay of a player: the growing segment, one being fetched, and the age of its copy of
 * the MPD. */
static int64_t delay(const struct hls_list *l) /* ms */
{
    return longest(l) * 2 + us_to_ms(l->info->dash->update_period);
}

/* Returns the length of the list: at least what a player with that delay needs. */
static int64_t window(const struct hls_list *l) /* ms */
{
    int64_t wanted = longest(l) * l->info->dash->window_size, needed = delay(l) + longest(l) * 2;

    return wanted > needed ? wanted : needed;
}

int64_t hls_mpd_window(const struct hls_list *l)
{
    return AV_MS(window(l));
}

static int64_t shift(const struct hls_list *l) /* ms */
{
    int64_t wanted = us_to_ms(l->info->dash->timeshift), all = window(l), least = delay(l);

    if (wanted > all)
        return all;
    return wanted > least ? wanted : least;
}

static bool listed(const struct hls_segment *seg, const struct hls_shared *init, bool disk)
{
    return seg->init == init && (!disk || seg->on_disk);
}

/* Returns the start of the URLs of a track's segments, malloc'ed. */
static char *track_uri(const struct hls_info *info, const struct hls_segment *seg)
{
    char rest[32], *path, *uri;

    (void)snprintf(rest, sizeof(rest), "%lld-", (long long)seg->period);
    path = hls_track_path(info, seg->init->track.video, rest);
    uri = hls_uri(info, path);
    free(path);
    return uri;
}

/* Writes one track of a period, which consists of segments i to n. */
static void put_track(struct hls_list *l, struct mpd_writer *m, size_t i, size_t n, bool video,
                      bool disk)
{
    struct hls_segment **v = l->q.v;
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
    t.media = media = track_uri(l->info, v[i]);
    mpd_set(m, &t);
    for (; i < n; i++) {
        if (listed(v[i], init, disk))
            mpd_segment(m, (uint64_t)v[i]->at.begin, v[i]->at.duration);
    }
    mpd_set_end(m, &t);
    free(media);
}

static bool is_empty(const struct hls_list *l, size_t i, size_t n, bool disk)
{
    while (disk && i < n && !l->q.v[i]->on_disk)
        i++;
    return i == n;
}

void hls_mpd_text(struct hls_list *l, struct wr *w, bool disk)
{
    struct mpd head = {
        .published = hls_clock_now(&l->info->clock), .available = l->mux->segmenter.available,
        .update = us_to_ms(l->info->dash->update_period), .shift = shift(l),
        .delay = delay(l), .longest = longest(l),
    };
    struct mpd_writer m;

    mpd_begin(&m, w, &head);
    for (size_t i = 0, n; i < l->q.n; i = n) {
        int64_t period = l->q.v[i]->period;

        for (n = i; n < l->q.n && l->q.v[n]->period == period; n++)
            ;
        if (is_empty(l, i, n, disk))
            continue;
        mpd_period(&m, period, period - l->mux->segmenter.available);
        put_track(l, &m, i, n, true, disk);
        put_track(l, &m, i, n, false, disk);
        mpd_period_end(&m);
    }
    mpd_end(&m);
}
