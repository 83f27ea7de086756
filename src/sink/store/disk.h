/* SPDX-License-Identifier: MIT */
/* disk.h - disk workers: bounded queues of file jobs that run in order on helper threads.
 *
 * Each stream has its own queue. The jobs of a queue run one after the other, those of different
 * queues in parallel; the coroutine that puts a job never waits. Pending bytes are limited, per
 * queue and in total. Over the limit a job is refused and the caller drops the data, so a slow disk
 * costs files, not streams, and the log reports it.
 */
#ifndef SINK_STORE_DISK_H
#define SINK_STORE_DISK_H

#include "base/blocks.h"
#include "co/co.h"
#include "co/thread.h"
#include "live/source.h"

#include <stdatomic.h>
#include <sys/types.h>

struct disk; /* owned by the server */

struct disk_job {
    /* Runs on a helper thread: no err_t, no log, no co_*, no shared data. Sets error and what. */
    void (*run)(struct disk_job *job);
    /* Runs on the coroutine thread, once, in order; frees the job. Does not yield. */
    void (*done)(struct disk_job *job);
    size_t bytes;      /* memory that it holds */
    unsigned mode;     /* mode of files that it creates; 0: readable by all */
    int error;         /* errno; 0: success */
    const char *what;  /* the call that failed */
    struct disk_job *next;
    bool extra;        /* used by the queue: accepted over the limit */
};

struct disk_lane { /* the owner, which each job references, outlives the jobs */
    struct disk *disk;
    struct disk_job *head, **tail;
    unsigned jobs;     /* jobs that are not done */
    size_t bytes;
    co_usec busy_since; /* when the oldest pending job was put; 0: none */
    bool listed;       /* in the list of queues with jobs, or at work */
    struct disk_lane *next;
};

struct disk_limits {
    size_t lane_bytes, all_bytes;
    atomic_size_t *all; /* pending bytes shared with others under one limit; NULL: not shared */
    unsigned threads; /* number of threads, at most CO_POOL_THREADS; 0: that many */
    bool apart;       /* uses the threads of CO_POOL_STORE instead of CO_POOL_DISK */
    const char *what; /* for the log: "recordings" */
    const struct live_memory *memory; /* total limit is a quarter of this one; NULL: ignored */
    const char *const *ends; /* file name endings that a quota counts, NULL-terminated; or NULL */
};

struct disk *disk_new(const struct disk_limits *limits);
struct disk_rooms *disk_rooms_of(struct disk *d); /* NULL: disk usage is not counted */
/* Completes pending jobs for at most `patience`, then ends. Yields. */
void disk_free(struct disk *d, co_usec patience);

void disk_lane_init(struct disk_lane *lane, struct disk *d);
/* Puts a job. Returns false if it exceeds the limits: then the caller keeps it. `must` jobs (close,
 * remove) are always accepted. Does not yield. */
bool disk_put(struct disk_lane *lane, struct disk_job *job, bool must);
/* Returns the job that was put last while it can still be extended, because no thread has started
 * it; or NULL. */
struct disk_job *disk_lane_last(const struct disk_lane *lane);

/* ---- for run(), on the helper thread */

/* Writes a whole file under a temporary name and renames it, so no reader sees half of it. Creates
 * missing folders. On failure it returns false, sets job->error and what, and leaves no file. */
bool disk_write_file(struct disk_job *job, const char *path, const void *data, size_t size);
bool disk_write_blocks_file(struct disk_job *job, const char *path, const struct block *first,
                            size_t size);
/* Like disk_write_file(), for a file that is replaced every few seconds: the old file stays as
 * "path.tmp" and is overwritten the next time, since file systems are slow at creating and removing
 * files. A reader that has it open gets at least a second. The last write is disk_write_file(). */
bool disk_swap_file(struct disk_job *job, const char *path, const void *data, size_t size);
/* Appends to an existing file that is not a link. */
bool disk_append_file(struct disk_job *job, const char *path, const void *data, size_t size);
/* Opens a file for appending or as new (flags as in open(2)) and creates its folders; -1 on
 * failure. */
int  disk_open(struct disk_job *job, const char *path, int flags);
bool disk_write(struct disk_job *job, int fd, const void *data, size_t size);
/* Writes a block and all blocks that follow it. */
bool disk_write_blocks(struct disk_job *job, int fd, const struct block *first);
/* Removes a file, and its folder if that is empty and below `root`. */
void disk_remove(const char *path, const char *root);
/* Reads a whole file of at most `max` bytes, malloc'ed. Returns NULL on failure, with EPERM if
 * another user owns the file or may write to it. */
char *disk_read_file(struct disk_job *job, const char *path, size_t max, size_t *size);

#endif
