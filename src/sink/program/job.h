/* SPDX-License-Identifier: MIT */
/* job.h - runs programs (exec, ingest, transcode) and restarts them when they end.
 *
 * A job is a spec (job_spec.h) and a coroutine that starts the program. When the program ends, it
 * restarts it after a pause, which grows while the program fails immediately. To stop a program it
 * sends SIGTERM first, then SIGKILL.
 */
#ifndef SINK_PROGRAM_JOB_H
#define SINK_PROGRAM_JOB_H

#include "session/condition.h"
#include "session/env.h"
#include "sink/program/job_spec.h"

struct disk;
struct job;  /* reference counted: by its creator and by its coroutine */

enum job_state {
    JOB_STARTING,
    JOB_RUNS,
    JOB_WAITS, /* ended; will be restarted */
    JOB_ENDS,  /* being stopped */
};
enum { JOB_STATES = JOB_ENDS + 1 };

/* Information for the API. Strings belong to the job and are valid until a yield. */
struct job_info {
    enum job_kind kind;
    enum job_state state;
    const char *vhost, *stream, *name; /* see struct job_spec */
    /* last command line, arguments separated by spaces; "" if never started */
    const char *command;
    int pid;              /* 0: not running */
    unsigned starts;
    co_usec since;        /* start of the state */
    co_usec next;         /* JOB_WAITS: time of the next start */
    const char *ended;    /* how it last ended: "status 1", "signal 9"; "" if never */
    const char *line;     /* its last line of output, */
    const char *counter;  /* and its last progress counter ("frame= 100 ...") */
    const char *id;       /* id in lists of the API */
    const struct condition *condition; /* running after some seconds without a failure */
    bool srt;             /* an ingest without a program: SRT, else a file */
    uint64_t bytes;       /* bytes of that ingest in this run */
};

struct jobs { /* all jobs of a worker */
    struct session_env *env;
    struct disk *disk;
    struct job *list;
    struct co_group *group; /* group of their coroutines */
};

/* Starts a job and takes over the spec. Returns NULL and logs the reason on failure. Nothing here
 * yields. */
struct job *job_start(struct jobs *all, struct job_spec *want);
void job_end(struct job *j); /* stops it; the caller's reference is released */
const struct job_spec *job_spec_of(const struct job *j);
/* Returns its output: the last argument of the last start. */
const char *job_output(const struct job *j);
/* Returns its input: the argument after "-i", or "". May contain a password. */
const char *job_input(const struct job *j);
void job_poll(const struct job *j, struct job_info *out);
const struct job *job_next(const struct job *j); /* next in the list, or NULL */
const char *job_state_name(enum job_state state); /* "running" */

#endif
