/* SPDX-License-Identifier: MIT */
/* stat_line.c - the lines about the process and its workers. */
#include "app/os/stat_line.h"

#include "base/text.h"

static size_t add_clock(char *buf, size_t size, size_t n, const struct co_clock_stat *c)
{
    unsigned sum = 0;

    for (int i = 0; i < 8; i++)
        sum += c->counts[i];
    if (sum == 0)
        return n;
    n = text_add(buf, size, n, ", clock=");
    for (int i = 0; i < 8; i++)
        n = text_add(buf, size, n, "%u,", c->counts[i]);
    return text_add(buf, size, n, "%u", c->later);
}

static size_t add_clients(char *buf, size_t size, size_t n, const struct server_stat *v)
{
    if (v->connections)
        n = text_add(buf, size, n, ", conns=%u,%u,%u,%u", v->connections, v->publishers, v->players,
                v->forwards);
    return n;
}

static size_t add_scheduler(char *buf, size_t size, size_t n, unsigned long switches,
                            long coroutines)
{
    if (switches)
        n = text_add(buf, size, n, ", sched=%lu/s", switches);
    if (coroutines)
        n = text_add(buf, size, n, ", co=%ld", coroutines);
    return n;
}

static size_t add_holds(char *buf, size_t size, size_t n, unsigned long held,
                        unsigned long holds)
{
    if (held)
        n = text_add(buf, size, n, ", held=%lu", held);
    if (holds)
        n = text_add(buf, size, n, ", holds=%lu", holds);
    return n;
}

size_t stat_worker_text(const struct stat_worker *s, char *buf, size_t size)
{
    size_t n = text_add(buf, size, 0, "Worker %u cpu=%.2f%%", s->worker, s->cpu);

    n = add_clients(buf, size, n, &s->server);
    if (s->server.streams)
        n = text_add(buf, size, n, ", streams=%u,%u", s->server.streams, s->replicas);
    if (s->moved_in || s->moved_out)
        n = text_add(buf, size, n, ", moved=%lu,%lu", s->moved_in, s->moved_out);
    n = add_scheduler(buf, size, n, s->switches, s->coroutines);
    n = add_holds(buf, size, n, s->held, s->holds);
    if (s->late > 0)
        n = text_add(buf, size, n, ", late=%.2fms,%lu", s->late, s->very_late);
    if (s->silent)
        n = text_add(buf, size, n, ", silent=%.1fs", (double)s->silent / 1e6);
    return n;
}

size_t stat_line_text(const struct stat_line *s, char *buf, size_t size)
{
    const struct server_stat *v = &s->server;
    size_t n = text_add(buf, size, 0, "Hybrid cpu=%.2f%%,%ldMB", s->cpu, s->rss >> 20);

    n = add_clients(buf, size, n, v);
    if (v->streams)
        n = text_add(buf, size, n, ", streams=%u", v->streams);
    n = add_scheduler(buf, size, n, s->switches, s->coroutines);
    n = add_holds(buf, size, n, s->held, s->holds);
    return add_clock(buf, size, n, &s->clock);
}
