/* SPDX-License-Identifier: MIT */
/* stream.h - the HLS or DASH of one stream; for the files of sink/hls* and sink/dash*. */
#ifndef SINK_HLS_STREAM_H
#define SINK_HLS_STREAM_H

#include "format/mp4/frag.h"
#include "format/playlist/m3u8.h"
#include "format/playlist/mpd.h"
#include "format/ts/mux.h"
#include "live/keeper.h"
#include "live/reader.h"
#include "sink/hls/clock.h"
#include "sink/hls/hls.h"
#include "sink/hls/journal.h"
#include "sink/hls/kind.h"
#include "sink/notify.h"
#include "sink/store/disk_room.h"

#include <openssl/evp.h>

enum {
    HLS_NAME_MAX = 1024,               /* of a path or a url */
    HLS_SEGMENT_MAX = 64 << 20,        /* bytes: hls_most() */
    HLS_WITH_PARTS = 3,                /* newest segments that are listed with their parts */
    HLS_LIST_MIN = 3,                  /* segments that a list keeps whatever hls_window says */
};

#define HLS_JOURNAL_END ".journal"  /* hidden beside the list: ".s.m3u8.journal" */

/* A file that segments share: an initialization, or a key. */
struct hls_shared {
    struct ref ref;
    char *path, *uri;
    struct hls_file *file; /* NULL if it was made before this process */
    bool writing, on_disk;
    bool secret; /* nobody else on this machine may read its file */
    uint8_t key[16];
    struct mpd_track track; /* DASH: whose initialization it is, without urls */
    uint64_t id;           /* in the journal; 0: it is not there */
};

struct hls_part {
    char *path, *uri;
    struct hls_file *file;
    int64_t duration;
    bool independent;
};

struct hls_segment {
    uint64_t seq, id;        /* the second one in the journal; 0: it is not there */
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

/* What is to be written to the journal, and what is there. */
struct hls_record {
    char *path;
    uint64_t ids;            /* given so far */
    struct wr waits;         /* lines that go with the next file */
    size_t lines;            /* with those that are there */
    bool whole;              /* the next ones replace it */
    struct journal_list list; /* as it says */
    co_usec logged_at;       /* that it cannot be written */
};
struct hls_lines { /* of a job */
    char *path, *text;       /* malloc'ed; NULL: none */
    size_t size;
    bool whole;
    int error;               /* errno, 0: it went well */
};

struct hls_seal { /* in blocks */
    struct block *block; /* NULL: at their begin */
    size_t at;
};

/* A publisher whose packets are to be read, once those of the one before are. */
struct hls_publication {
    struct hls_publication *next;
    struct sink_notifier notifier;
    struct live_reader reader;
};

/* AES-128 of the segment that grows: its bytes are encrypted up to `sealed`, which is at `at`. */
struct hls_crypt {
    EVP_CIPHER_CTX *cipher;
    size_t sealed;
    struct hls_seal at;
    struct hls_shared *key;  /* NULL: to be made */
    unsigned used;           /* segments that have the key */
};

/* Its files, on their way to the disk. */
struct hls_disk {
    struct disk_lane lane;
    struct disk_room room;
    bool begun;              /* there is a file, of before or of now, or will be */
    bool writing_list;
    bool list_changed;       /* meanwhile: it is written once more */
    bool list_swapped;       /* the one of before is there as well, to be written over */
    bool bad;                /* the last job failed */
    co_usec logged_at;       /* that it did */
};

struct hls_stream {
    struct ref ref;          /* the registry's, the coroutine's, and one of each job */
    void (*free)(struct hls_stream *s); /* with the last of them */
    struct hls_stream *next; /* in the registry */
    struct hls *hls;
    struct shop *shop;       /* of its blocks */
    struct live_keeper keeper;
    char *name;              /* for the log: "HLS of live/x" */
    struct stream_key *key;  /* what it is called */
    struct home *home;       /* of the stream: here, while its list may go on; NULL: one worker */
    struct sink_notifier notifier; /* whose segments these are */
    char *m3u8_path;             /* on disk */

    struct conf *conf;       /* that is applied, with a reference */
    const struct hls_kind *kind;
    const struct hls_container *container;
    struct conf_hls set;     /* of any kind, in terms of HLS */
    const struct conf_dash *dash; /* what only an MPD has */
    struct live_source *src; /* while it is published */
    struct live_reader reader;
    struct hls_publication *next_publication;
    bool running;            /* its coroutine is there */
    bool live, ready;        /* the publisher's packets are read; the list of before was */
    struct frame_tracks tracks;
    bool given_up;           /* hls_on_error ignore: nothing more of this publisher */
    bool keep_files;         /* nothing is removed any more */
    bool disposing;          /* everything is removed */
    bool left;               /* it left the registry: nobody waits for it any more */
    co_usec began_at, ended_at; /* its publisher */
    struct co_timer dispose;
    struct co_timer again;   /* after the end: writes what could not be written */
    uint64_t dropped;        /* of the reader, that we know of */
    unsigned bad;            /* frames that were left out */
    bool logged_codec[2];

    struct segmenter segmenter;
    int64_t segments_full_at, parts_full_at; /* base/pace.h: how fast they may be made */
    struct hls_clock clock;
    struct ts_mux ts;
    struct mp4_frag mp4;
    bool begun;              /* the muxer has its configuration */

    /* the segment that grows */
    struct hls_segment *now; /* with all but its duration; NULL: there is none */
    struct blocks out;       /* its bytes */
    struct hls_crypt crypt;
    bool ll;                 /* parts are in the playlist */

    struct hls_segments list; /* in the playlist */
    struct hls_segments expired; /* left it, but may still be fetched */
    uint64_t next_seq, discontinuities;
    struct hls_shared *init; /* NULL: to be made */
    struct hls_shared *last_init;
    bool other_inits;        /* the name of the first one is taken */
    struct hls_file *playlist;
    struct hls_file *update; /* the same without what players have, once one asked; or NULL */
    size_t in_memory;        /* bytes of segments, with what their blocks have left over */

    struct hls_disk disk;
    struct hls_record record;
    struct hls_waiter *parked;
    char *hint;              /* path of the part to come */

    /* DASH */
    struct hls_shared *track_init[2];
};

struct hls {
    struct sink sink;
    struct session_env *env;
    struct disk *disk;
    struct hls_stream *streams;
    struct co_group group;
    struct hls_names *names; /* paths of what is in memory */
    struct shop *shop;       /* of segments */
    uint64_t etags;
    struct hls_sessions *sessions; /* of serve/hls, which makes and frees them */
    struct hls_ended_list *ended;
    bool stopping;           /* the program ends */
};

/* stream.c */
struct hls_stream *hls_stream_find(struct hls *h, const struct session_stream *names,
                                   const struct hls_kind *kind);
/* With several workers it holds the stream's home: a publisher that comes back comes here. */
struct hls_stream *hls_stream_new(struct hls *h, const struct session_stream *names,
                                  struct conf *conf, const struct conf_vhost *vhost,
                                  const struct hls_kind *kind, uint64_t next_seq);
static inline struct hls_stream *hls_stream_ref(struct hls_stream *s)
{
    ref_get(&s->ref);
    return s;
}
static inline void hls_stream_unref(struct hls_stream *s)
{
    if (ref_put(&s->ref))
        s->free(s);
}
/* Read the settings of this snapshot from now on. */
void hls_stream_apply(struct hls_stream *s, struct conf *conf, const struct conf_vhost *vhost);
/* Do these settings put the files elsewhere, or make others of them? */
bool hls_stream_differs(const struct hls_stream *s, const struct conf_hls *set);
/* A publisher begins, and ends: what it sent is read to its end, and then that of the next one. */
void hls_stream_begin(struct hls_stream *s, const struct session_stream *names,
                      struct live_source *src);
void hls_stream_end(struct hls_stream *s);
/* If all that the publisher sent is read, its last segment ends, and the next one's turn begins.
 * False: some is left. */
bool hls_stream_finish(struct hls_stream *s);
/* The same of all publishers that ended, at once. */
void hls_stream_finish_all(struct hls_stream *s);
/* It is forgotten; with `remove` its files go, too. */
void hls_stream_dispose(struct hls_stream *s, bool remove);

/* memory_limit.c: what it has in memory counts with what streams remember */
void hls_limit_memory(struct hls_stream *s);

/* run.c: read packets */
err_t hls_run(void *stream);          /* co_fn; gives its reference back */
/* All that is there now, or as much as the coroutine's slice of time is for. Does not yield. */
void hls_drain(struct hls_stream *s, bool all);

/* cut.c: frames to segments */
void hls_frame(struct hls_stream *s, struct frame *f);

/* segment.c */
void hls_segment_open(struct hls_stream *s, const struct frame *f);
void hls_segment_close(struct hls_stream *s, int64_t end);
void hls_segment_drop(struct hls_stream *s); /* the one that grows */
/* Its bytes are whole: take them from s->out. It has a path. */
void hls_segment_fill(struct hls_stream *s, struct hls_segment *seg);
/* All that was written to s->out is the segment that is open: name it, and fill it. False: it is
 * nothing. */
bool hls_segment_whole(struct hls_stream *s, int64_t end);

/* parts.c */
void hls_part_end(struct hls_stream *s, int64_t end); /* and it may be in a list */
void hls_part_add(struct hls_stream *s, int64_t end, size_t from); /* s->out from there on */
void hls_part_hint(struct hls_stream *s, uint64_t seq, size_t part); /* that comes next */

/* crypt.c */
void hls_key_next(struct hls_stream *s);   /* a key for the segment that opens, new or not */
void hls_seal(struct hls_stream *s);       /* encrypt what came; whole blocks only */
void hls_seal_end(struct hls_stream *s);

/* list.c */
/* Bytes of one segment, which is cut wherever it is then; and of all that cannot be written. */
size_t hls_most(const struct hls_stream *s);
void hls_list_add(struct hls_stream *s, struct hls_segment *seg, struct hls_segment *second);
void hls_list_publish(struct hls_stream *s); /* the playlist in memory */
/* list_m3u8.c */
void hls_list_text(struct hls_stream *s, struct wr *w, bool disk);
/* The playlist in memory without what is far from its end, borrowed; NULL: nothing is. */
struct hls_file *hls_list_update(struct hls_stream *s);
void hls_list_clear(struct hls_stream *s);   /* all of it leaves */
/* Bytes in memory that nobody writes, but the newest segment's while it is published; and let them
 * go: what the disk does not have leaves the list. */
size_t hls_list_idle(const struct hls_stream *s);
void hls_list_lose(struct hls_stream *s);

/* container_mp4.c: of all containers of MP4 */
const char *hls_mp4_file(const struct conf_hls *set);
bool hls_mp4_is_begun(const struct hls_stream *s, const struct mp4_part *track);
err_t hls_mp4_configure(struct hls_stream *s, const struct frame *f)
    __attribute__((warn_unused_result));
err_t hls_mp4_add(struct hls_stream *s, const struct frame *f) __attribute__((warn_unused_result));

/* list_mpd.c */
int64_t dash_window(const struct hls_stream *s); /* 1/90000 s that stay in the list */
void dash_list_text(struct hls_stream *s, struct wr *w, bool disk);

/* disk.c: its jobs */
void hls_disk_segment(struct hls_stream *s, struct hls_segment *seg);
/* Write again what could not be written, the journal included. False: all segments are written. */
bool hls_disk_again(struct hls_stream *s);
void hls_disk_shared(struct hls_stream *s, struct hls_shared *shared);
void hls_disk_list(struct hls_stream *s);
void hls_disk_remove(struct hls_stream *s, const char *path);

/* record.c: the journal. What comes and goes; */
void hls_record_init(struct hls_stream *s);
void hls_record_fini(struct hls_stream *s);
void hls_record_segment(struct hls_stream *s, struct hls_segment *seg);
void hls_record_shared(struct hls_stream *s, struct hls_shared *x);
void hls_record_forget(struct hls_stream *s, uint64_t id);
/* lines to be written before the next file, by the job of that (of `new`, if no segment has it
 * yet); and what became of them. */
struct hls_lines hls_record_take(struct hls_stream *s, const struct hls_shared *new);
void hls_record_done(struct hls_stream *s, const struct hls_lines *lines);

/* recover.c: go on with what is on disk. Yields. */
void hls_recover(struct hls_stream *s);
/* Only take it. False: there is no journal of this stream. Yields. */
bool hls_recover_list(struct hls_stream *s);

/* ended.c: streams that have no publisher and are on disk alone */
struct hls_ended_list *hls_ended_new(void);
void hls_ended_free(struct hls_ended_list *all);
/* Those that an earlier process left. co_fn */
err_t hls_ended_search(void *hls);
/* All that is needed to continue the list, or to remove it, is on disk. */
bool hls_is_on_disk(const struct hls_stream *s);
/* It is, and leaves memory; its files are removed after hls_dispose. */
void hls_ended_add(struct hls_stream *s);
/* A publisher came back. */
void hls_ended_forget(struct hls *h, const struct stream_key *key, const struct hls_kind *kind);

/* memory.c */
struct hls_name { /* of a file in memory */
    struct hls_name *next;
    struct hls_file *file;     /* NULL: it is still to come */
    struct hls_stream *stream; /* whose file it is */
    char path[];
};
struct hls_waiter { /* on the stack of the coroutine that waits */
    struct hls_waiter *next;
    struct co *co;
};
struct hls_name *hls_names_get(struct hls *h, const char *path); /* NULL: there is none */
struct hls_names *hls_names_new(void);
void hls_names_free(struct hls_names *n);
struct hls_file *hls_file_new(struct hls *h, struct wr *take, const char *type);
/* The same of blocks of the shop. */
struct hls_file *hls_file_of(struct hls *h, struct blocks *take, const char *type);
struct hls_file *hls_file_ref(struct hls_file *f);
void hls_names_set(struct hls *h, const char *path, struct hls_file *f, struct hls_stream *s);
void hls_names_drop(struct hls *h, const char *path, const struct hls_file *f);
/* Vhost, app and name of the stream that the playlist at this path is of, borrowed until the next
 * yield. False: there is none. */
bool hls_names_of(struct hls *h, const char *path, struct session_stream *out);
/* The same of any file that is in memory, or is to be; *dash tells which kind. */
bool hls_names_of_file(struct hls *h, const char *path, struct session_stream *out, bool *dash);
/* The worker where a file at this path is in memory, or is to be: owner.h. */
int hls_names_owner(const struct hls *h, const char *path);
void hls_wake(struct hls_stream *s);

/* name.c: paths and urls */
err_t hls_name(const struct hls_stream *s, const char *folder, const char *text, uint64_t seq,
               int64_t duration, char *path, size_t size) __attribute__((warn_unused_result));
/* The url that the playlist has for a file, made of its path. malloc'ed. */
char *hls_uri(const struct hls_stream *s, const char *path);
/* The same as others know it: with hls_entry_prefix, or "live/s-1.ts" below the root of the web
 * server. malloc'ed. */
char *hls_url(const struct hls_stream *s, const char *path);
char *hls_key_uri(const struct hls_stream *s, const char *path);
/* "live/s/video-" and what follows; what the urls of a track's segments begin with. malloc'ed. */
char *hls_track_path(const struct hls_stream *s, bool video, const char *rest);
char *hls_track_uri(const struct hls_stream *s, const struct hls_segment *seg);
/* Of a part, which is known before it is there. malloc'ed. */
char *hls_part_path(const struct hls_stream *s, uint64_t seq, size_t part);

/* media.c */
struct hls_shared *hls_shared_new(struct hls_stream *s, const char *folder, const char *text,
                                  uint64_t seq, bool key);
/* With that path, which it takes over. */
struct hls_shared *hls_shared_at(struct hls_stream *s, char *path, bool key);
struct hls_shared *hls_shared_ref(struct hls_shared *x);
void hls_shared_unref(struct hls_stream *s, struct hls_shared *x);
void hls_push(struct hls_segments *q, struct hls_segment *seg);
void hls_segment_forget(struct hls_stream *s, struct hls_segment *seg); /* its bytes */
void hls_segment_free(struct hls_stream *s, struct hls_segment *seg);
/* It is in no queue any more: its file goes, after the job that writes it. */
void hls_segment_remove(struct hls_stream *s, struct hls_segment *seg);
void hls_segment_measure(struct hls_segment *seg); /* its bit rate counts for its track */

#endif
