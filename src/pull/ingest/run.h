/* SPDX-License-Identifier: MIT */
/* run.h - one ingest without a program: a file published in a loop, or an SRT listener that is
 * called; used only inside this folder.
 *
 * Its coroutine runs on the owner worker of its stream and publishes there like a pull, without
 * authorization. The file is opened again for each round, so a replaced file is used from the next
 * round. Timestamps continue from round to round. After an error it restarts, with pauses that
 * grow.
 */
#ifndef PULL_INGEST_RUN_H
#define PULL_INGEST_RUN_H

#include "pull/ingest/source.h"
#include "pull/pull.h"
#include "sink/program/job.h"

struct ingest_run {
    struct pull pull;
    struct ingest_source source;
    bool (*is_configured)(const struct ingest_run *r); /* returns false if it must end */
    void (*ended)(struct pulls *all); /* called at its end; another ingest may start */

    enum job_state state;
    co_usec since, until;   /* time of the last state change; time of the next start */
    unsigned starts;
    char end_reason[160];   /* reason of its last end */
    char *tc_url;
    co_usec began;          /* time of timestamp 0 */
    int64_t shift, end;     /* 1/90000 s: start of this round; start of the next one */
};

/* Creates an ingest. Takes over `source` (zeroes it) and the reference of the owner. */
struct ingest_run *ingest_run_new(struct pulls *all, struct ingest_source *source,
                                  struct stream_owner *owner);
void ingest_run_free(struct ingest_run *r); /* if it was never started */
err_t ingest_run_main(void *run);           /* co_fn; frees the ingest at its end */

/* srt.c: publishes from an SRT listener until it ends. The stream must be found already. Yields. */
err_t ingest_srt_publish(struct ingest_run *r) __attribute__((warn_unused_result));
/* Starts publishing its stream; on errors everything is undone. */
err_t ingest_run_join(struct ingest_run *r, enum clients_type type)
    __attribute__((warn_unused_result));

#endif
