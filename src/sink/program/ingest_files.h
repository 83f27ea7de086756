/* SPDX-License-Identifier: MIT */
/* ingest_files.h - ingests that need no ffmpeg: files that are published again and again, at the
 * workers where their streams are at home. */
#ifndef SINK_PROGRAM_INGEST_FILES_H
#define SINK_PROGRAM_INGEST_FILES_H

#include "sink/program/job.h"
#include "sink/sink.h"

extern const struct sink_ops ingest_files_sink;

/* Those of this worker end before the streams do. Yields. */
void ingest_files_end(struct sink *sink);

/* Walk all of this worker: NULL is before the first. They are shown as programs are, with no
 * process. */
struct ingest_run;
const struct ingest_run *ingest_files_next(const struct sink *sink, const struct ingest_run *r);
void ingest_files_look(const struct ingest_run *r, struct job_info *out);

#endif
