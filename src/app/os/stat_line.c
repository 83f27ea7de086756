/* SPDX-License-Identifier: MIT */
/* stat_line.c - formats the log lines about the process and its workers. */
#include "app/os/stat_line.h"

#include "base/text.h"

#define AT(field) .at = offsetof(struct worker_counters, field)

/* Workers publish their counters once a second. */
#define SILENT CO_MS(2500)

enum { VERY_LATE = 6 }; /* index in struct co_lateness: 20 ms ticks that took 40 ms or more */

#define CLIENTS                                                                               \
    { ", conns=", AT(connections), COUNTER_NOW | COUNTER_FIRST },                             \
    { ",", AT(publishers), COUNTER_NOW }, { ",", AT(players), COUNTER_NOW },                  \
    { ",", AT(forwards), COUNTER_NOW, .n = 2 }

#define SCHEDULER                                                                             \
    { ", sched=", AT(switches), COUNTER_FIRST, "/s" },                                        \
    { ", co=", AT(coroutines), COUNTER_NOW | COUNTER_FIRST },                                 \
    { ", held=", AT(held), COUNTER_ADDED | COUNTER_FIRST },                                   \
    { ", holds=", AT(holds), COUNTER_ADDED | COUNTER_FIRST }

static const struct counter_word process_words[] = {
    CLIENTS,
    { ", streams=", AT(at_home), COUNTER_NOW | COUNTER_FIRST },
    SCHEDULER,
    { ", clock=", AT(late[0]), COUNTER_ADDED | COUNTER_GROUP },
    { ",", AT(late[1]), COUNTER_ADDED }, { ",", AT(late[2]), COUNTER_ADDED },
    { ",", AT(late[3]), COUNTER_ADDED }, { ",", AT(late[4]), COUNTER_ADDED },
    { ",", AT(late[5]), COUNTER_ADDED }, { ",", AT(late[6]), COUNTER_ADDED },
    { ",", AT(late[7]), COUNTER_ADDED }, { ",", AT(late[8]), COUNTER_ADDED },
};

static const struct counter_word worker_words[] = {
    CLIENTS,
    { ", streams=", AT(streams), COUNTER_NOW | COUNTER_FIRST }, { ",", AT(replicas), COUNTER_NOW },
    { ", moved=", AT(moved_in), COUNTER_ADDED | COUNTER_GROUP },
    { ",", AT(moved_out), COUNTER_ADDED },
    SCHEDULER,
    { ", late=", AT(late_us), COUNTER_MEAN | COUNTER_FIRST, "ms",
      .by = offsetof(struct worker_counters, late), .by_n = 9 },
    { ",", AT(late[VERY_LATE]), COUNTER_ADDED, .n = 9 - VERY_LATE },
};

static const struct counter_table process = {
    .words = process_words, .n_words = sizeof(process_words) / sizeof(process_words[0]),
};
static const struct counter_table worker_table = {
    .words = worker_words, .n_words = sizeof(worker_words) / sizeof(worker_words[0]),
};

size_t stat_process_text(const struct worker_counters *now, const struct worker_counters *then,
                         co_usec span, double cpu, uint64_t rss_kbyte, char *buf, size_t size)
{
    size_t n = text_add(buf, size, 0, "Hybrid cpu=%.2f%%,%lluMB", cpu,
                        (unsigned long long)rss_kbyte >> 10);

    return n + counters_line(&process, now, then, span, buf + n, size - n);
}

size_t stat_worker_text(unsigned worker, const struct worker_counters *now,
                        const struct worker_counters *then, co_usec at, char *buf, size_t size)
{
    co_usec span = (co_usec)(now->taken_at - then->taken_at);
    co_usec seen = (co_usec)(span > 0 ? now->taken_at : then->taken_at);
    double cpu = span > 0 ? 100.0 * (double)(now->cpu - then->cpu) / (double)span : 0;
    size_t n = text_add(buf, size, 0, "Worker %u cpu=%.2f%%", worker, cpu);

    n += counters_line(&worker_table, now, then, span, buf + n, size - n);
    if (at - seen > SILENT)
        n = text_add(buf, size, n, ", silent=%.1fs", (double)(at - seen) / 1e6);
    return n;
}
