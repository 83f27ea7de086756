/* SPDX-License-Identifier: MIT */
/* children.h - all programs that the configuration wants beside the server: those of streams
 * (exec, transcode) while they are published, and ingests.
 */
#ifndef SINK_PROGRAM_CHILDREN_H
#define SINK_PROGRAM_CHILDREN_H

#include "session/env.h"
#include "sink/program/job.h"

struct children; /* owned by the server */

struct children *children_new(struct session_env *env, struct disk *disk);
/* Start the ingests: once there is somebody to publish to. Nothing here yields but free. */
void children_start(struct children *c);
/* A stream is published, and no longer. The names are copied. */
void children_begin(struct children *c, const struct conf_vhost *vhost,
                    const struct session_stream *names, struct live_source *src);
void children_end(struct children *c, const struct live_source *src);
/* The configuration changed: what is the same as before goes on, what is not is ended, what is
 * new is started. */
void children_reload(struct children *c);
void children_stop_ingest(struct children *c); /* for a graceful end: all of them, for good */
/* Ask all to end, and start no more. */
void children_interrupt(struct children *c);
void children_free(struct children *c); /* waits until they have. Yields. */

/* Walk them: NULL is before the first. See job_look(). */
const struct job *children_next(const struct children *c, const struct job *j);

#endif
