/* SPDX-License-Identifier: MIT */
/* worker.h - HLS and DASH of one worker: its streams, and their files in memory. */
#ifndef SINK_HLS_WORKER_H
#define SINK_HLS_WORKER_H

#include "sink/hls/hls.h"

enum { HLS_NAME_MAX = 1024 }; /* of a path or a url */

struct hls {
    struct sink sink;
    struct session_env *env;
    struct disk *disk;
    struct hls_stream *streams;
    struct hls_names *names; /* paths of what is in memory */
    struct block_cache *cache;       /* of segments */
    uint64_t etags;
    struct hls_sessions *sessions; /* of serve/hls, which makes and frees them */
    struct hls_ended_list *ended;
    bool stopping;           /* the program ends */
};

/* memory.c: files in memory */
struct hls_info;
struct hls_name {
    struct hls_name *next;
    struct hls_file *file;       /* NULL: it is still to come */
    const struct hls_info *info; /* of the stream whose file it is */
    char path[];
};
struct hls_names *hls_names_new(void);
void hls_names_free(struct hls_names *n);
struct hls_file *hls_file_new(struct hls *h, struct wr *take, const char *type);
/* The same of blocks of the cache. */
struct hls_file *hls_file_of(struct hls *h, struct blocks *take, const char *type);
struct hls_file *hls_file_ref(struct hls_file *f);
struct hls_name *hls_names_get(struct hls *h, const char *path); /* NULL: there is none */
void hls_names_set(const struct hls_info *info, const char *path, struct hls_file *f);
void hls_names_drop(struct hls *h, const char *path, const struct hls_file *f);
/* Vhost, app and name of the stream that the playlist at this path is of, borrowed until the next
 * yield. False: there is none. */
bool hls_names_of(struct hls *h, const char *path, struct session_stream *out);
/* The same of any file that is in memory, or is to be; *dash tells which kind. */
bool hls_names_of_file(struct hls *h, const char *path, struct session_stream *out, bool *dash);
/* The worker where a file at this path is in memory, or is to be: owner.h. */
int hls_names_owner(const struct hls *h, const char *path);

#endif
