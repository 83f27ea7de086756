/* SPDX-License-Identifier: MIT */
/* disk_room.h - how much of a disk recordings and segments may take.
 *
 * What lies below a folder is counted now and then by a helper thread, as others remove files, too;
 * in between what is written is added. A quota bounds that sum. Apart from it the last bytes of a
 * disk are left for others. The sums are those of the process, whichever of its workers write.
 */
#ifndef SINK_STORE_DISK_ROOM_H
#define SINK_STORE_DISK_ROOM_H

#include "sink/store/disk.h"

struct disk_rooms; /* of a struct disk */
struct disk_total;

/* What one stream is told; in its memory, zeroed before it is opened. */
struct disk_room {
    struct disk_rooms *all;
    struct disk_total *total; /* of its folder; NULL: it is not open */
    bool full; /* as it was told last */
};

enum disk_lack { DISK_LACKS_NOTHING, DISK_LACKS_QUOTA, DISK_LACKS_FREE };

/* Below that folder, which may be the fixed part of a path with variables. */
void disk_room_open(struct disk_room *r, struct disk *d, const char *path);
void disk_room_close(struct disk_room *r); /* fine if it is not open */

/* May more be written? `quota` bytes below the folder, `floor` bytes of the disk stay free (not of
 * a disk that is smaller than 20 of them); 0 is no limit. Once full it stays so until a twentieth
 * is free again, lest files begin and end all the time. Never before somebody has counted. */
enum disk_lack disk_room_lacks(struct disk_room *r, int64_t quota, int64_t floor);
void disk_room_add(struct disk_room *r, int64_t bytes); /* written, or < 0: removed */
/* For the log: the folder, and what its files take. */
const char *disk_room_root(const struct disk_room *r);
int64_t disk_room_used(const struct disk_room *r);

/* On a helper thread: are so many bytes there, and the floor beside them? fd is on that disk. */
bool disk_has_free(int fd, uint64_t bytes, int64_t floor);

/* For disk.c: `ends` are those of the names that count, NULL at the end. */
struct disk_rooms *disk_rooms_new(const char *const *ends, struct co_group *group,
                                  enum co_pool pool);
void disk_rooms_free(struct disk_rooms *all); /* rooms may be closed later; may be NULL */

#endif
