/* SPDX-License-Identifier: MIT */
/* stat_proc.c - measure the process. */
#include "app/os/stat_proc.h"

#include "app/dev/heap.h"
#include "app/os/machine.h"
#include "app/os/stat_worker.h"
#include "base/log.h"
#include "base/must.h"
#include "co/co.h"
#include "co/holds.h"
#include "co/watchdog.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PERIOD_SECONDS = 5 };

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
    unsigned long switches, held, holds;
};

/* With more than one worker. */
struct crowd {
    struct figures_of of;
    unsigned n;
    struct stat_counts last[WORKERS_MAX], now[WORKERS_MAX];
};

static void measure(const struct server *server, struct last *last, struct stat_line *s)
{
    struct last now = { co_clock(), cpu_used(), co_switches(), co_watchdog_count(),
                        co_holds_count() };
    co_usec span = now.time > last->time ? now.time - last->time : 1;

    s->cpu = 100.0 * (double)(now.cpu - last->cpu) / (double)span;
    s->rss = resident();
    server_stat(server, &s->server);
    s->switches = (now.switches - last->switches) * 1000000 / (unsigned long)span;
    s->coroutines = co_live();
    s->held = now.held - last->held;
    s->holds = now.holds - last->holds;
    co_clock_take(&s->clock);
    *last = now;
}

static struct crowd *crowd_new(const struct server *server)
{
    struct crowd *c = must(calloc(1, sizeof(*c)));

    c->of = server_figures(server);
    c->n = server_workers(server)->n;
    for (unsigned i = 0; i < c->n; i++) {
        stat_counts_take(&c->of, i, &c->last[i]);
        if (!c->last[i].at)
            c->last[i].at = co_clock();
    }
    return c;
}

/* What the process line says of threads is of all of theirs. */
static void sum_up(struct crowd *c, const struct server *server, struct stat_line *s)
{
    c->of = server_figures(server); /* what it knows of itself, now */
    s->server.forwards = 0;
    s->switches = s->held = s->holds = 0;
    s->coroutines = 0;
    s->clock = (struct co_clock_stat){ 0 };
    for (unsigned i = 0; i < c->n; i++) {
        stat_counts_take(&c->of, i, &c->now[i]);
        stat_worker_add(s, &c->last[i], &c->now[i]);
    }
}

static void log_workers(struct crowd *c, char *line, size_t size)
{
    for (unsigned i = 0; i < c->n; i++) {
        struct stat_worker s;

        stat_worker_between(&c->last[i], &c->now[i], co_clock(), &s);
        s.worker = i;
        (void)stat_worker_text(&s, line, size);
        log_trace("%s", line);
        if (c->now[i].at)
            c->last[i] = c->now[i];
    }
}

/* Datagrams that the kernel had no room for, received and sent; zeros if it does not say. */
static void read_no_room(uint64_t out[2])
{
    char text[4096];

    out[0] = out[1] = 0;
    if (machine_file("/proc/self/net/snmp", text, sizeof(text)) == 0)
        return;
    out[0] = (uint64_t)machine_counter(text, "Udp:", "RcvbufErrors");
    out[1] = (uint64_t)machine_counter(text, "Udp:", "SndbufErrors");
}

/* The counters of protocols at the line before. */
struct protocols {
    co_usec at;
    struct figures then, now;
};

static void take_protocols(struct protocols *p, const struct figures_of *of)
{
    const struct counter_table *t;
    const void *counters;

    figures_sum(of, &p->now);
    for (unsigned i = 0; (t = figures_table(&p->now, &i, &counters)); i++) {
        if (t->no_room)
            read_no_room((uint64_t *)((char *)counters + t->no_room));
    }
}

static struct protocols *protocols_new(const struct server *server)
{
    struct protocols *p = must(calloc(1, sizeof(*p)));
    const struct figures_of of = server_figures(server);

    take_protocols(p, &of);
    p->then = p->now;
    p->at = co_clock();
    return p;
}

static void log_protocols(struct protocols *p, const struct server *server, char *line,
                          size_t size)
{
    const struct figures_of of = server_figures(server);
    const struct counter_table *t;
    const void *now, *then;
    co_usec at = co_clock();

    take_protocols(p, &of);
    for (unsigned i = 0; (t = figures_table(&p->now, &i, &now)); i++) {
        then = (const char *)&p->then + ((const char *)now - (const char *)&p->now);
        if (counters_line(t, now, then, at - p->at, line, size) > 0)
            log_trace("%s", line);
    }
    p->then = p->now;
    p->at = at;
}

err_t stat_proc_run(void *arg)
{
    struct crowd *c = server_workers(arg) ? crowd_new(arg) : NULL;
    struct last last = { co_clock(), cpu_used(), co_switches(), co_watchdog_count(),
                         co_holds_count() };
    struct protocols *protocols = protocols_new(arg);
    struct stat_line s;
    char line[512];
    err_t err;

    for (;;) {
        err = co_sleep(CO_SECONDS(PERIOD_SECONDS));
        if (err)
            break;
        measure(arg, &last, &s);
        if (c)
            sum_up(c, arg, &s);
        (void)stat_line_text(&s, line, sizeof(line));
        log_trace("%s", line);
        if (c)
            log_workers(c, line, sizeof(line));
        log_protocols(protocols, arg, line, sizeof(line));
        heap_tend();
    }
    free(c);
    free(protocols);
    return err;
}
