/* SPDX-License-Identifier: MIT */
/* store.h - the files of a stream: its segments and what they share, in memory, on their way to the
 * disk, and in the journal. */
#ifndef SINK_HLS_STORE_STORE_H
#define SINK_HLS_STORE_STORE_H

#include "format/mp4/frag.h"
#include "sink/hls/info.h"
#include "sink/hls/store/journal.h"
#include "sink/store/disk_room.h"

#define HLS_JOURNAL_END ".journal"  /* hidden beside the list: ".s.m3u8.journal" */

/* A file that the journal knows. */
struct hls_entry {
    struct hls_entry *next, **at;
    uint64_t id;             /* 0: the journal does not know it */
    bool is_segment;
};

/* A file that segments share: an initialization, or a key. */
struct hls_shared {
    struct ref ref;
    struct hls_entry entry;
    char *path, *uri;
    struct hls_file *file; /* NULL if it was made before this process */
    bool writing, on_disk;
    bool secret; /* nobody else on this machine may read its file */
    uint8_t key[16];
    struct mpd_track track; /* DASH: whose initialization it is, without urls */
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
    int64_t begin, duration; /* 1/90000 s, of the stream's timeline */
    int64_t wall;            /* ms since 1970 */
    bool discontinuity;
    char *path, *uri;
    struct hls_shared *init, *key;
    uint8_t iv[16];
    struct hls_file *file;   /* while it is in memory */
    size_t bytes;
    bool writing, on_disk, failed; /* a job has it; it was written; it could not be */
    bool removed;            /* it is in no queue: free it after its job */
    struct hls_part *parts;
    size_t n_parts;
    /* DASH: a file has one track. That of the second track lasts 0, so that sums are right. */
    int64_t period;          /* ms since 1970: which period it is of */
    struct mp4_extent at;    /* of the track's time */
};

struct hls_segments { /* a queue */
    struct hls_segment **v;
    size_t n, cap;
};

/* The journal: what is to be written to it, and what is there. */
struct hls_record {
    char *path;
    struct hls_entry *first, **end; /* by their ids */
    size_t n;
    uint64_t ids;            /* given so far */
    struct wr waits;         /* lines that go with the next file */
    size_t lines;            /* with those that are there */
    bool whole;              /* the next ones replace it */
    struct journal_list now, list; /* the list; the same as the journal says */
    co_usec logged_at;       /* that it cannot be written */
};
struct hls_lines { /* of a job */
    char *path, *text;       /* malloc'ed; NULL: none */
    size_t size;
    bool whole;
    int error;               /* errno, 0: it went well */
};

struct hls_store {
    struct hls_info *info;
    struct disk_lane lane;
    struct disk_room room;
    struct hls_record record;
    size_t in_memory;        /* bytes of segments, with what their blocks have left over */
    bool other_inits;        /* the name of the first initialization is taken */
    bool begun;              /* there is a file, of before or of now, or will be */
    bool bad;                /* the last job failed */
    co_usec logged_at;       /* that it did */
};
void hls_store_init(struct hls_store *s, struct hls_info *info);
void hls_store_fini(struct hls_store *s);

/* media.c: what segments share */
struct hls_shared *hls_shared_new(struct hls_store *s, const char *text,
                                  const struct hls_numbers *n, bool key);
/* With that path, which it takes over. */
struct hls_shared *hls_shared_at(struct hls_store *s, char *path, bool key);
/* Its bytes, which it takes over: it is in memory, and goes to the disk. */
void hls_shared_fill(struct hls_store *s, struct hls_shared *x, struct wr *take, const char *type);
struct hls_shared *hls_shared_ref(struct hls_shared *x);
void hls_shared_unref(struct hls_store *s, struct hls_shared *x);
/* and segments */
void hls_push(struct hls_segments *q, struct hls_segment *seg);
/* Its bytes are whole; it has a path. */
void hls_segment_fill(struct hls_store *s, struct hls_segment *seg, struct blocks *take);
void hls_segment_forget(struct hls_store *s, struct hls_segment *seg); /* its bytes */
void hls_segment_free(struct hls_store *s, struct hls_segment *seg);
/* It is in no queue any more: its file goes, after the job that writes it. */
void hls_segment_remove(struct hls_store *s, struct hls_segment *seg);
void hls_segment_measure(struct hls_segment *seg); /* its bit rate counts for its track */

/* disk.c: its jobs */
void hls_disk_segment(struct hls_store *s, struct hls_segment *seg); /* and what it shares */
void hls_disk_shared(struct hls_store *s, struct hls_shared *shared);
/* swap: another list follows soon, as disk_swap_file() says. */
void hls_disk_list(struct hls_store *s, struct hls_file *file, bool swap);
void hls_disk_remove(struct hls_store *s, const char *path);

/* record.c: the journal. Files that come and go; */
void hls_record_init(struct hls_store *s);
void hls_record_fini(struct hls_store *s);
void hls_record_segment(struct hls_store *s, struct hls_segment *seg);
void hls_record_shared(struct hls_store *s, struct hls_shared *x);
void hls_record_known(struct hls_store *s, struct hls_entry *e, uint64_t id); /* it is there */
void hls_record_forget(struct hls_store *s, struct hls_entry *e);
/* lines to be written before the next file, by the job of that; and what became of them. */
struct hls_lines hls_record_take(struct hls_store *s);
void hls_record_done(struct hls_store *s, const struct hls_lines *lines);

#endif
