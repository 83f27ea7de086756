/* SPDX-License-Identifier: MIT */
/* exec.h - programs that run while a stream is published: `exec` of a vhost. */
#ifndef SINK_PROGRAM_EXEC_H
#define SINK_PROGRAM_EXEC_H

#include "session/env.h"
#include "sink/program/job_spec.h"

/* Adds the programs for this stream. It omits a command line that is unsafe with the names chosen
 * by the publisher, and logs why. `stream` is "vhost/app/stream". Does not yield. */
void exec_wants(const struct conf *c, const struct conf_vhost *v,
                const struct session_stream *names, const char *stream, struct job_specs *out);

#endif
