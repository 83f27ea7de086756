/* SPDX-License-Identifier: MIT */
/* stat_rtmfp.c - the line about RTMFP. */
#include "app/os/stat_rtmfp.h"

#include "app/os/stat_line.h"

struct line {
    char *buf;
    size_t size, n;
    co_usec span;
    const struct rtmfp_service_stat *now, *then;
};

#define RATE(l, field) stat_rate((l)->span, (l)->now->field, (l)->then->field)

/* Why packets were not taken, of all kinds. */
static uint64_t sum(const uint64_t *v, size_t n)
{
    uint64_t all = 0;

    while (n > 0)
        all += v[--n];
    return all;
}

static uint64_t unanswered(const struct rtmfp_service_stat *s)
{
    return sum(s->drops, RTMFP_DROP_KINDS) + s->startup_limited;
}

static void put_opens(struct line *l)
{
    unsigned long long opened = RATE(l, opened), keys = RATE(l, key_jobs);
    uint64_t jobs = l->now->key_jobs - l->then->key_jobs;

    if (opened + keys + l->now->keying == 0)
        return;
    l->n = stat_add(l->buf, l->size, l->n, ", opens=(%llu,keys:%llu,%.2fms,wait:%llu)", opened,
                    keys, jobs > 0 ? (double)(l->now->key_time - l->then->key_time) /
                                     (double)jobs / 1e3 : 0.0,
                    (unsigned long long)l->now->keying);
}

static void put_drops(struct line *l)
{
    unsigned long long startup = stat_rate(l->span, unanswered(l->now), unanswered(l->then));
    unsigned long long bad = stat_rate(l->span, sum(l->now->bad, RTMFP_BAD_KINDS),
                                       sum(l->then->bad, RTMFP_BAD_KINDS));
    unsigned long long room = RATE(l, sockets.overflow);

    if (startup + bad + room > 0)
        l->n = stat_add(l->buf, l->size, l->n, ", drops=(%llu,bad:%llu,room:%llu)", startup, bad,
                        room);
}

static void put_one(struct line *l, const char *name, unsigned long long rate)
{
    if (rate > 0)
        l->n = stat_add(l->buf, l->size, l->n, ", %s=%llu", name, rate);
}

size_t stat_rtmfp_text(struct stat_rtmfp *s, const struct rtmfp_service_stat *now, co_usec at,
                       char *buf, size_t size)
{
    struct line l = { .buf = buf, .size = size, .span = at > s->at ? at - s->at : 1, .now = now,
                      .then = &s->seen };
    bool any = now->sessions > 0 || RATE(&l, startup) + RATE(&l, sockets.in) > 0;

    l.n = stat_add(buf, size, 0, "RTMFP: Server conns=%llu,%llu, streams=%llu,%llu",
                   (unsigned long long)now->sessions, (unsigned long long)now->connected,
                   (unsigned long long)now->publishers, (unsigned long long)now->players);
    put_opens(&l);
    put_drops(&l);
    put_one(&l, "again", RATE(&l, again));
    put_one(&l, "abandoned", RATE(&l, abandoned));
    put_one(&l, "skips", RATE(&l, skips));
    put_one(&l, "pings", RATE(&l, pings_lost));
    if (RATE(&l, introductions) + RATE(&l, unknown_peers) > 0)
        l.n = stat_add(buf, size, l.n, ", peers=(%llu,none:%llu)", RATE(&l, introductions),
                       RATE(&l, unknown_peers));
    *s = (struct stat_rtmfp){ *now, at };
    return any ? l.n : 0;
}
