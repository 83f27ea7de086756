/* SPDX-License-Identifier: MIT */
/* exec.h - programs that run while a stream is published: `exec` of a vhost. */
#ifndef SINK_EXEC_H
#define SINK_EXEC_H

#include "serve/serve.h"
#include "sink/job_want.h"

/* Add what shall run for this stream. A line that must not run with what the publisher said is
 * left out, and the log says why. `stream` is "vhost/app/stream". Does not yield. */
void exec_wants(const struct conf *c, const struct conf_vhost *v, const struct serve_stream *names,
                const char *stream, struct job_wants *out);

#endif
