/* SPDX-License-Identifier: MIT */
/* disk_count.h - what files below a folder take, counted on a helper thread in small steps. */
#ifndef SINK_STORE_DISK_COUNT_H
#define SINK_STORE_DISK_COUNT_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

enum { DISK_COUNT_DEPTH = 16, DISK_COUNT_STEP = 2000 };

struct disk_count {
    char *root;
    const char *const *ends;
    bool count, done;      /* else only the disk is looked at */
    int64_t bytes;         /* of files whose names end so */
    int64_t free, size;    /* of the disk; 0: not known */
    uint64_t device;       /* st_dev of it */
    int error;             /* errno: why it is not known */
    DIR *open[DISK_COUNT_DEPTH];
    int depth;
};

struct disk_count *disk_count_new(const char *root, const char *const *ends, bool count);
/* On a helper thread: go on until `done`. Links are not followed, folders that are deeper not
 * looked into. */
void disk_count_step(void *count);
void disk_count_free(void *count); /* on any thread */

#endif
