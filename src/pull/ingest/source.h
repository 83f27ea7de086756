/* SPDX-License-Identifier: MIT */
/* source.h - ingests that need no ffmpeg: an MP4 or FLV file, copied unchanged, or an SRT listener,
 * published to a stream of this server.
 *
 * Pure: no I/O.
 */
#ifndef PULL_INGEST_SOURCE_H
#define PULL_INGEST_SOURCE_H

#include "conf/conf.h"
#include "session/stream_key.h"
#include "sink/program/job_spec.h"

/* An ingest without ffmpeg; owns its strings. */
struct ingest_source {
    char *vhost, *name; /* vhost of the ingest, and its name in lists: "id", "id-engine" */
    char *path;         /* path of the file ("./" is the server's working directory); or the URL */
    char *public_path;  /* the same without secrets */
    bool srt;
    struct stream_key *to;
};

/* Returns true if this engine of an ingest only copies such a file or URL to a stream of this
 * server; ffmpeg runs all others. The file is judged by its name only. */
bool ingest_source_of(struct ingest_source *out, const struct conf *c, const struct conf_vhost *v,
                      const struct conf_ingest *in, size_t engine);
bool ingest_source_same(const struct ingest_source *a, const struct ingest_source *b);
void ingest_source_free(struct ingest_source *f); /* may be zeroed */

/* Adds an ffmpeg job for each engine of each ingest of all vhosts, except for those that need none.
 * Does not yield. */
void ingest_programs(const struct conf *c, struct job_specs *out);

#endif
