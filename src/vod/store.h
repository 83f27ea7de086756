/* SPDX-License-Identifier: MIT */
/* store.h - internal declarations of files on demand, for the files of this folder only.
 *
 * Everything belongs to the worker's thread, except the objects that helper threads read: the
 * descriptor, the index and the groups of a file. These have their own reference counts, so a
 * thread that hangs on a disk keeps only these alive.
 */
#ifndef VOD_STORE_H
#define VOD_STORE_H

#include "live/evictable.h"
#include "vod/vod.h"

#include <stdatomic.h>

/* The timeout of a disk, and the wait after which a log line reports it. */
#define VOD_DISK_TIME CO_SECONDS(30)
#define VOD_SLOW CO_SECONDS(1)

/* ---- objects shared with helper threads */

struct vod_shared { /* holds one of these: */
    atomic_uint refs;
    int fd;                    /* a file's descriptor, or -1 */
    struct demux_index *demux;
    struct demux_group *g;
};

struct vod_shared *vod_shared_new(int fd, struct demux_index *demux, struct demux_group *g);
struct vod_shared *vod_shared_ref(struct vod_shared *s);
void vod_shared_unref(struct vod_shared *s); /* NULL is allowed */

/* ---- samples of a part, read into one buffer: pack.c, any thread */

/* How to read a file. VOD_TELLS: the kernel reports what is cached. Other file systems are memory
 * themselves, or are treated as a slow disk. */
enum vod_way { VOD_TELLS, VOD_IS_MEMORY, VOD_IS_ELSEWHERE };

/* The input of a demuxer. */
struct vod_input {
    struct demux_input in; /* first */
    int fd;
    bool wait;             /* for the disk; if false, only cached bytes are read */
    uint64_t *bytes;       /* counts them */
};
void vod_input_init(struct vod_input *in, int fd, int64_t size, bool wait, uint64_t *bytes);

/* The samples of a group that form a part. */
struct vod_cut {
    unsigned begin, end;  /* the range; it may contain samples of other tracks */
    unsigned n;           /* the number of requested samples in it, */
    size_t bytes;         /* and their size */
    bool last;            /* it is the last part of the group */
};
/* The tracks to read, and the limits of a part. */
struct vod_request {
    uint32_t tracks;
    bool keys_only;
    size_t bytes;  /* a part has about this size at most, and */
    int64_t lasts; /* about this duration at most, 1/90000 s */
};
/* Turns come up to a sixteenth early (live/sender.c). No part is longer than the time between two
 * turns, so each turn has a part to send. */
static inline struct vod_request vod_request_of(const struct vod_wire_use *use,
                                          const struct demux_info *info)
{
    int64_t turn = av_from_us(vod_turn(info->kbps));

    return (struct vod_request){ use->tracks, use->keys_only, VOD_PART, turn / 8 * 7 };
}
/* Finds a part. The division does not depend on the tracks. A part beyond the end is empty and
 * last. */
struct vod_cut vod_cut_find(const struct demux_group *g, struct vod_request want, uint32_t part);

/* Estimates the time of the sample after the last one of a group, from the distance of the last
 * samples of its track. The group must have samples. */
int64_t vod_group_end(const struct demux_group *g);

/* Samples in memory, each as the data of a packet, in their order. Empty if zeroed. */
struct vod_pack {
    struct vod_slot {
        const struct demux_sample *s;
        struct av_packet *pkt; /* only its data is set */
    } *slots, **by_place;
    unsigned n, cap;
    uint8_t *buf;
    size_t size;
};

/* Reads the samples of a part. DEMUX_AGAIN: not all of them are in memory. */
enum demux_status vod_pack_read(struct vod_pack *p, const struct demux_group *g,
                                const struct vod_cut *cut, struct vod_request want,
                                const struct vod_input *in);
void vod_pack_free(struct vod_pack *p); /* leaves it empty */

/* ---- work for helper threads: task_queue.c */

enum { VOD_LOADERS = 32, VOD_AHEAD_MOST = 64 };

/* Queued work for a loader coroutine. One device uses at most half of the loaders. */
struct vod_task {
    struct vod_task *next;
    uint64_t device;
    bool ahead;  /* read ahead: low priority, may be skipped */
    co_usec due; /* it fails at this time */
    /* Called in a loader coroutine; does the work and frees the task. */
    void (*go)(struct vod_task *t);
};

struct vod_queue {
    struct co_group loaders;
    struct vod_line {
        struct vod_task *first, **end;
    } lines[2]; /* urgent; read ahead */
    unsigned n_ahead, running;
    struct {
        uint64_t device;
        unsigned n;
    } busy[VOD_LOADERS]; /* the number of loaders per device */
    struct co_timer again;
    bool closing;
};

void vod_queue_open(struct vod_queue *q);
void vod_queue_close(struct vod_queue *q); /* queued tasks time out. Yields */
void vod_queue_put(struct vod_queue *q, struct vod_task *t);
/* Removes a task from the queue; the caller owns it again. */
void vod_queue_take(struct vod_queue *q, struct vod_task *t);
/* The queue of helper threads for a device, see co/thread.h. */
static inline uint64_t vod_lane(uint64_t device)
{
    return device + 1;
}
/* Runs fn(arg) on a helper thread, in the queue of the task's device, unless the task times out. */
err_t vod_task_run(const struct vod_task *t, void (*fn)(void *arg), void *arg,
                   void (*drop)(void *arg)) __attribute__((warn_unused_result));

/* ---- files: file.c */

enum vod_state { VOD_OPENING, VOD_OPEN, VOD_BAD };

struct vod_file {
    struct vod *vod;
    struct vod_file *next, **prev;         /* in its bucket */
    struct vod_file *older, *newer;        /* in the list of unused files */
    unsigned refs, players;
    uint64_t device, inode;
    int64_t size, mtime_ns;
    char *name;
    int64_t opened;                        /* see vod_file_opened() */
    enum vod_state state;
    enum vod_way way;
    struct vod_shared *disk;                 /* NULL while the file is unused */
    struct vod_shared *index;               /* NULL until it is open */
    enum demux_status status;              /* why it is bad, */
    const char *why;                       /* as a text; a literal */
    struct vod_opener *openers;            /* coroutines that wait for it */
    struct vod_cached *cached;             /* its entries in the cache */
    struct vod_load *loads;                /* pending loads */
    struct vod_ahead *ahead;
    co_usec told_at;                       /* last log line about failed reads */
};

enum { VOD_BUCKETS = 1024 };

struct vod_files {
    struct vod_file *buckets[VOD_BUCKETS];
    struct vod_file *oldest, *newest;      /* unused files */
    unsigned n, in_use;
    size_t bytes, idle, limit;             /* idle: the part of unused files */
};

/* Frees unused indexes, the oldest first, down to the limit. */
void vod_files_trim(struct vod *v);
void vod_files_free(struct vod *v);

/* ---- the cache: cache.c */

struct vod_cached { /* a part; an entry without a wire is a group */
    struct vod_cached *next, **prev;            /* in its bucket; NULL: not in the table */
    struct vod_cached *file_next, **file_prev;  /* in the list of its file */
    struct vod_cached *older, *newer;           /* in the list of unused entries */
    struct vod_file *file;
    struct vod_wire_use use;
    struct vod_at at;
    unsigned refs;
    size_t bytes;
    size_t block;                               /* size of its block in a region; or 0 */
    uint8_t *own;                               /* its bytes, if in separate memory */
    struct vod_shared *group;
    struct vod_part part;
    int64_t ends[DEMUX_TRACKS];                 /* end of its samples in the file; 0: none */
    /* last check whether the next bytes are in memory */
    co_usec looked_at;
    struct vod_mark marks[];                    /* usually followed by its bytes */
};

enum { VOD_CACHE_BUCKETS = 8192 };

struct vod_cache {
    struct vod_cached *buckets[VOD_CACHE_BUCKETS];
    struct vod_cached *oldest, *newest;         /* unused entries */
    size_t bytes, idle, limit;
};

/* Frees unused entries, the oldest first, until the cache has at most `limit` bytes. */
void vod_cache_trim(struct vod *v, size_t limit);
void vod_cache_forget(struct vod *v, struct vod_file *f); /* all entries of a file */
/* Returns a part with a reference for the caller, or NULL. */
struct vod_cached *vod_cache_find(struct vod *v, struct vod_file *f,
                                  const struct vod_wire_use *use, const struct vod_at *at);
/* Adds a new entry, which has one reference, and removes one with the same key. An entry that is
 * not `kept` is freed with its last reference, unless it is requested again before. */
void vod_cache_put(struct vod *v, struct vod_cached *one, bool kept);
struct vod_cached *vod_cached_ref(struct vod_cached *one);
void vod_cached_unref(struct vod_cached *one);
/* Returns the samples of a group with a reference for the caller, or NULL. */
struct vod_shared *vod_cache_group(struct vod *v, struct vod_file *f, demux_position place);
void vod_cache_put_group(struct vod *v, struct vod_file *f, struct vod_shared *g);
bool vod_use_same(const struct vod_wire_use *a, const struct vod_wire_use *b);

/* ---- parts: render.c */

void vod_rendered_free(struct vod_cached *one);
/* Moves an entry with a single reference into memory of its exact size. */
struct vod_cached *vod_rendered_fit(struct vod_cached *one);
/* Renders the samples that were read and adds the part to the cache; the caller gets a reference.
 * NULL: no memory. */
struct vod_cached *vod_render(struct vod_file *f, const struct vod_wire_use *use,
                              const struct vod_at *at, const struct vod_numbers *from,
                              const struct demux_group *g, const struct vod_cut *cut,
                              const struct vod_pack *pack);

/* ---- reading files: read.c */

struct vod_read {
    struct vod_file *file;              /* used by the worker's thread only */
    struct vod_shared *disk;
    struct vod_shared *index;
    struct vod_shared *group;            /* NULL: it is read too, and stored here */
    int64_t size;
    struct vod_at at;
    struct vod_request want;
    unsigned kbps;
    /* results: */
    struct vod_cut cut;
    struct vod_pack pack;
    enum demux_status status;
    const char *why;                    /* reason of a failure, or NULL */
    uint64_t bytes;
    bool has_read_group;
};

/* Creates a read. Takes over the reference to the group. The caller must keep the file until the
 * read ends. */
struct vod_read *vod_read_new(struct vod_file *f, struct vod_at at, struct vod_request want,
                              struct vod_shared *group);
/* Runs the read. After an error the caller no longer owns it. Yields. */
err_t vod_read_run(struct vod_read *r, const struct vod_task *t)
    __attribute__((warn_unused_result));
void vod_read_free(void *r); /* NULL is allowed */
/* Renders the part that was read, with a reference for the caller, and caches its group. */
enum demux_status vod_read_part(const struct vod_read *r, const struct vod_wire_use *use,
                                const struct vod_numbers *from, struct vod_cached **out);

enum { VOD_SECOND_LEAST = 256 * 1024, VOD_SECOND_MOST = 4 * 1024 * 1024 };

/* Returns the bytes of one second of a file, for reading ahead, within limits. */
static inline size_t vod_second(unsigned kbps)
{
    size_t n = (size_t)kbps * 125;

    return n < VOD_SECOND_LEAST ? VOD_SECOND_LEAST : n > VOD_SECOND_MOST ? VOD_SECOND_MOST : n;
}

/* ---- without waiting */

/* True if the byte is in the page cache. */
bool vod_is_cached(const struct vod_file *f, int64_t at);
/* Renders a part from cached bytes, with a reference for the caller. DEMUX_AGAIN: a helper thread
 * must read it. */
enum demux_status vod_read_cached(struct vod_file *f, const struct vod_wire_use *use,
                                  const struct vod_at *at, const struct vod_numbers *from,
                                  struct vod_cached **out, const char **why);

/* ---- rejected players: reject_log.c */

enum { VOD_REFUSED_TEXT = 300, VOD_REFUSED_KINDS = 16 };

struct vod_refused {
    uint32_t kinds[VOD_REFUSED_KINDS]; /* hashes of the texts that were logged */
    unsigned n, untold;
    char last[VOD_REFUSED_TEXT + 100];
    struct co_timer timer;      /* set: the last rejection is recent */
};

void vod_refused_end(struct vod_refused *r); /* logs the remaining count */

/* ---- all of a worker's files */

struct vod {
    size_t *memory;             /* all streams' memory; the memory of files is added to it */
    struct live_evictable keeper;
    struct vod_files files;
    struct vod_cache cache;
    struct vod_queue queue;
    struct vod_pack scratch;    /* for reads without waiting */
    struct vod_refused refused;
    struct vod_stat stat;       /* counters */
};

#endif
