/* SPDX-License-Identifier: MIT */
/* disk_count.h - counts the disk usage below a folder on a helper thread, in small steps. */
#ifndef SINK_STORE_DISK_COUNT_H
#define SINK_STORE_DISK_COUNT_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

enum { DISK_COUNT_DEPTH = 16, DISK_COUNT_STEP = 2000 };

struct disk_count {
    char *root;
    const char *const *ends;
    bool count, done;      /* count: also files, not only the disk's free space */
    int64_t bytes;         /* sum of files with these endings */
    int64_t free, size;    /* disk space in bytes; 0: unknown */
    uint64_t device;       /* its st_dev */
    int error;             /* errno if unknown */
    DIR *open[DISK_COUNT_DEPTH];
    int depth;
};

struct disk_count *disk_count_new(const char *root, const char *const *ends, bool count);
/* Runs on a helper thread; repeat until `done`. It does not follow links, nor enter folders below
 * the depth limit. */
void disk_count_step(void *count);
void disk_count_free(void *count); /* on any thread */

#endif
