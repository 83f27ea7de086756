/* SPDX-License-Identifier: MIT */
/* job.h - programs of ours that are kept running: exec, ingest, transcode.
 *
 * A job is a wish (job_spec.h) and the coroutine that sees to it: it starts the program, and when
 * that ends it starts it again after a pause, which grows while the program fails at once. Told to
 * end, the program is asked first and killed when it does not listen.
 */
#ifndef SINK_PROGRAM_JOB_H
#define SINK_PROGRAM_JOB_H

#include "session/condition.h"
#include "session/env.h"
#include "sink/program/job_spec.h"

struct disk;
struct job;  /* counted: who started it, and its coroutine */

enum job_state {
    JOB_STARTING,
    JOB_RUNS,
    JOB_WAITS, /* ended; it will be started again */
    JOB_ENDS,  /* asked to */
};
enum { JOB_STATES = JOB_ENDS + 1 };

/* For those who look. Strings are the job's, valid until somebody yields. */
struct job_info {
    enum job_kind kind;
    enum job_state state;
    const char *vhost, *stream, *name; /* as in struct job_spec */
    const char *command;  /* as it was started last, words between spaces; "" if never */
    int pid;              /* 0: none runs */
    unsigned starts;
    co_usec since;        /* it is in this state */
    co_usec next;         /* JOB_WAITS: when it is started again */
    const char *ended;    /* how it ended last: "status 1", "signal 9"; "" if never */
    const char *line;     /* what it said last, */
    const char *counter;  /* and the last state of what it counts ("frame= 100 ...") */
    const char *id;       /* by which lists know it */
    const struct condition *condition; /* a program runs once it has for some seconds */
    bool srt;             /* an ingest without a program: a listener of SRT, else a file */
    uint64_t bytes;       /* of it, in this run */
};

struct jobs { /* all of a worker */
    struct session_env *env;
    struct disk *disk;
    struct job *list;
    struct co_group *group; /* of their coroutines */
};

/* The wish is taken over. NULL: it cannot be, the log says why. Nothing here yields. */
struct job *job_start(struct jobs *all, struct job_spec *want);
void job_end(struct job *j); /* ask it to end; j is no longer the caller's */
const struct job_spec *job_wish(const struct job *j);
/* Where it sends to, as started last: its last argument. */
const char *job_output(const struct job *j);
/* What it reads: its argument behind "-i"; "" without. May have a password in it. */
const char *job_input(const struct job *j);
void job_poll(const struct job *j, struct job_info *out);
const struct job *job_next(const struct job *j); /* in the list; NULL: there is none */
const char *job_state_name(enum job_state state); /* "running" */

#endif
