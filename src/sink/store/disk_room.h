/* SPDX-License-Identifier: MIT */
/* disk_room.h - quotas and free space for recordings and segments.
 *
 * A helper thread counts the files below a folder periodically, because other programs remove
 * files, too; between the counts, written bytes are added. A quota limits that sum. In addition,
 * the last bytes of a disk stay free. All workers share the sums.
 */
#ifndef SINK_STORE_DISK_ROOM_H
#define SINK_STORE_DISK_ROOM_H

#include "sink/store/disk.h"

struct disk_rooms; /* all folders of a struct disk */
struct disk_total;

/* The view of one stream, in its memory; zero before it is opened. */
struct disk_room {
    struct disk_rooms *all;
    struct disk_total *total; /* its folder; NULL: not open */
    bool full; /* the last result */
};

enum disk_lack { DISK_LACKS_NOTHING, DISK_LACKS_QUOTA, DISK_LACKS_FREE };

/* Opens the folder of `path`, up to its first variable. */
void disk_room_open(struct disk_room *r, struct disk *d, const char *path);
void disk_room_close(struct disk_room *r); /* fine if not open */

/* Checks whether more may be written: at most `quota` bytes below the folder, and `floor` bytes of
 * the disk stay free (ignored on disks smaller than 20 * floor); 0 is no limit. Once full, it stays
 * full until a twentieth is free again, so that files do not start and end repeatedly. Never full
 * before the first count. */
enum disk_lack disk_room_lacks(struct disk_room *r, int64_t quota, int64_t floor);
void disk_room_add(struct disk_room *r, int64_t bytes); /* written, or < 0: removed */
/* The folder and its usage in bytes, for the log. */
const char *disk_room_root(const struct disk_room *r);
int64_t disk_room_used(const struct disk_room *r);

/* On a helper thread: returns true if the disk of fd has `bytes` free in addition to `floor`. */
bool disk_has_free(int fd, uint64_t bytes, int64_t floor);

/* For disk.c. `ends` are the file name endings that count, NULL-terminated. */
struct disk_rooms *disk_rooms_new(const char *const *ends, struct co_group *group,
                                  enum co_pool pool);
void disk_rooms_free(struct disk_rooms *all); /* rooms may be closed later; NULL is fine */

#endif
