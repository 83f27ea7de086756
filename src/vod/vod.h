/* SPDX-License-Identifier: MIT */
/* vod.h - files on demand of a worker: open files, their cached parts, and the players that wait
 * for a disk.
 *
 * Each worker has one (env->vod). The worker of a player serves its file: there is no stream and no
 * owner worker, so the player never moves. A file is identified by device, inode, size and time of
 * change, not by its name. A wire (wire.h) renders the samples of a file into parts. Parts are
 * cached for all players that play the file in the same way, up to a limit; the least recently used
 * part is dropped first.
 */
#ifndef VOD_VOD_H
#define VOD_VOD_H

#include "co/co.h"
#include "conf/conf.h"
#include "format/demux/demux.h"
#include "live/source.h"
#include "vod/wire.h"

struct vod;
struct vod_file; /* reference-counted; belongs to one worker */

struct vod *vod_new(struct live_registry *streams, const struct conf *conf, unsigned workers);
void vod_free(struct vod *vod); /* after the last player left. Yields */
/* Applies a changed configuration: limits and number of threads. */
void vod_reload(struct vod *vod, const struct conf *conf, unsigned workers);

enum { VOD_PATH_MAX = 1024 };

/* Tells files from live streams: true if the stream of that name is a file of this vhost. Gives its
 * path below vod.dir: app "vod/a" and name "b.mp4" give "a/b.mp4"; RTMP's "mp4:b" gives "b.mp4".
 * The file need not exist, but a path that could leave the folder is never a file ("..", a
 * backslash, a 0, an extension that is not listed). */
bool vod_is_file(const struct conf_vhost *vhost, const char *app, const char *name,
                 char path[VOD_PATH_MAX]);

/* Opens a file below the vhost's dir, or shares an open one; the caller gets a reference.
 * ERR_NO_FILE: there is no such file; ERR_UNSUPPORTED: the file is damaged or has no playable
 * track; ERR_TOO_MANY: index_max; ERR_IO_TIMEOUT: the disk; ERR_SYSTEM. Yields. */
err_t vod_file_open(struct vod_file **out, struct vod *vod, const struct conf_vhost *vhost,
                    const char *path) __attribute__((warn_unused_result));
/* Opens a file that the configuration names: an absolute path, or one relative to the working
 * directory. A symbolic link must not leave its folder. */
err_t vod_file_open_path(struct vod_file **out, struct vod *vod, const char *path)
    __attribute__((warn_unused_result));
/* Counts and logs a rejected player: vod_file_open() failed, or the file does not suit it. Many
 * rejections share a log line. `how` is the protocol: "HTTP". */
void vod_refused(struct vod *vod, const char *how, const char *ip, err_t why);
struct vod_file *vod_file_ref(struct vod_file *f);
struct vod_file *vod_file_unref(struct vod_file *f); /* returns NULL; NULL is allowed */
const struct demux_info *vod_file_info(const struct vod_file *f);
const struct demux_index *vod_file_index(const struct vod_file *f);
int64_t vod_file_opened(const struct vod_file *f); /* wall clock, microseconds since 1970 */
const char *vod_file_name(const struct vod_file *f); /* the path below dir, for the log */

/* ---- parts: the bytes that a wire makes from some samples of a group */

/* Samples of a group are divided in their order: a part ends after VOD_PART bytes, or after the
 * time between two turns of a player. The division is the same for all players, and a turn usually
 * sends whole parts. */
enum { VOD_PART = 96 * 1024 };
#define VOD_TURN_LEAST CO_MS(100)
#define VOD_TURN_MOST CO_MS(350)
/* Returns about the duration of VOD_PART bytes of a file with this bit rate, within the limits
 * above. */
co_usec vod_turn(unsigned kbps);

struct vod_at {
    demux_position place;
    uint32_t part; /* index in the group, from 0 */
};

struct vod_part { /* immutable, shared */
    struct vod_at next;     /* the part that follows */
    bool last;              /* no part follows */
    bool starts;            /* starts a group where a player may begin */
    int64_t dts;            /* time of its first frame, or where it would be */
    int64_t next_dts;       /* time of the frame that follows; at a group's end, about */
    size_t size;            /* bytes */
    const uint8_t *data;
    uint32_t n;             /* frames (with the bytes in front of them) */
    const struct vod_mark {
        int64_t dts;        /* never falls */
        int32_t cts;
        uint32_t end;       /* end of the frame in data */
    } *marks;
    struct vod_numbers begin, end; /* the wire's counters before and after the part */
};

/* A player that may wait for a part. Owned by the player; zero at first except on_part. */
struct vod_wait {
    /* The requested part is available, or loading it failed. Does not yield. */
    void (*on_part)(struct vod_wait *w);
    struct vod_wait *next, **prev;       /* private to the store */
    struct vod_load *load;
    co_usec since;
    bool told;                           /* a long wait was logged */
    int64_t there[DEMUX_TRACKS];         /* the end of the bytes that are in memory, or requested */
};

enum vod_got { VOD_READY, VOD_WAIT, VOD_FAILED };

/* Count the players of a file: parts of a file with a single player are not kept. */
void vod_file_begin_play(struct vod_file *f);
void vod_file_end_play(struct vod_file *f);

/* Gets a part, rendering it now if its bytes are in the page cache. VOD_READY: *out is a reference,
 * which vod_part_put() returns. VOD_WAIT: a helper thread reads; on_part() is called once, unless
 * vod_wait_end() comes first. VOD_FAILED: the file is damaged there, or changed; logged and
 * counted. `from` are the first numbers if the part must be rendered; a cached part may have
 * others. Also lets helper threads read about one second ahead. Does not yield. */
enum vod_got vod_part_get(struct vod_file *f, const struct vod_wire_use *use,
                          const struct vod_at *at, const struct vod_numbers *from,
                          struct vod_wait *w, const struct vod_part **out);
/* done: the player sent the whole part and will not request it again. */
void vod_part_put(struct vod_file *f, const struct vod_part *part, bool done);
void vod_wait_end(struct vod_wait *w); /* harmless if it does not wait */

/* Counters for the metrics. */
struct vod_stat { /* only uint64_t counters, which are summed over workers */
    uint64_t files;          /* open */
    uint64_t index_bytes, cache_bytes, cache_limit, index_limit;
    uint64_t parts_made, parts_shared; /* rendered; found in the cache */
    uint64_t read_bytes;     /* read from files into the server's own memory */
    uint64_t waited, failed; /* waits for a disk; failed loads */
    uint64_t refused;        /* rejected players */
};
void vod_stat(const struct vod *vod, struct vod_stat *out);

#endif
