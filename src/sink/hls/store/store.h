/* SPDX-License-Identifier: MIT */
/* store.h - the files of a stream: segments and shared files, in memory, on disk and in the
 * journal. */
#ifndef SINK_HLS_STORE_STORE_H
#define SINK_HLS_STORE_STORE_H

#include "format/mp4/frag.h"
#include "sink/hls/info.h"
#include "sink/hls/store/journal.h"
#include "sink/store/disk_room.h"

#define HLS_JOURNAL_END ".journal"  /* hidden next to the playlist: ".s.m3u8.journal" */

/* A file in the journal. */
struct hls_entry {
    struct hls_entry *next, **at;
    uint64_t id;             /* 0: not in the journal */
    bool is_segment;
};

/* A file that segments share: an init segment or a key. */
struct hls_shared {
    struct ref ref;
    struct hls_entry entry;
    char *path, *uri;
    struct hls_file *file; /* NULL if an earlier process created it */
    bool writing, on_disk;
    bool secret; /* other users of this machine must not read its file */
    uint8_t key[16];
    struct mpd_track track; /* DASH: the track of the init segment, without URLs */
};

struct hls_part {
    char *path, *uri;
    struct hls_file *file;
    int64_t duration;
    bool independent;
};

struct hls_segment {
    struct hls_entry entry;
    uint64_t seq;
    int64_t begin, duration; /* 1/90000 s, on the stream's timeline */
    int64_t wall;            /* ms since 1970 */
    bool discontinuity;
    char *path, *uri;
    struct hls_shared *init, *key;
    uint8_t iv[16];
    struct hls_file *file;   /* its content while it is in memory */
    size_t bytes;
    bool writing, on_disk, failed; /* a job has it; it was written; writing failed */
    bool removed;            /* in no list any more: free it after its job */
    struct hls_part *parts;
    size_t n_parts;
    /* DASH: a file has one track. The file of the second track has duration 0, so that sums are
     * right. */
    int64_t period;          /* start of its period, ms since 1970 */
    struct mp4_extent at;    /* its extent in the track's time */
};

struct hls_segments { /* a queue */
    struct hls_segment **v;
    size_t n, cap;
};

/* The journal: pending lines and written entries. */
struct hls_record {
    char *path;
    struct hls_entry *first, **end; /* sorted by id */
    size_t n;
    uint64_t ids;            /* last assigned id */
    struct wr waits;         /* lines to write with the next file */
    size_t lines;            /* number of lines, written and pending */
    bool whole;              /* the next write replaces the journal */
    struct journal_list now, list; /* the current list; the list in the journal */
    co_usec logged_at;       /* when a write failure was last logged */
};
struct hls_lines { /* journal lines of a job */
    char *path, *text;       /* malloc'ed; NULL: none */
    size_t size;
    bool whole;
    int error;               /* errno; 0: success */
};

struct hls_store {
    struct hls_info *info;
    struct disk_lane lane;
    struct disk_room room;
    struct hls_record record;
    size_t in_memory;        /* bytes of segments, including unused space of their blocks */
    bool other_inits;        /* the name of the first init segment is in use */
    bool begun;              /* a file exists or will exist, of this or an earlier process */
    bool bad;                /* the last job failed */
    co_usec logged_at;       /* when that was logged */
};
void hls_store_init(struct hls_store *s, struct hls_info *info);
void hls_store_fini(struct hls_store *s);

/* media.c: shared files */
struct hls_shared *hls_shared_new(struct hls_store *s, const char *text,
                                  const struct hls_numbers *n, bool key);
/* Creates one with that path, which it takes over. */
struct hls_shared *hls_shared_at(struct hls_store *s, char *path, bool key);
/* Sets the content, which it takes over, keeps it in memory and writes it to the disk. */
void hls_shared_fill(struct hls_store *s, struct hls_shared *x, struct wr *take, const char *type);
struct hls_shared *hls_shared_ref(struct hls_shared *x);
void hls_shared_unref(struct hls_store *s, struct hls_shared *x);
/* media.c: segments */
void hls_push(struct hls_segments *q, struct hls_segment *seg);
/* Sets the complete content; the segment must have a path. */
void hls_segment_fill(struct hls_store *s, struct hls_segment *seg, struct blocks *take);
void hls_segment_forget(struct hls_store *s, struct hls_segment *seg); /* frees its content */
void hls_segment_free(struct hls_store *s, struct hls_segment *seg);
/* Removes a segment that is in no list any more: deletes its file, after the job that writes it. */
void hls_segment_remove(struct hls_store *s, struct hls_segment *seg);
void hls_segment_measure(struct hls_segment *seg); /* adds its bit rate to its track */

/* disk.c: disk jobs */
void hls_disk_segment(struct hls_store *s, struct hls_segment *seg); /* with its shared files */
void hls_disk_shared(struct hls_store *s, struct hls_shared *shared);
/* swap: another playlist follows soon, see disk_swap_file(). */
void hls_disk_list(struct hls_store *s, struct hls_file *file, bool swap);
void hls_disk_remove(struct hls_store *s, const char *path);

/* record.c: the journal. Adding and removing files; */
void hls_record_init(struct hls_store *s);
void hls_record_fini(struct hls_store *s);
void hls_record_segment(struct hls_store *s, struct hls_segment *seg);
void hls_record_shared(struct hls_store *s, struct hls_shared *x);
void hls_record_known(struct hls_store *s, struct hls_entry *e, uint64_t id); /* already in it */
void hls_record_forget(struct hls_store *s, struct hls_entry *e);
/* lines to write before the next file, by its job; and their result. */
struct hls_lines hls_record_take(struct hls_store *s);
void hls_record_done(struct hls_store *s, const struct hls_lines *lines);

#endif
