/* SPDX-License-Identifier: MIT */
/* store.h - the insides of the store of files on demand; for the files that make it up alone.
 *
 * All of it belongs to the worker's thread, but for what helper threads read of a file: its
 * descriptor, its index and its groups. These are counted by themselves, so a thread that a disk
 * holds up keeps them, and nothing else.
 */
#ifndef VOD_STORE_H
#define VOD_STORE_H

#include "live/evictable.h"
#include "vod/vod.h"

#include <stdatomic.h>

/* How long a disk may take, and from when on a line tells of it. */
#define VOD_DISK_TIME CO_SECONDS(30)
#define VOD_SLOW CO_SECONDS(1)

/* ---- what helper threads share with us */

struct vod_shared { /* one of these: */
    atomic_uint refs;
    int fd;                    /* of a file; or -1 */
    struct demux_index *demux;
    struct demux_group *g;
};

struct vod_shared *vod_shared_new(int fd, struct demux_index *demux, struct demux_group *g);
struct vod_shared *vod_shared_ref(struct vod_shared *s);
void vod_shared_unref(struct vod_shared *s); /* NULL is fine */

/* ---- samples of a part, read into one buffer: pack.c, any thread */

/* How a file is read. What the kernel cannot tell of is memory itself, or may be anywhere. */
enum vod_way { VOD_TELLS, VOD_IS_MEMORY, VOD_IS_ELSEWHERE };

/* Where a demuxer reads from. */
struct vod_input {
    struct demux_input in; /* first */
    int fd;
    bool wait;             /* for the disk; else what is not in memory is not read */
    uint64_t *bytes;       /* counts them */
};
void vod_input_init(struct vod_input *in, int fd, int64_t size, bool wait, uint64_t *bytes);

/* Which samples of a group a part is. */
struct vod_cut {
    unsigned begin, end;  /* of those between, */
    unsigned n;           /* so many are wanted, */
    size_t bytes;         /* of so many */
    bool last;            /* the group has no more */
};
/* Which samples of a group are wanted. */
struct vod_request {
    uint32_t tracks;
    bool keys_only;
    size_t bytes;  /* a part has at most so many, and */
    int64_t lasts; /* lasts so long, 1/90000 s; as a rule */
};
/* Turns are up to a sixteenth earlier than they are due (live/sender.c): no part is longer than is
 * between two, so each turn has one to send. */
static inline struct vod_request vod_request_of(const struct vod_wire_use *use,
                                          const struct demux_info *info)
{
    int64_t turn = av_from_us(vod_turn(info->kbps));

    return (struct vod_request){ use->tracks, use->keys_only, VOD_PART, turn / 8 * 7 };
}
/* Where it is cut does not depend on the tracks. A part that is not there is empty and last. */
struct vod_cut vod_cut_find(const struct demux_group *g, struct vod_request want, uint32_t part);

/* About when what comes behind the last sample of a group is: as much later than the last ones of
 * its track as these are apart. It has samples. */
int64_t vod_group_end(const struct demux_group *g);

/* Samples in memory, each as the end of a packet, in their order. Zeroed is empty. */
struct vod_pack {
    struct vod_slot {
        const struct demux_sample *s;
        struct av_packet *pkt; /* only its data is set */
    } *slots, **by_place;
    unsigned n, cap;
    uint8_t *buf;
    size_t size;
};

/* Read them. DEMUX_AGAIN: not all of it is in memory. */
enum demux_status vod_pack_read(struct vod_pack *p, const struct demux_group *g,
                                const struct vod_cut *cut, struct vod_request want,
                                const struct vod_input *in);
void vod_pack_free(struct vod_pack *p); /* it is empty then */

/* ---- work for helper threads: task_queue.c */

enum { VOD_LOADERS = 32, VOD_AHEAD_MOST = 64 };

/* Work that waits for a loader coroutine. One device has at most half of these. */
struct vod_task {
    struct vod_task *next;
    uint64_t device;
    bool ahead;  /* it can wait, or be left out */
    co_usec due; /* then it has failed */
    /* In such a coroutine: does it and frees it. */
    void (*go)(struct vod_task *t);
};

struct vod_queue {
    struct co_group loaders;
    struct vod_line {
        struct vod_task *first, **end;
    } lines[2]; /* of what is wanted now; of what can wait */
    unsigned n_ahead, running;
    struct {
        uint64_t device;
        unsigned n;
    } busy[VOD_LOADERS]; /* of devices, how many loaders */
    struct co_timer again;
    bool closing;
};

void vod_queue_open(struct vod_queue *q);
void vod_queue_close(struct vod_queue *q); /* what waits is done as if its time were over. Yields */
void vod_queue_put(struct vod_queue *q, struct vod_task *t);
/* It waits no more, and is the caller's again. */
void vod_queue_take(struct vod_queue *q, struct vod_task *t);
/* The lane of a device, for co/thread.h. */
static inline uint64_t vod_lane(uint64_t device)
{
    return device + 1;
}
/* fn(arg) by a helper thread, in the lane of the task's device, while its time is not over. */
err_t vod_task_run(const struct vod_task *t, void (*fn)(void *arg), void *arg,
                   void (*drop)(void *arg)) __attribute__((warn_unused_result));

/* ---- files: file.c */

enum vod_state { VOD_OPENING, VOD_OPEN, VOD_BAD };

struct vod_file {
    struct vod *vod;
    struct vod_file *next, **prev;         /* in its bucket */
    struct vod_file *older, *newer;        /* of those that nobody uses */
    unsigned refs, players;
    uint64_t device, inode;
    int64_t size, mtime_ns;
    char *name;
    int64_t opened;                        /* as vod_file_opened() has it */
    enum vod_state state;
    enum vod_way way;
    struct vod_shared *disk;                 /* NULL while nobody uses it */
    struct vod_shared *index;               /* NULL until it is open */
    enum demux_status status;              /* why it is bad, */
    const char *why;                       /* in words; a literal */
    struct vod_opener *openers;            /* who waits for it */
    struct vod_cached *cached;             /* what the cache has of it */
    struct vod_load *loads;                /* under way */
    struct vod_ahead *ahead;
    co_usec told_at;                       /* in the log, of reads that failed */
};

enum { VOD_BUCKETS = 1024 };

struct vod_files {
    struct vod_file *buckets[VOD_BUCKETS];
    struct vod_file *oldest, *newest;      /* that nobody uses */
    unsigned n, in_use;
    size_t bytes, idle, limit;             /* idle: of those that nobody uses */
};

/* Free indexes that nobody uses, the oldest first, down to the limit. */
void vod_files_trim(struct vod *v);
void vod_files_free(struct vod *v);

/* ---- what is kept of files: cache.c */

struct vod_cached { /* a part; without a wire a group */
    struct vod_cached *next, **prev;            /* in its bucket; NULL: it is not listed */
    struct vod_cached *file_next, **file_prev;  /* of its file */
    struct vod_cached *older, *newer;           /* of those that nobody uses */
    struct vod_file *file;
    struct vod_wire_use use;
    struct vod_at at;
    unsigned refs;
    size_t bytes;
    size_t block;                               /* it and its bytes are a block of a region; or 0 */
    uint8_t *own;                               /* its bytes, where they are apart from it */
    struct vod_shared *group;
    struct vod_part part;
    int64_t ends[DEMUX_TRACKS];                 /* in the file, of its samples; 0: it has none */
    co_usec looked_at;                          /* whether what comes next is in memory */
    struct vod_mark marks[];                    /* then, as a rule, its bytes */
};

enum { VOD_CACHE_BUCKETS = 8192 };

struct vod_cache {
    struct vod_cached *buckets[VOD_CACHE_BUCKETS];
    struct vod_cached *oldest, *newest;         /* that nobody uses */
    size_t bytes, idle, limit;
};

/* Forget what nobody uses, the oldest first, until no more than that is left of all. */
void vod_cache_trim(struct vod *v, size_t limit);
void vod_cache_forget(struct vod *v, struct vod_file *f); /* all of a file */
/* With a reference for the caller, or NULL. */
struct vod_cached *vod_cache_find(struct vod *v, struct vod_file *f,
                                  const struct vod_wire_use *use, const struct vod_at *at);
/* Takes over a new one, which has one reference. What is there of that name goes. What is not
 * `kept` goes with its last user, unless that comes back for it. */
void vod_cache_put(struct vod *v, struct vod_cached *one, bool kept);
struct vod_cached *vod_cached_ref(struct vod_cached *one);
void vod_cached_unref(struct vod_cached *one);
/* The samples of a group, with a reference for the caller; or NULL. */
struct vod_shared *vod_cache_group(struct vod *v, struct vod_file *f, demux_position place);
void vod_cache_put_group(struct vod *v, struct vod_file *f, struct vod_shared *g);
bool vod_use_same(const struct vod_wire_use *a, const struct vod_wire_use *b);

/* ---- parts: render.c */

/* Render what was read, and keep it; with a reference for the caller. NULL: no memory. */
void vod_rendered_free(struct vod_cached *one); /* its memory */
/* The same in memory of its size, in place of one that nobody else has. */
struct vod_cached *vod_rendered_fit(struct vod_cached *one);
struct vod_cached *vod_render(struct vod_file *f, const struct vod_wire_use *use,
                              const struct vod_at *at, const struct vod_numbers *from,
                              const struct demux_group *g, const struct vod_cut *cut,
                              const struct vod_pack *pack);

/* ---- read from the file: read.c */

struct vod_read {
    struct vod_file *file;              /* of the worker's thread alone */
    struct vod_shared *disk;
    struct vod_shared *index;
    struct vod_shared *group;            /* NULL: it is read too, and is here then */
    int64_t size;
    struct vod_at at;
    struct vod_request want;
    unsigned kbps;
    /* what it gives: */
    struct vod_cut cut;
    struct vod_pack pack;
    enum demux_status status;
    const char *why;                    /* or NULL */
    uint64_t bytes;
    bool has_read_group;
};

/* Takes over the reference to the group. The caller keeps the file while it runs. */
struct vod_read *vod_read_new(struct vod_file *f, struct vod_at at, struct vod_request want,
                              struct vod_shared *group);
/* Read it. On an error it is the caller's no more. Yields. */
err_t vod_read_run(struct vod_read *r, const struct vod_task *t)
    __attribute__((warn_unused_result));
void vod_read_free(void *r); /* NULL is fine */
/* The part that it is, with a reference for the caller; its group is kept. */
enum demux_status vod_read_part(const struct vod_read *r, const struct vod_wire_use *use,
                                const struct vod_numbers *from, struct vod_cached **out);

enum { VOD_SECOND_LEAST = 256 * 1024, VOD_SECOND_MOST = 4 * 1024 * 1024 };

/* Bytes of a second of a file for reading ahead, within these bounds. */
static inline size_t vod_second(unsigned kbps)
{
    size_t n = (size_t)kbps * 125;

    return n < VOD_SECOND_LEAST ? VOD_SECOND_LEAST : n > VOD_SECOND_MOST ? VOD_SECOND_MOST : n;
}

/* ---- at once */

/* Is that byte in the kernel's memory? */
bool vod_is_cached(const struct vod_file *f, int64_t at);
/* Make a part of what is in memory, with a reference for the caller. DEMUX_AGAIN: it is for a
 * helper thread. */
enum demux_status vod_read_cached(struct vod_file *f, const struct vod_wire_use *use,
                                  const struct vod_at *at, const struct vod_numbers *from,
                                  struct vod_cached **out, const char **why);

/* ---- refused players: reject_log.c */

enum { VOD_REFUSED_TEXT = 300, VOD_REFUSED_KINDS = 16 };

struct vod_refused {
    uint32_t kinds[VOD_REFUSED_KINDS]; /* that were told, by what was said of them */
    unsigned n, untold;
    char last[VOD_REFUSED_TEXT + 100];
    struct co_timer timer;      /* set: not long ago there was one */
};

void vod_refused_end(struct vod_refused *r); /* tells of the rest */

/* ---- all of it */

struct vod {
    size_t *memory;             /* that streams take: what is here counts with it */
    struct live_evictable keeper;
    struct vod_files files;
    struct vod_cache cache;
    struct vod_queue queue;
    struct vod_pack scratch;    /* for what is read at once */
    struct vod_refused refused;
    struct vod_stat stat;       /* what it counts */
};

#endif
