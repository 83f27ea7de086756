/* SPDX-License-Identifier: MIT */
/* vod.h - files on demand of a worker: those that are open, what is read and rendered of them, and
 * who waits for a disk.
 *
 * Each worker has its own (env->vod). A file is served by the worker where its player is: no stream
 * is behind it, and nobody moves for it. Files are known by what they are (device, inode, size,
 * time of change), not by their names. What is read of a file is rendered by a wire (wire.h) in
 * parts, and kept for all who play the same in the same way, within a bound: the least recently
 * used part goes first.
 */
#ifndef VOD_VOD_H
#define VOD_VOD_H

#include "co/co.h"
#include "conf/conf.h"
#include "format/demux/demux.h"
#include "live/source.h"
#include "vod/wire.h"

struct vod;
struct vod_file; /* counted; of one worker */

struct vod *vod_new(struct live_registry *streams, const struct conf *conf, unsigned workers);
void vod_free(struct vod *vod); /* when nobody plays any more. Yields */
/* The configuration changed: bounds and threads are what it says now. */
void vod_reload(struct vod *vod, const struct conf *conf, unsigned workers);

enum { VOD_PATH_MAX = 1024 };

/* Is the stream of that name a file of this vhost? Then its path below vod.dir: of app "vod/a" and
 * name "b.mp4" it is "a/b.mp4"; RTMP's "mp4:b" is "b.mp4". Whether it is there is not looked at,
 * but a path that could lead out is no file's ("..", a backslash, a 0, an end that is not listed).
 * False: it is a live stream. */
bool vod_is_file(const struct conf_vhost *vhost, const char *app, const char *name,
                 char path[VOD_PATH_MAX]);

/* Open it below the vhost's dir, or share one that is open; with a reference for the caller.
 * ERR_NO_FILE: it is not there, or no file; ERR_UNSUPPORTED: nothing of it can be played, or it is
 * broken; ERR_TOO_MANY: index_max; ERR_IO_TIMEOUT: the disk; ERR_SYSTEM. Yields. */
err_t vod_file_open(struct vod_file **out, struct vod *vod, const struct conf_vhost *vhost,
                    const char *path) __attribute__((warn_unused_result));
/* The same of a file that the configuration names: from where the server was started, or from the
 * root. A link must not lead out of its folder. */
err_t vod_file_open_path(struct vod_file **out, struct vod *vod, const char *path)
    __attribute__((warn_unused_result));
/* A player gets an answer that says no, for what vod_file_open() said or for what is in the file:
 * counted, and told to the log now or with others. `how` it came: "HTTP". */
void vod_refused(struct vod *vod, const char *how, const char *ip, err_t why);
struct vod_file *vod_file_ref(struct vod_file *f);
struct vod_file *vod_file_unref(struct vod_file *f); /* always NULL; NULL is fine */
const struct demux_info *vod_file_info(const struct vod_file *f);
const struct demux_index *vod_file_index(const struct vod_file *f);
int64_t vod_file_opened(const struct vod_file *f); /* wall clock, microseconds since 1970 */
const char *vod_file_name(const struct vod_file *f); /* its path below dir, for the log */

/* ---- parts: what a wire makes of some samples of a group */

/* Which part. Samples of a group are divided in their order, wherever VOD_PART bytes are reached,
 * or as much time as there is between two turns of a player; so it is the same for all who come to
 * it, and in a turn whole parts are sent as a rule. */
enum { VOD_PART = 96 * 1024 };
#define VOD_TURN_LEAST CO_MS(100)
#define VOD_TURN_MOST CO_MS(350)
/* About as long as VOD_PART bytes of such a file take, within these. */
co_usec vod_turn(unsigned kbps);

struct vod_at {
    demux_position place;
    uint32_t part; /* of the group, from 0 */
};

struct vod_part { /* immutable, shared */
    struct vod_at next;     /* what comes behind it; the same place, or that of the next group */
    bool last;              /* nothing does */
    bool starts;            /* it is the begin of a group where one may begin */
    int64_t dts;            /* of its first frame; of an empty one: where it would be */
    int64_t next_dts;       /* of what comes behind it; at the end of a group about that */
    size_t size;            /* bytes */
    const uint8_t *data;
    uint32_t n;             /* frames (with what stands in front of them) */
    const struct vod_mark {
        int64_t dts;        /* never falls */
        int32_t cts;
        uint32_t end;       /* where in data it ends */
    } *marks;
    struct vod_numbers begin, end; /* as the wire counted them before and behind it */
};

/* One that plays, as the store sees it: in its own memory, starts as zeros but for on_part. */
struct vod_wait {
    /* What it waits for is there, or cannot be. Does not yield. */
    void (*on_part)(struct vod_wait *w);
    struct vod_wait *next, **prev;       /* the store's own */
    struct vod_load *load;
    co_usec since;
    bool told;                           /* the log has a line that it waited long */
    int64_t there[DEMUX_TRACKS];         /* up to where the file is in memory, or will be */
};

enum vod_got { VOD_READY, VOD_WAIT, VOD_FAILED };

/* A player begins and ends: parts of a file that has a single player are not kept. */
void vod_file_begin_play(struct vod_file *f);
void vod_file_end_play(struct vod_file *f);

/* The part, made now if its bytes are in the kernel's memory. VOD_READY: *out has a reference, to
 * give back by vod_part_put(). VOD_WAIT: a helper thread reads; on_part() is called once, unless
 * vod_wait_end() comes first. VOD_FAILED: the file is broken there, or changed; told in the log,
 * counted. `from` are the numbers to begin with if it has to be made; one that is there may have
 * begun with others. Beside, what comes about a second behind it is read ahead by helpers. Does
 * not yield. */
enum vod_got vod_part_get(struct vod_file *f, const struct vod_wire_use *use,
                          const struct vod_at *at, const struct vod_numbers *from,
                          struct vod_wait *w, const struct vod_part **out);
/* done: whoever gives it back has sent it, and does not come for it again. */
void vod_part_put(struct vod_file *f, const struct vod_part *part, bool done);
void vod_wait_end(struct vod_wait *w); /* fine if it does not wait */

/* For the metrics. */
struct vod_stat { /* words alone, of which all are sums */
    uint64_t files;          /* open */
    uint64_t index_bytes, cache_bytes, cache_limit, index_limit;
    uint64_t parts_made, parts_shared; /* made anew; found */
    uint64_t read_bytes;     /* of files, into memory of ours */
    uint64_t waited, failed; /* times that somebody waited for a disk; loads that failed */
    uint64_t refused;        /* players */
};
void vod_stat(const struct vod *vod, struct vod_stat *out);

#endif
