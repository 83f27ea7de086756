/* SPDX-License-Identifier: MIT */
/* players.c - requests of players for playlists and files in memory, current or upcoming. */
#include "sink/hls/stream.h"

#include <string.h>

struct hls_file *hls_find_update(struct hls *h, const char *path)
{
    struct hls_name *n = hls_names_get(h, path);
    struct hls_file *update = NULL;

    if (n && n->file && n->file->playlist)
        update = hls_m3u8_update(&n->info->stream->list);
    return update ? hls_file_ref(update) : hls_find(h, path);
}

/* ------------------------------------------------------------ waiting */

/* Waits until the stream has produced more. */
static err_t wait_more(struct hls_stream *s, co_usec end)
{
    struct hls_waiter w = { s->list.waiters, co_self() }, **at;
    co_usec left = end - co_now();
    enum co_wake wake;

    if (left <= 0)
        return err_new(ERR_IO_TIMEOUT, "%s", s->info.m3u8_path);
    s->list.waiters = &w;
    wake = co_park(left);
    for (at = &s->list.waiters; *at && *at != &w; at = &(*at)->next)
        ;
    if (*at)
        *at = w.next;
    if (wake == CO_STOPPED)
        return co_check();
    return s->left ? err_new(ERR_STREAM_END, "%s", s->info.m3u8_path) : NULL;
}

/* [HLS] bis 6.2.5.2: a part after the last one of a segment is the first of the next segment. */
static bool is_behind(const struct hls_stream *s, uint64_t segment, int part)
{
    for (size_t i = s->list.q.n; i > 0 && part >= 0 && s->list.q.v[i - 1]->seq >= segment; i--) {
        const struct hls_segment *seg = s->list.q.v[i - 1];

        if (seg->seq == segment) /* its parts may have been removed */
            return seg->n_parts > 0 && (size_t)part >= seg->n_parts;
    }
    return false;
}

static bool has_it(const struct hls_stream *s, uint64_t segment, int part)
{
    uint64_t now = s->mux.next_seq;

    if (segment < now && is_behind(s, segment, part)) {
        segment++;
        part = 0;
    }
    if (segment < now)
        return true;
    return segment == now && part >= 0 && s->mux.now && (size_t)part < s->mux.now->n_parts;
}

/* [HLS] bis 6.2.5.2: no player has a reason to request anything further ahead. */
static bool is_far(const struct hls_stream *s, uint64_t segment, int part)
{
    size_t there = s->mux.now && segment == s->mux.next_seq ? s->mux.now->n_parts : 0;

    if (segment > s->mux.next_seq + 1)
        return true;
    return segment >= s->mux.next_seq && s->mux.segmenter.part_target > 0 && part >= 0 &&
           (size_t)part + 1 > there + m3u8_advance_parts(s->mux.segmenter.part_target);
}

err_t hls_wait(struct hls *h, const char *path, uint64_t segment, int part, co_usec timeout)
{
    struct hls_name *n = hls_names_get(h, path);
    co_usec end = co_now() + timeout;
    struct hls_stream *s;
    err_t err = NULL;
    bool live;

    if (!n || !n->file || !n->file->playlist)
        return err_new(ERR_STREAM_END, "no playlist %s", path);
    s = n->info->stream;
    (void)hls_info_ref(&s->info);
    live = s->info.live;
    if (is_far(s, segment, part))
        err = err_new(ERR_MALFORMED, "part %d of segment %llu of %s, which is at %llu", part,
                      (unsigned long long)segment, path, (unsigned long long)s->mux.next_seq);
    while (!err && !has_it(s, segment, part) && s->info.live == live)
        err = wait_more(s, end);
    hls_info_unref(&s->info);
    return err;
}

err_t hls_wait_file(struct hls *h, const char *path, co_usec timeout)
{
    struct hls_name *n = hls_names_get(h, path);
    co_usec end = co_now() + timeout;
    struct hls_stream *s;
    err_t err = NULL;

    if (!n)
        return err_new(ERR_STREAM_END, "no file %s", path);
    s = n->info->stream;
    (void)hls_info_ref(&s->info);
    while (!err && n && !n->file) {
        err = wait_more(s, end);
        n = hls_names_get(h, path);
    }
    if (!err && !n)
        err = err_new(ERR_STREAM_END, "no file %s", path);
    hls_info_unref(&s->info);
    return err;
}

bool hls_variant(struct hls *h, const char *path, struct hls_variant *out)
{
    struct hls_name *n = hls_names_get(h, path);
    const struct hls_stream *s;
    int64_t duration = 0;
    size_t bytes = 0;
    char name[48];

    *out = (struct hls_variant){ 0 };
    if (!n || !n->file || !n->file->playlist)
        return false;
    s = n->info->stream;
    for (size_t i = 0; i < s->list.q.n; i++) {
        bytes += s->list.q.v[i]->bytes;
        duration += s->list.q.v[i]->duration;
    }
    if (duration > 0 && bytes > 0)
        out->bandwidth = (unsigned)((double)bytes * 8 * AV_CLOCK / (double)duration);
    for (int k = 0; k < 2; k++) {
        const struct mp4_track *t = k ? &s->mux.mp4.audio.track : &s->mux.mp4.video.track;

        if (!t->codec)
            continue;
        (void)mp4_track_name(t, name, sizeof(name));
        if (out->codecs[0])
            (void)strncat(out->codecs, ",", sizeof(out->codecs) - strlen(out->codecs) - 1);
        (void)strncat(out->codecs, name, sizeof(out->codecs) - strlen(out->codecs) - 1);
    }
    out->width = s->mux.mp4.video.track.info.width;
    out->height = s->mux.mp4.video.track.info.height;
    return true;
}
