/* SPDX-License-Identifier: MIT */
/* exec.h - programs that run while a stream is published: `exec` of a vhost. */
#ifndef SINK_PROGRAM_EXEC_H
#define SINK_PROGRAM_EXEC_H

#include "session/env.h"
#include "sink/program/job_spec.h"

/* Add what shall run for this stream. A line that must not run with what the publisher said is
 * left out, and the log says why. `stream` is "vhost/app/stream". Does not yield. */
void exec_wants(const struct conf *c, const struct conf_vhost *v,
                const struct session_stream *names, const char *stream, struct job_specs *out);

#endif
