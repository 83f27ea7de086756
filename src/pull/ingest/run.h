/* SPDX-License-Identifier: MIT */
/* run.h - one file that is published again and again, or a listener of SRT that is called
 * again and again; for this folder alone.
 *
 * Its coroutine runs at the home of its stream, and publishes there as a pull does: nobody is asked
 * whether it may. The file is opened anew at each round, so one that was replaced is taken then.
 * Times go on from round to round. When it cannot go on, it begins anew after a pause, which grows.
 */
#ifndef PULL_INGEST_RUN_H
#define PULL_INGEST_RUN_H

#include "pull/ingest/source.h"
#include "pull/pull.h"
#include "sink/program/job.h"

struct ingest_run {
    struct pull pull;
    struct ingest_source what;
    bool (*wanted)(const struct ingest_run *r); /* go on at all? */
    void (*ended)(struct pulls *all);           /* one more is free to begin */

    enum job_state state;
    co_usec since, until;   /* in this state; the next begin */
    unsigned starts;
    char how[160];          /* it ended last */
    char *tc_url;
    co_usec began;          /* when its time 0 was */
    int64_t shift, end;     /* 1/90000 s: of this round; where the next one begins */
};

/* Takes over what it is to do, and the reference of the home. */
struct ingest_run *ingest_run_new(struct pulls *all, struct ingest_source *what,
                                  struct stream_owner *owner);
void ingest_run_free(struct ingest_run *r); /* for one that was never started */
err_t ingest_run_main(void *run);           /* co_fn; frees it at its end */

/* srt.c: of a listener of SRT, until it ends. Its stream is found. Yields. */
err_t ingest_srt_publish(struct ingest_run *r) __attribute__((warn_unused_result));
/* It publishes from now on, in the place of its stream; or it does not, and nothing is left. */
err_t ingest_run_join(struct ingest_run *r, enum clients_type type)
    __attribute__((warn_unused_result));

#endif
