/* SPDX-License-Identifier: MIT */
/* run.h - the life of a load tool: begins its clients in time, keeps them at work, reports.
 *
 * A client is one coroutine. It connects, calls the tool's session function, waits, and does so
 * again as -t, -d and -e say.
 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "bench/flv.h"
#include "bench/marker.h"
#include "bench/opts.h"
#include "bench/stat.h"
#include "bench/talk.h"
#include "bench/url.h"

struct bench_run;

struct bench_client {
    struct bench_run *run;
    unsigned index;
    bool alive;             /* plays or publishes */
    struct bench_talk talk;
    struct bench_flv flv;   /* of an HTTP player */
    co_usec began;          /* this session */
    co_usec until;          /* when churn ends it; 0: never */
    /* media of this session; the tool counts */
    uint64_t bytes;
    uint64_t mark_bytes;    /* of them before the mark */
    co_usec mark_at;        /* when this client's rate is counted from; 0: no media yet */
    co_usec read_at;        /* when bytes came last: rates are counted from burst to burst */
    int64_t last_at;        /* µs, wall clock, of the last media; 0: none yet */
    int64_t longest_gap;    /* µs, since the mark */
    int64_t base;           /* least of arrival minus timestamp, ms */
    uint32_t last_time[2];  /* ms, of audio and video */
    bool seen[2], have_key, have_marker, had_marker;
    struct bench_marker marker; /* of the message that is being read */
    uint32_t number;            /* of the last whole one */
};

struct bench_tool {
    const char *name, *what;
    enum bench_tools kind;
    const char *schemes; /* of its URLs: "http https" */
    /* Connect; NULL: bench_talk_open(). Its io is in c->talk, closed by the caller. */
    err_t (*open)(struct bench_client *c, const struct bench_url *url, const char *bind_ip,
                  co_usec timeout);
    /* Before the first client; may be NULL. */
    err_t (*prepare)(struct bench_run *run);
    /* The talk is connected. Sets c->alive once media flows; returns why it ended: NULL when
     * c->until came. Its talk is closed by the caller. */
    err_t (*session)(struct bench_client *c, const struct bench_url *url);
};

struct bench_run {
    const struct bench_tool *tool;
    struct bench_opts opts;
    struct bench_stat stat;
    struct bench_client *clients;
    struct co_group group;
    char ip[64];          /* of the server */
    co_usec began, mark;  /* mark 0: to come */
    double cpu_at_mark;   /* s */
    int started, done;
    double media_kbps;
};

int bench_main(const struct bench_tool *tool, int argc, char **argv);

/* Is this session's time over? */
bool bench_is_over(const struct bench_client *c);
/* Let the next read wait no longer than the session lasts. */
void bench_limit_wait(struct bench_client *c);
/* What a read gave; NULL in place of a timeout that came because the session is over. */
err_t bench_unless_over(const struct bench_client *c, err_t err)
    __attribute__((warn_unused_result));

int64_t bench_wall(void); /* µs */

#endif
