/* SPDX-License-Identifier: MIT */
/* stat_line.c - the line about the process. */
#include "app/os/stat_line.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 4, 5)))
static size_t add(char *buf, size_t size, size_t n, const char *fmt, ...)
{
    va_list ap;
    int made;

    va_start(ap, fmt);
    made = vsnprintf(buf + n, size - n, fmt, ap);
    va_end(ap);
    if (made < 0)
        return n;
    return (size_t)made < size - n ? n + (size_t)made : size - 1;
}

static size_t add_clock(char *buf, size_t size, size_t n, const struct co_clock_stat *c)
{
    unsigned sum = 0;

    for (int i = 0; i < 8; i++)
        sum += c->counts[i];
    if (sum == 0)
        return n;
    n = add(buf, size, n, ", clock=");
    for (int i = 0; i < 8; i++)
        n = add(buf, size, n, "%u,", c->counts[i]);
    return add(buf, size, n, "%u", c->later);
}

size_t stat_line_text(const struct stat_line *s, char *buf, size_t size)
{
    const struct server_stat *v = &s->server;
    size_t n = add(buf, size, 0, "Hybrid cpu=%.2f%%,%ldMB", s->cpu, s->rss >> 20);

    if (v->connections)
        n = add(buf, size, n, ", conns=%u,%u,%u,%u", v->connections, v->publishers, v->players,
                v->forwards);
    if (v->streams)
        n = add(buf, size, n, ", streams=%u", v->streams);
    if (s->switches)
        n = add(buf, size, n, ", sched=%lu/s", s->switches);
    if (s->coroutines)
        n = add(buf, size, n, ", co=%ld", s->coroutines);
    if (s->held)
        n = add(buf, size, n, ", held=%lu", s->held);
    if (s->holds)
        n = add(buf, size, n, ", holds=%lu", s->holds);
    return add_clock(buf, size, n, &s->clock);
}
