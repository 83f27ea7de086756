/* SPDX-License-Identifier: MIT */
/* kept.h - what the server keeps going by itself: streams that it pulls or ingests, and recordings.
 * Those of all workers, as copies.
 */
#ifndef APP_API_KEPT_H
#define APP_API_KEPT_H

#include "app/api/api.h"
#include "session/condition.h"
#include "session/workers.h"

struct kept_row {
    const char *id;
    const char *what; /* "rtsp", "srt", "file", "program"; "flv" or "mp4" of a recording */
    const char *name; /* of an ingest; else "" */
    const char *vhost, *app, *stream; /* "" where it is not known */
    const char *place; /* a url or file, without passwords; "" */
    bool on_demand;
    struct condition condition; /* without passwords, too */
    co_usec again_at; /* the next try; 0: none is due */
    co_usec began_at; /* of its file; 0: it has none */
    uint64_t bytes;   /* of this connection, of this file */
};

struct kept_part {
    const struct api_parts *of;
    struct conf_arena *arena; /* of all texts */
    struct kept_row *v;
    size_t n, cap;
};

enum kept_kind { KEPT_PULLS, KEPT_RECORDINGS };

struct kept {
    struct kept_part *parts[WORKERS_MAX]; /* NULL: that worker did not answer in time */
    unsigned n_parts;
};

/* Ask all workers and wait for each so long at most. Yields. */
void kept_gather(struct kept *k, const struct api_parts *of, enum kept_kind kind,
                 co_usec patience);
void kept_free(struct kept *k);
/* Walk all: NULL is before the first. */
const struct kept_row *kept_next(const struct kept *k, const struct kept_row *row);

#endif
