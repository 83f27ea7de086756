/* SPDX-License-Identifier: MIT */
/* stat.h - what all clients of a load tool measured, and the report of it. */
#ifndef BENCH_STAT_H
#define BENCH_STAT_H

#include "base/err.h"
#include "bench/hist.h"
#include "co/co.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { BENCH_REASONS = 16 };

struct bench_reason { /* why sessions failed, by the code of their error */
    enum err_code code;
    uint64_t count;
    char text[160]; /* of the first */
};

struct bench_hls_stat { /* of HLS players */
    struct bench_hist first_list, first_segment; /* µs from the begin of a session */
    /* from the mark */
    uint64_t lists, segments, parts, hints; /* fetched; parts that a hint named */
    uint64_t skipped, jumps; /* units not got; moves back to the edge */
    struct bench_hist fetch; /* µs that a segment took */
    struct bench_hist edge;  /* µs that the picture is behind the end of the list */
    struct bench_hist stall; /* µs that a picture stood still */
};

struct bench_stat {
    /* from the begin */
    uint64_t sessions, connected, ended, churned, failed;
    struct bench_reason reasons[BENCH_REASONS];
    struct bench_hist connect, first_byte, first_key; /* µs from the begin of a session */
    /* from the mark (--warmup), or the begin */
    uint64_t bytes_in, bytes_out, messages;
    uint64_t stalls, late, drops, backwards;
    struct bench_hist latency; /* µs from a publisher of ours to here */
    struct bench_hist lag;     /* µs that a publisher sent a message after it was due */
    struct bench_hls_stat hls;
};

/* Numbers of the moment of the report. */
struct bench_report {
    const char *tool, *url;
    int clients, alive;
    double seconds, total_seconds; /* since the mark; since the begin */
    double cpu;                    /* of this process, % of a core, since the mark */
    long rss_kb;
    struct bench_hist rate; /* kbit/s of each client that is alive */
    struct bench_hist gap;  /* µs, the longest of each client */
    bool gaps;              /* it was measured */
    bool hls;
    double media_kbps;      /* of the file that is published; 0: none is */
};

void bench_stat_fail(struct bench_stat *s, err_t err); /* err stays the caller's */
/* Forget what is counted from the mark on. */
void bench_stat_mark(struct bench_stat *s);

/* "[report] ..." in the shape that users of such tools know. */
void bench_report_line(FILE *f, const struct bench_stat *s, const struct bench_report *r);
void bench_report_text(FILE *f, const struct bench_stat *s, const struct bench_report *r);
void bench_report_json(FILE *f, const struct bench_stat *s, const struct bench_report *r);

#endif
