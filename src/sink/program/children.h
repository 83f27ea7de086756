/* SPDX-License-Identifier: MIT */
/* children.h - all programs that the configuration wants beside the server: those of streams
 * (exec, transcode) while they are published, and ingests.
 */
#ifndef SINK_PROGRAM_CHILDREN_H
#define SINK_PROGRAM_CHILDREN_H

#include "sink/program/job.h"
#include "sink/sink.h"

/* What is the same after a reload as before goes on, what is not is ended, what is new is started.
 * Ingests are started once there is somebody to publish to. */
extern const struct sink_ops program_sink;

/* Walk them: NULL is before the first. See job_look(). */
const struct job *children_next(const struct sink *sink, const struct job *j);

#endif
