/* SPDX-License-Identifier: MIT */
/* kept.h - lists everything that the server keeps running: pulls, ingests and recordings of all
 * workers, as copies.
 */
#ifndef APP_API_KEPT_H
#define APP_API_KEPT_H

#include "app/api/api.h"
#include "session/condition.h"
#include "session/workers.h"

struct kept_row {
    const char *id;
    const char *what; /* "rtsp", "srt", "file", "program"; recordings: "flv" or "mp4" */
    const char *name; /* name of the ingest; else "" */
    const char *vhost, *app, *stream; /* "" if unknown */
    const char *place; /* URL or file, without passwords; or "" */
    bool on_demand;
    struct condition condition; /* without passwords */
    co_usec again_at; /* time of the next attempt; 0: none */
    co_usec began_at; /* start of the current file; 0: there is none */
    uint64_t bytes;   /* bytes of this connection or file */
};

struct kept_part {
    const struct api_parts *of;
    struct conf_arena *arena; /* owns all texts */
    struct kept_row *v;
    size_t n, cap;
};

enum kept_kind { KEPT_PULLS, KEPT_RECORDINGS };

struct kept {
    struct kept_part *parts[WORKERS_MAX]; /* NULL: that worker did not respond in time */
    unsigned n_parts;
};

/* Queries all workers; waits up to `patience` for each. Yields. */
void kept_collect(struct kept *k, const struct api_parts *of, enum kept_kind kind,
                 co_usec patience);
void kept_free(struct kept *k);
/* Iterates over all rows; start with NULL. */
const struct kept_row *kept_next(const struct kept *k, const struct kept_row *row);

#endif
