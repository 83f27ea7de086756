/* SPDX-License-Identifier: MIT */
/* stat_proc.c - the line about the process. */
#include "app/stat_proc.h"

#include "base/log.h"
#include "co/watchdog.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PERIOD_SECONDS = 5 };

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
    return add(buf, size, n, "%us", c->timer_seconds);
}

size_t stat_proc_text(const struct stat_proc *s, char *buf, size_t size)
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
    return add_clock(buf, size, n, &s->clock);
}

static co_usec cpu_used(void)
{
    struct rusage u;

    (void)getrusage(RUSAGE_SELF, &u);
    return CO_SECONDS(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + u.ru_utime.tv_usec +
           u.ru_stime.tv_usec;
}

/* procfs does not block. */
static long resident(void)
{
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    char text[64] = "", *second;
    ssize_t n;

    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    second = strchr(text, ' ');
    return second ? strtol(second, NULL, 10) * sysconf(_SC_PAGESIZE) : 0;
}

/* Where the counters stood at the line before. */
struct last {
    co_usec time, cpu;
    unsigned long switches, held;
};

static void measure(const struct server *server, struct last *last, struct stat_proc *s)
{
    struct last now = { co_clock(), cpu_used(), co_switches(), co_watchdog_count() };
    co_usec span = now.time > last->time ? now.time - last->time : 1;

    s->cpu = 100.0 * (double)(now.cpu - last->cpu) / (double)span;
    s->rss = resident();
    server_stat(server, &s->server);
    s->switches = (now.switches - last->switches) * 1000000 / (unsigned long)span;
    s->coroutines = co_live();
    s->held = now.held - last->held;
    co_clock_take(&s->clock);
    *last = now;
}

err_t stat_proc_run(void *arg)
{
    struct last last = { co_clock(), cpu_used(), co_switches(), co_watchdog_count() };
    struct stat_proc s;
    char line[512];
    err_t err;

    for (;;) {
        err = co_sleep(CO_SECONDS(PERIOD_SECONDS));
        if (err)
            return err;
        measure(arg, &last, &s);
        (void)stat_proc_text(&s, line, sizeof(line));
        log_trace("%s", line);
    }
}
