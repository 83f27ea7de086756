/* SPDX-License-Identifier: MIT */
/* transcode.h - transcodes streams with ffmpeg: `transcode` of a vhost. */
#ifndef SINK_PROGRAM_TRANSCODE_H
#define SINK_PROGRAM_TRANSCODE_H

#include "session/env.h"
#include "sink/program/job_spec.h"

/* Adds an ffmpeg job for each engine of each rule that matches the stream: rules for all streams,
 * for its app, and for the stream. It omits and logs one whose output is the stream itself.
 * `stream` is "vhost/app/stream". Does not yield. */
void transcode_wants(const struct conf *c, const struct conf_vhost *v,
                     const struct session_stream *names, const char *stream, struct job_specs *out);

/* Returns the name of an output on this server, "vhost/app/stream", malloc'ed; NULL if the output
 * is not RTMP. */
char *transcode_target(const struct conf *c, const char *output);

#endif
