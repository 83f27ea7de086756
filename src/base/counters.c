/* SPDX-License-Identifier: MIT */
/* counters.c - counters as rows: /metrics and the log read the same table. */
#include "base/counters.h"

#include "base/text.h"

#include <string.h>

static uint64_t word(const void *counters, size_t at)
{
    uint64_t v;

    memcpy(&v, (const char *)counters + at, sizeof(v));
    return v;
}

void counters_add(void *sum, const void *one, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t v = word(sum, at) + word(one, at);

        memcpy((char *)sum + at, &v, sizeof(v));
    }
}

double counters_value(const struct counter_row *row, unsigned i, unsigned k, const void *counters)
{
    static const double units[] = { [COUNTER_PLAIN] = 1, [COUNTER_US] = 1e6, [COUNTER_MS] = 1e3 };
    size_t step = row->step ? row->step : sizeof(uint64_t);
    uint64_t all = 0;

    if (row->label)
        all = word(counters, row->at + i * step + k * sizeof(uint64_t));
    for (i = 0; !row->label && (i == 0 || i < row->n); i++)
        all += word(counters, row->at + i * step);
    return (double)(int64_t)all / units[row->unit];
}

/* ---- the log line */

struct line {
    const void *now, *then;
    int64_t span;
    char *buf;
    size_t size, n;
};

static uint64_t sum(const void *counters, size_t at, unsigned n)
{
    uint64_t all = 0;
    unsigned i = 0;

    do
        all += word(counters, at + i * sizeof(uint64_t));
    while (++i < n);
    return all;
}

static uint64_t added(const struct line *l, size_t at, unsigned n)
{
    uint64_t now = sum(l->now, at, n), then = sum(l->then, at, n);

    return now > then ? now - then : 0;
}

static unsigned long long number(const struct line *l, const struct counter_word *w)
{
    uint64_t more;

    if (w->flags & COUNTER_NOW)
        return sum(l->now, w->at, w->n);
    more = added(l, w->at, w->n);
    return w->flags & (COUNTER_ADDED | COUNTER_MEAN) ? more : more * 1000000 / (uint64_t)l->span;
}

static double mean_ms(const struct line *l, const struct counter_word *w)
{
    uint64_t n = added(l, w->by, w->by_n);

    return n > 0 ? (double)added(l, w->at, w->n) / (double)n / 1e3 : 0;
}

static bool begins_group(const struct counter_word *w)
{
    return w->flags & (COUNTER_ALWAYS | COUNTER_GROUP | COUNTER_FIRST);
}

/* True if number i of a group decides whether the group is shown. A mean does so only if it is the
 * first. */
static bool counts(const struct counter_word *group, size_t i)
{
    return group->before &&
           (i == 0 || !(group->flags & COUNTER_FIRST || group[i].flags & COUNTER_MEAN));
}

/* Returns the end of the group that begins with the first of n words. *shown: it is shown. */
static size_t group_end(const struct line *l, const struct counter_word *w, size_t n, bool *shown)
{
    size_t i = 0;

    *shown = w->flags & COUNTER_ALWAYS;
    do
        *shown |= counts(w, i) && number(l, &w[i]) > 0;
    while (++i < n && !begins_group(&w[i]));
    return i;
}

static void put_word(struct line *l, const struct counter_word *w)
{
    const char *after = w->after ? w->after : "";

    if (w->flags & COUNTER_MEAN)
        l->n = text_add(l->buf, l->size, l->n, "%s%.2f%s", w->before, mean_ms(l, w), after);
    else
        l->n = text_add(l->buf, l->size, l->n, "%s%llu%s", w->before, number(l, w), after);
}

size_t counters_line(const struct counter_table *t, const void *now, const void *then,
                    int64_t span_us, char *buf, size_t size)
{
    struct line l = { now, then, span_us > 0 ? span_us : 1, buf, size, 0 };
    bool shown, any = false, marked = false;

    for (size_t i = 0; i < t->n_words; i++) {
        marked |= t->words[i].flags & COUNTER_LINE;
        any |= (t->words[i].flags & COUNTER_LINE) && number(&l, &t->words[i]) > 0;
    }
    for (size_t i = 0, end; (any || !marked) && i < t->n_words; i = end) {
        end = i + group_end(&l, &t->words[i], t->n_words - i, &shown);
        for (size_t k = i; shown && k < end; k++)
            put_word(&l, &t->words[k]);
    }
    return l.n;
}
