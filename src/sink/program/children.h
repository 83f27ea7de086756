/* SPDX-License-Identifier: MIT */
/* children.h - all programs that the server runs: those of streams (exec, transcode) while they are
 * published, and standing ones (ffmpeg of ingests) that another sink asks for.
 */
#ifndef SINK_PROGRAM_CHILDREN_H
#define SINK_PROGRAM_CHILDREN_H

#include "sink/program/job.h"
#include "sink/sink.h"

/* A reload ends programs that are no longer wanted, starts new ones, and keeps the others. */
extern const struct sink_ops program_sink;

/* The programs to run whether or not a stream is published: they replace those of the last
 * call, and what is the same goes on. Takes the wants over. Does not yield. */
void children_apply_standing(struct sink *sink, struct job_specs *wants);

/* Walk them: NULL is before the first. See job_poll(). */
const struct job *children_next(const struct sink *sink, const struct job *j);

#endif
