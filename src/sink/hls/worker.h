/* SPDX-License-Identifier: MIT */
/* worker.h - HLS and DASH of one worker: its streams and their files in memory. */
#ifndef SINK_HLS_WORKER_H
#define SINK_HLS_WORKER_H

#include "sink/hls/hls.h"

enum { HLS_NAME_MAX = 1024 }; /* longest path or URL */

struct hls {
    struct sink sink;
    struct session_env *env;
    struct disk *disk;
    struct hls_stream *streams;
    struct hls_names *names; /* paths of files in memory */
    struct block_cache *cache; /* blocks of segments */
    uint64_t etags;
    struct hls_sessions *sessions; /* created and freed by serve/hls */
    struct hls_ended_list *ended;
    bool stopping;           /* the process quits */
};

/* memory.c: files in memory */
struct hls_info;
struct hls_name {
    struct hls_name *next;
    struct hls_file *file;       /* NULL: it does not exist yet */
    const struct hls_info *info; /* the stream that it belongs to */
    char path[];
};
struct hls_names *hls_names_new(void);
void hls_names_free(struct hls_names *n);
struct hls_file *hls_file_new(struct hls *h, struct wr *take, const char *type);
/* Creates a file from blocks of the cache. */
struct hls_file *hls_file_of(struct hls *h, struct blocks *take, const char *type);
struct hls_file *hls_file_ref(struct hls_file *f);
struct hls_name *hls_names_get(struct hls *h, const char *path); /* or NULL */
void hls_names_set(const struct hls_info *info, const char *path, struct hls_file *f);
void hls_names_drop(struct hls *h, const char *path, const struct hls_file *f);
/* Finds the vhost, app and name of the stream with a playlist at this path, borrowed until the next
 * yield. Returns false if there is none. */
bool hls_names_of(struct hls *h, const char *path, struct session_stream *out);
/* The same for any file in memory or upcoming; *dash is true for DASH. */
bool hls_names_of_file(struct hls *h, const char *path, struct session_stream *out, bool *dash);
/* Returns the worker that has a file at this path in memory, or will have it: owner.h. */
int hls_names_owner(const struct hls *h, const char *path);

#endif
