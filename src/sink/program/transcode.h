/* SPDX-License-Identifier: MIT */
/* transcode.h - streams that ffmpeg makes others of: `transcode` of a vhost. */
#ifndef SINK_PROGRAM_TRANSCODE_H
#define SINK_PROGRAM_TRANSCODE_H

#include "session/env.h"
#include "sink/program/job_spec.h"

/* Add an ffmpeg for each engine of each rule that is for this stream: of all streams, of its app,
 * of it alone. One whose output is the stream itself is left out with a line in the log. `stream`
 * is "vhost/app/stream". Does not yield. */
void transcode_wants(const struct conf *c, const struct conf_vhost *v,
                     const struct session_stream *names, const char *stream, struct job_specs *out);

/* What an output is called here: "vhost/app/stream", or NULL for what is no RTMP. malloc'ed. */
char *transcode_target(const struct conf *c, const char *output);

#endif
