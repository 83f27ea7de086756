/* SPDX-License-Identifier: MIT */
/* source.h - ingests that need no ffmpeg: a file of MP4 or FLV, as it is, or what a listener
 * of SRT sends, to a stream of ours. Pure. */
#ifndef PULL_INGEST_SOURCE_H
#define PULL_INGEST_SOURCE_H

#include "conf/conf.h"
#include "session/stream_key.h"
#include "sink/program/job_spec.h"

/* Strings are its own. */
struct ingest_source {
    char *vhost, *name; /* whose ingest it is, and what lists call it: "id", "id-engine" */
    char *path;         /* of the file; "./" is where the server was started; or the url */
    char *shown;        /* the same, without what is secret in it */
    bool srt;
    struct stream_key *to;
};

/* Does this engine of an ingest only copy such a file, or url, to a stream of this server? Whatever
 * else is asked of it, ffmpeg does. The file is not looked at but for its name. */
bool ingest_source_of(struct ingest_source *out, const struct conf *c, const struct conf_vhost *v,
                    const struct conf_ingest *in, size_t engine);
bool ingest_source_same(const struct ingest_source *a, const struct ingest_source *b);
void ingest_source_free(struct ingest_source *f); /* zeroed is fine */

/* Add an ffmpeg for each engine of each ingest of all vhosts, but for those that need none. Does
 * not yield. */
void ingest_wants(const struct conf *c, struct job_specs *out);

#endif
