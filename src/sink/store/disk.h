/* SPDX-License-Identifier: MIT */
/* disk.h - file work in order, on helper threads, with bounds.
 *
 * A lane is what must stay in order: all files of one stream. Its jobs run one after the other on
 * helper threads, while those of other lanes run beside them; the coroutine that puts a job never
 * waits. What waits to be written is bounded in bytes, per lane and in all: over that a job is
 * refused, and who made it does without. So a slow disk costs files, not streams; the log says so
 * while it is slow.
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
    /* On a helper thread: no err_t, no log, no co_*, nothing shared. Sets error and what. */
    void (*run)(struct disk_job *job);
    /* On the coroutine thread, once, in order; frees the job. Does not yield. */
    void (*done)(struct disk_job *job);
    size_t bytes;      /* of memory that it holds */
    unsigned mode;     /* of files that it makes; 0: all may read them */
    int error;         /* errno, 0: it went well */
    const char *what;  /* the call that failed */
    struct disk_job *next;
    bool extra;        /* the queue's own: it was taken over the limit */
};

struct disk_lane { /* in the memory of its owner, who outlives its jobs: each holds a reference */
    struct disk *disk;
    struct disk_job *head, **tail;
    unsigned jobs;     /* that are not done */
    size_t bytes;
    co_usec busy_since; /* the oldest job waits since; 0: none does */
    bool listed;       /* in the list of lanes that have work, or at work */
    struct disk_lane *next;
};

struct disk_limits {
    size_t lane_bytes, all_bytes;
    atomic_size_t *all; /* what waits in all, of several that share that bound; NULL: of this one */
    unsigned threads; /* at once, at most CO_POOL_THREADS; 0: that many */
    bool apart;       /* by the threads of CO_POOL_STORE, not CO_POOL_DISK */
    const char *what; /* for the log: "recordings" */
    const struct live_memory *memory; /* all are at most a quarter of that limit; NULL: of none */
    const char *const *ends; /* of the names that a quota counts, NULL at the end; NULL: none has */
};

struct disk *disk_new(const struct disk_limits *limits);
struct disk_rooms *disk_rooms_of(struct disk *d); /* NULL: nobody counts what it takes */
/* Let what waits be done, for at most `patience`, then end. Yields. */
void disk_free(struct disk *d, co_usec patience);

void disk_lane_init(struct disk_lane *lane, struct disk *d);
/* Give a job to the threads. False: it is over the limits and still the caller's; `must` jobs (to
 * close, to remove) are always taken. Does not yield. */
bool disk_put(struct disk_lane *lane, struct disk_job *job, bool must);
/* The job that was put last, while no thread has it and more may be added to it; or NULL. */
struct disk_job *disk_lane_last(const struct disk_lane *lane);

/* ---- for run(), on the thread */

/* Write a whole file: beside its place, then moved there, so nobody reads half of it. Makes the
 * folders that are missing. False: job->error and what say why, and nothing is left behind. */
bool disk_write_file(struct disk_job *job, const char *path, const void *data, size_t size);
bool disk_write_blocks_file(struct disk_job *job, const char *path, const struct block *first,
                            size_t size);
/* The same for one that is replaced every few seconds: what it was stays as "path.tmp" and is
 * written over the next time, until disk_write_file() comes last. To make and remove a file each
 * time is what file systems are slow at. Who opened it has a second at least to read it. */
bool disk_swap_file(struct disk_job *job, const char *path, const void *data, size_t size);
/* Append to a file that is there, and is no link. */
bool disk_append_file(struct disk_job *job, const char *path, const void *data, size_t size);
/* Open a file for appending or as new (flags as open(2)), with the folders it needs; -1. */
int  disk_open(struct disk_job *job, const char *path, int flags);
bool disk_write(struct disk_job *job, int fd, const void *data, size_t size);
/* A block and all that follow. */
bool disk_write_blocks(struct disk_job *job, int fd, const struct block *first);
/* And the folder it was in, if that is empty now and below `root`. */
void disk_remove(const char *path, const char *root);
/* All of a file that is not larger than `max`, malloc'ed. NULL; with EPERM because another user
 * owns the file or may write to it. */
char *disk_read_file(struct disk_job *job, const char *path, size_t max, size_t *size);

#endif
