/* SPDX-License-Identifier: MIT */
/* dvr.h - record streams to files, as the vhost's `dvr` says.
 *
 * FLV gets the tags as they came; MP4 is written as fragments, so that a crash costs the last one
 * only, and is made into a file to seek in when it closes. While it grows, a file is called
 * NAME.tmp; one that is there already is never written over. Helper threads do all that touches
 * the disk (disk.h).
 */
#ifndef SINK_DVR_DVR_H
#define SINK_DVR_DVR_H

#include "session/env.h"
#include "sink/store/disk.h"

struct dvrs; /* all recordings of a server; owned by it */

struct dvrs *dvrs_new(struct session_env *env, struct disk *disk);
/* A stream begins, or goes on after the configuration changed: record it, if it is to be. The
 * names are copied. Does not yield. */
void dvrs_begin(struct dvrs *d, const struct conf_vhost *vhost, const struct session_stream *stream,
                struct live_source *src);
/* Read some of what is there of it; false: there was nothing. Does not yield. */
bool dvrs_catch_up(struct dvrs *d, const struct live_source *src);
/* It ends, and so does its file. Does not yield. */
void dvrs_end(struct dvrs *d, const struct live_source *src);
unsigned dvrs_count(const struct dvrs *d); /* streams that are recorded now */
/* Ends all and waits for their coroutines; then disk_free() closes the files, and dvrs_free()
 * comes last. Yields. */
void dvrs_stop(struct dvrs *d);
void dvrs_free(struct dvrs *d);

#endif
