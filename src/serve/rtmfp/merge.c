/* SPDX-License-Identifier: MIT */
/* merge.c - merges audio and video of a publisher in order of time. */
#include "serve/rtmfp/merge.h"

#include "base/must.h"

#include <stdlib.h>

#define SHORTLY CO_MS(60)
#define A_WHILE CO_MS(250)   /* wait after a recent gap */
#define LATELY CO_SECONDS(5) /* period in which a gap is recent: a loss at the end of a flow shows
                              * late */
#define LONG CO_SECONDS(1)   /* wait for missing data, and for a silent kind */
enum { UNRELATED = 5000 };   /* milliseconds of difference: the two lines have separate clocks */

struct rtmfp_merge_entry {
    struct rtmfp_merge_entry *next;
    struct rtmp_msg msg;
    int64_t time;
    co_usec at;
};

void rtmfp_merge_put(struct rtmfp_merge *o, unsigned line, const struct rtmp_msg *msg, bool aside,
                     co_usec now)
{
    struct rtmfp_merge_line *l = &o->v[line];
    struct rtmfp_merge_entry *e = must(malloc(sizeof(*e)));

    if (!aside)
        l->newest = rtmp_time_next(&l->time, msg->time);
    l->received_at = now;
    if (o->behind)
        o->behind_at = now;
    *e = (struct rtmfp_merge_entry){ NULL, *msg, l->newest, now };
    if (!l->first)
        l->end = &l->first;
    *l->end = e;
    l->end = &e->next;
    o->n++;
    o->bytes += msg->size;
}

static co_usec patience(const struct rtmfp_merge *o, const struct rtmfp_merge_entry *e)
{
    if (o->behind)
        return LONG;
    return o->behind_at && e->at - o->behind_at < LATELY ? A_WHILE : SHORTLY;
}

static bool unrelated(const struct rtmfp_merge *o)
{
    return o->v[0].time.begun && o->v[1].time.begun &&
           llabs(o->v[0].newest - o->v[1].newest) > UNRELATED;
}

/* Returns the line with the next message in time; if both are equal, the one that arrived first. */
static unsigned first_of(const struct rtmfp_merge *o)
{
    const struct rtmfp_merge_entry *a = o->v[0].first, *b = o->v[1].first;

    if (!a || !b)
        return a ? 0 : 1;
    if (a->time == b->time || unrelated(o))
        return a->at <= b->at ? 0 : 1;
    return a->time < b->time ? 0 : 1;
}

/* Returns when the first message of a line stops waiting for the other line, if nothing arrives. */
static co_usec due(const struct rtmfp_merge *o, unsigned line)
{
    const struct rtmfp_merge_line *other = &o->v[!line];
    const struct rtmfp_merge_entry *e = o->v[line].first;
    co_usec late = e->at + patience(o, e), silent = other->received_at + LONG;
    bool as_far = other->time.begun && other->newest >= e->time;

    if (other->first || !other->received_at || !o->v[line].time.begun || as_far || unrelated(o))
        return e->at;
    return late < silent ? late : silent;
}

static bool full(const struct rtmfp_merge *o)
{
    return o->n > RTMFP_MERGE_MOST || o->bytes > RTMFP_MERGE_BYTES;
}

bool rtmfp_merge_next(struct rtmfp_merge *o, struct rtmp_msg *out, bool all, co_usec now)
{
    unsigned line = first_of(o);
    struct rtmfp_merge_line *l = &o->v[line];
    struct rtmfp_merge_entry *e = l->first;

    if (!e || !(all || full(o) || due(o, line) <= now))
        return false;
    *out = e->msg;
    l->first = e->next;
    o->n--;
    o->bytes -= e->msg.size;
    free(e);
    return true;
}

co_usec rtmfp_merge_due(const struct rtmfp_merge *o)
{
    return o->n > 0 ? due(o, first_of(o)) : CO_FOREVER;
}
