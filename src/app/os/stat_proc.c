/* SPDX-License-Identifier: MIT */
/* stat_proc.c - logs the lines about the process, its workers and its protocols. */
#include "app/os/stat_proc.h"

#include "app/dev/heap.h"
#include "app/os/machine.h"
#include "app/os/stat_line.h"
#include "app/server.h"
#include "base/log.h"
#include "base/must.h"

#include <stdlib.h>
#include <time.h>

#define PERIOD CO_SECONDS(5)

struct stat {
    const struct server *server;
    unsigned n;                  /* number of workers if there are several, else 0 */
    co_usec at, cpu;             /* time and CPU time at the previous line, */
    struct worker_counters then, now;    /* sums over all workers, previous and current */
    struct worker_counters one;
    struct worker_counters last[];       /* previous counters of each worker */
};

/* Reads how many datagrams the kernel dropped for lack of buffers, received and sent; 0 if
 * unknown. */
static void read_no_room(uint64_t out[2])
{
    char text[4096];

    out[0] = out[1] = 0;
    if (machine_file("/proc/self/net/snmp", text, sizeof(text)) == 0)
        return;
    out[0] = (uint64_t)machine_counter(text, "Udp:", "RcvbufErrors");
    out[1] = (uint64_t)machine_counter(text, "Udp:", "SndbufErrors");
}

static void take(struct stat *s)
{
    const struct worker_counters_of of = server_counters(s->server);
    const struct counter_table *t;
    const void *counters;

    worker_counters_sum(&of, &s->now);
    s->now.connections = workers_connections(of.env); /* includes clients over UDP */
    for (unsigned i = 0; (t = worker_counters_table(&s->now, &i, &counters)); i++) {
        if (t->no_room)
            read_no_room((uint64_t *)((char *)counters + t->no_room));
    }
}

static struct stat *stat_new(const struct server *server)
{
    const struct worker_counters_of of = server_counters(server);
    unsigned n = server_workers(server) ? server_workers(server)->n : 0;
    struct stat *s = must(calloc(1, sizeof(*s) + n * sizeof(s->last[0])));

    *s = (struct stat){ .server = server, .n = n, .at = co_clock(),
                        .cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID) };
    take(s);
    s->then = s->now;
    for (unsigned i = 0; i < n; i++) {
        worker_counters_one(&of, i, &s->last[i]);
        if (!s->last[i].taken_at)
            s->last[i].taken_at = (uint64_t)co_clock();
    }
    return s;
}

static void log_workers(struct stat *s, char *line, size_t size)
{
    const struct worker_counters_of of = server_counters(s->server);

    for (unsigned i = 0; i < s->n; i++) {
        worker_counters_one(&of, i, &s->one);
        (void)stat_worker_text(i, &s->one, &s->last[i], co_clock(), line, size);
        log_trace("%s", line);
        if (s->one.taken_at)
            s->last[i] = s->one;
    }
}

static void log_protocols(struct stat *s, co_usec span, char *line, size_t size)
{
    const struct counter_table *t;
    const void *now, *then;

    for (unsigned i = 0; (t = worker_counters_table(&s->now, &i, &now)); i++) {
        then = (const char *)&s->then + ((const char *)now - (const char *)&s->now);
        if (counters_line(t, now, then, span, line, size) > 0)
            log_trace("%s", line);
    }
}

static void log_lines(struct stat *s)
{
    co_usec at = co_clock(), span = at > s->at ? at - s->at : 1;
    co_usec cpu = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    char line[512];

    take(s);
    (void)stat_process_text(&s->now, &s->then, span, 100.0 * (double)(cpu - s->cpu) / (double)span,
                            machine_rss_kbyte(), line, sizeof(line));
    log_trace("%s", line);
    log_workers(s, line, sizeof(line));
    log_protocols(s, span, line, sizeof(line));
    s->then = s->now;
    s->at = at;
    s->cpu = cpu;
}

err_t stat_proc_run(void *server)
{
    struct stat *s = stat_new(server);
    err_t err;

    while (!(err = co_sleep(PERIOD))) {
        log_lines(s);
        heap_tend();
    }
    free(s);
    return err;
}
