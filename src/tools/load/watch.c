/* SPDX-License-Identifier: MIT */
/* watch.c - look at media as they come: gaps, delay, order, what was lost. */
#include "tools/load/watch.h"

#include <sys/socket.h>

#include "co/net/io_tcp.h"
#include "format/flv/flv.h"

enum { SLOW_BUFFER = 64 * 1024, AUDIO_GAP = 60000 /* ms; more is another timeline */ };

void load_watch_came(struct load_client *c, int64_t now)
{
    int64_t gap = now - c->last_at;

    if (gap > c->longest_gap)
        c->longest_gap = gap;
    if (gap > (int64_t)c->run->opts.stall_ms * 1000)
        c->run->stat.stalls++;
    c->last_at = now;
    c->run->stat.messages++;
}

/* Audio is of frames of one length, so what is missing leaves room for some. Times are rounded, and
 * where a file begins again there is another step: two alike are those of frames. */
static void count_audio(struct load_client *c, uint32_t step)
{
    struct load_stat *s = &c->run->stat;

    s->audio++;
    if (step == 0 || step > AUDIO_GAP)
        return;
    if (step <= c->audio_last + 1 && c->audio_last <= step + 1 &&
        (c->audio_step == 0 || step < c->audio_step))
        c->audio_step = step;
    c->audio_last = step;
    if (c->audio_step > 0 && step > c->audio_step)
        s->audio_missing += (step + c->audio_step / 2) / c->audio_step - 1;
}

static void count_frame(struct load_client *c, const struct load_tag *tag, int64_t now)
{
    struct load_stat *s = &c->run->stat;
    int track = tag->type == FLV_VIDEO;
    int64_t late;

    if (c->seen[track] && tag->time < c->last_time[track]) {
        s->backwards++;
        c->base = INT64_MAX; /* a new timeline */
    } else if (track == 0) {
        count_audio(c, c->seen[0] ? tag->time - c->last_time[0] : 0);
    }
    c->seen[track] = true;
    c->last_time[track] = tag->time;
    late = now / 1000 - (int64_t)tag->time;
    if (late < c->base)
        c->base = late;
    else if (late > c->base + c->run->opts.late_ms)
        s->late++;
    load_watch_came(c, now);
}

void load_watch_marker(struct load_client *c, int64_t now)
{
    struct load_stat *s = &c->run->stat;

    load_hist_add(&s->latency, now - c->marker.time);
    s->in_time += now - c->marker.time <= (int64_t)c->run->opts.late_ms * 1000;
    /* a number below the last one is another publisher */
    if (c->had_marker && c->marker.number > c->number + 1)
        s->drops += c->marker.number - c->number - 1;
    c->number = c->marker.number;
    c->had_marker = true;
    c->have_marker = false;
}

static void find_key(struct load_client *c, const struct load_tag *tag)
{
    struct flv_body b;
    err_t err = flv_video_parse(&b, tag->head, tag->head_size);

    if (!err && b.key)
        load_watch_key(c);
    err_free(&err);
}

void load_watch_first(struct load_client *c)
{
    if (c->mark_at)
        return;
    c->mark_at = co_clock();
    c->last_at = load_wall();
    c->base = INT64_MAX;
    load_hist_add(&c->run->stat.first_byte, c->mark_at - c->began);
    if (c->asked)
        load_hist_add(&c->run->stat.first_packet, c->mark_at - c->asked);
}

void load_watch_key(struct load_client *c)
{
    if (c->have_key)
        return;
    c->have_key = true;
    load_hist_add(&c->run->stat.first_key, co_clock() - c->began);
}

void load_watch(void *arg, const struct load_tag *tag)
{
    struct load_client *c = arg;
    bool video = tag->type == FLV_VIDEO;
    int64_t now;

    load_watch_first(c);
    if (!c->have_key && video)
        find_key(c, tag);
    now = load_wall();
    count_frame(c, tag, now);
    if (video && load_marker_find(&c->marker, tag->head, tag->head_size))
        load_watch_marker(c, now);
}

void load_watch_slowly(struct load_client *c)
{
    int size = SLOW_BUFFER;

    (void)setsockopt(io_tcp_fd(c->talk.io), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
}
