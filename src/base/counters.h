/* SPDX-License-Identifier: MIT */
/* counters.h - counters as rows: /metrics and the log read the same table.
 *
 * A part of the server keeps its counters in a struct of 64-bit words, one struct for each worker.
 * A table describes the struct: which word is which metric, and what the line in the log shows
 * every five seconds. The sum over workers adds word by word, so a gauge must be a sum as well.
 */
#ifndef BASE_COUNTERS_H
#define BASE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session_env; /* environment of a worker's sessions; opaque here */

enum counter_unit { COUNTER_PLAIN, COUNTER_US, COUNTER_MS }; /* times are shown in seconds */

/* A family of metrics: a counter if its name ends in "_total", else a gauge. With a label it shows
 * n words, one for each value of the label; without one their sum. */
struct counter_row {
    const char *name, *help;
    uint16_t at, n;            /* offset of the first word; n 0: one */
    const char *label;
    const char *const *values; /* n of them; NULL: value() has them */
    enum counter_unit unit;
    const char *(*value)(unsigned i);
    uint16_t step;             /* bytes from one word to the next; 0: adjacent words */
    struct {                   /* a second label: for each value of the first n words in a row */
        const char *label;
        uint16_t n;
        const char *const *values;
        const char *(*value)(unsigned i);
    } inner;
};

/* A number of a log line. Without one of the first three flags it shows the rate per second. */
enum {
    COUNTER_NOW = 1,    /* the value itself */
    COUNTER_ADDED = 2,  /* the increase since the last line */
    COUNTER_MEAN = 4,   /* mean in ms: increase in microseconds / increase of the words at `by` */
    COUNTER_ALWAYS = 8, /* begins a group that is always shown */
    COUNTER_GROUP = 16, /* begins a group that is shown if any of its numbers is not 0, */
    COUNTER_FIRST = 32, /* or if its first one is not 0 */
    COUNTER_LINE = 64,  /* the line is written if a marked number is not 0, or none is marked */
};
struct counter_word {
    const char *before;        /* text in front of the number; NULL: the number is not shown */
    uint16_t at;
    uint16_t flags;
    const char *after;         /* or NULL */
    uint16_t n;                /* words that are added up; 0: one */
    uint16_t by, by_n;
};

struct counter_table {
    const struct counter_row *rows;
    size_t n_rows;
    const struct counter_word *words; /* NULL: no log line */
    size_t n_words;
    size_t size;               /* size of the struct in bytes */
    size_t no_room;            /* offset of two words: datagrams dropped because a socket buffer was
                                * full, received and sent. For the log only. 0: none */
    /* Fills the zeroed struct from the service of a worker. Returns false without a service. */
    bool (*read)(const struct session_env *env, void *out);
};

/* Adds each word of `one` to the same word of `sum`; both have `size` bytes. */
void counters_add(void *sum, const void *one, size_t size);
/* Returns a counter's value for /metrics; i, k: index of the value of each label. */
double counters_value(const struct counter_row *row, unsigned i, unsigned k, const void *counters);
/* Writes the changes between two readings to buf. Returns the length; 0 if nothing to show. */
size_t counters_line(const struct counter_table *t, const void *now, const void *then,
                    int64_t span_us, char *buf, size_t size);

#endif
