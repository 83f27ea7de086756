/* SPDX-License-Identifier: MIT */
/* ingests.h - `ingest` of a vhost: files published in a loop and SRT callers, each on the worker
 * that owns its stream, and programs (ffmpeg), managed by the first worker. */
#ifndef PULL_INGEST_INGESTS_H
#define PULL_INGEST_INGESTS_H

#include "sink/program/job.h"
#include "sink/sink.h"

extern const struct sink_ops ingests_sink;

/* Iterates over the ingests of this worker that need no program; NULL: the first one. */
struct ingest_run;
const struct ingest_run *ingests_next(const struct sink *sink, const struct ingest_run *r);
void ingests_info(const struct ingest_run *r, struct job_info *out);

#endif
