/* SPDX-License-Identifier: MIT */
/* ingests.h - `ingest` of a vhost: files published in a loop and calls to SRT listeners, each by
 * the worker that owns its stream, and programs (ffmpeg), run by the first worker. */
#ifndef PULL_INGEST_INGESTS_H
#define PULL_INGEST_INGESTS_H

#include "sink/program/job.h"
#include "sink/sink.h"

extern const struct sink_ops ingests_sink;

/* Walk those of this worker that need no program: NULL is before the first. */
struct ingest_run;
const struct ingest_run *ingests_next(const struct sink *sink, const struct ingest_run *r);
void ingests_info(const struct ingest_run *r, struct job_info *out);

#endif
