/* SPDX-License-Identifier: MIT */
/* children.h - all programs that the server runs: programs of published streams (exec, transcode),
 * and standing ones (ffmpeg of ingests) that another sink requests.
 */
#ifndef SINK_PROGRAM_CHILDREN_H
#define SINK_PROGRAM_CHILDREN_H

#include "sink/program/job.h"
#include "sink/sink.h"

/* A reload ends programs that are no longer configured, starts new ones and keeps the others. */
extern const struct sink_ops program_sink;

/* Sets the programs that run independently of streams. They replace those of the last call;
 * identical ones continue. Takes over `wants`. Does not yield. */
void children_apply_standing(struct sink *sink, struct job_specs *wants);

/* Iterates over the jobs; start with NULL. See job_poll(). */
const struct job *children_next(const struct sink *sink, const struct job *j);

#endif
