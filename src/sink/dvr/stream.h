/* SPDX-License-Identifier: MIT */
/* stream.h - the recording of one stream; for the files of sink/dvr* alone. */
#ifndef SINK_DVR_STREAM_H
#define SINK_DVR_STREAM_H

#include "base/ref.h"
#include "format/flv/key_list.h"
#include "format/mp4/final.h"
#include "format/mp4/frag.h"
#include "live/clock.h"
#include "live/evictable.h"
#include "live/reader.h"
#include "session/condition.h"
#include "sink/dvr/dvr.h"
#include "sink/notify.h"
#include "sink/store/disk_room.h"
#include "sink/store/block_cache.h"

enum {
    DVR_PATH_MAX = 1024,
    DVR_BLOCK = 256 * 1024,      /* bytes that go to the disk together, about */
    DVR_FRAGMENT_MAX = 64 << 20, /* bytes of a fragment without a key frame */
};

/* A file on disk; the coroutine has it until its last job, and then that job. What is below the
 * line belongs to the thread that runs its jobs, one after the other. */
struct dvr_file {
    char *path;              /* as it is to be called; as it is, when it is closed */
    bool mp4;
    int64_t begin;           /* dts at which it begins, 1/90000 s */
    int64_t newest;          /* dts of what came last */
    int64_t floor;           /* bytes that the disk keeps */
    uint64_t duration_at, size_at; /* of an FLV file: numbers to set when it closes; 0: none */
    uint64_t keys_at;        /* and where the list of its key frames goes then; 0: nowhere */
    size_t gap_at, gap;      /* in the header, bytes of zeros that are not in its buffer */
    /* ---- */
    char *tmp;
    struct wr header;        /* what the file begins with */
    struct flv_key_list keys; /* of what is in the file */
    int fd;
    uint64_t good;           /* bytes that are whole */
    bool lost;               /* something is missing: go on where a player can */
    bool closed;
    struct dvr_finish *finish;
};

struct dvr_stream {
    struct ref ref;          /* the registry's, the coroutine's, and one of each job */
    struct dvr_stream *next; /* in the registry, until it is read to its end */
    struct dvrs *dvrs;
    struct block_cache *cache;       /* of its blocks */
    struct live_evictable keeper;
    char *name;              /* for the log: "recording of live/x" */
    struct stream_key *key;  /* what it is called */
    struct sink_notifier teller; /* whose recording it is */
    struct conf *conf;       /* with a reference */
    const struct conf_dvr *set;
    struct live_source *src;
    struct live_reader reader;
    bool running;            /* its coroutine is there */
    bool live, begun;        /* not finished; it has seen a packet */
    uint64_t dropped;
    unsigned bad;
    bool has_video;
    struct frame_tracks tracks;
    bool told_codec[2];

    struct dvr_file *file;   /* NULL: waits for a key frame */
    int64_t files_full_at, blocks_full_at; /* base/pace.h: how fast they may be made */
    struct mp4_frag mp4;
    struct blocks block;     /* bytes for the disk */
    struct wr header;        /* what the file begins with, until its first block goes */
    bool file_lost;          /* a block could not be given to the disk */
    bool block_key;          /* a player can start at the begin of the block */
    bool has_key;            /* FLV: the first key frame of the block, from its begin */
    struct flv_key key_frame;
    int64_t block_begin;     /* dts */
    bool has_header;         /* of the file */
    int64_t last_video;      /* dts */
    bool keep_time;          /* FLV: tags keep the stream's own time */
    bool correct_time;       /* the stream has the publisher's, we want it without jumps */
    struct live_clock clock; /* for that */

    struct disk_lane lane;
    struct disk_room room;
    int64_t quota;           /* in force */
    struct condition condition; /* it runs while a file grows */
    uint64_t bytes;          /* of its file, that went to be written */
    co_usec file_at;         /* when its file was begun; co_clock() */
    bool disk_bad;
    co_usec told_disk_at;
    char id[9];              /* by which lists know it */
};

/* All recordings of a server; of each stream that is recorded the sink keeps a dvr_stream. */
struct dvrs {
    struct sink sink;
    struct disk *disk;
    struct block_cache *cache;
    struct dvr_stream *streams; /* the newest first */
};

/* stream.c */
struct dvr_stream *dvr_stream_new(struct dvrs *d, const struct session_stream *names,
                                  struct conf *conf, const struct conf_dvr *set);
struct dvr_stream *dvr_stream_ref(struct dvr_stream *s);
void dvr_stream_unref(struct dvr_stream *s);
void dvr_stream_begin(struct dvr_stream *s, const struct session_stream *names,
                      struct live_source *src);
/* No more comes: what came is read to its end. */
void dvr_stream_end(struct dvr_stream *s);
/* If all that is to come was read, its file ends, and it leaves the registry. False: some is left.
 */
bool dvr_stream_finish(struct dvr_stream *s);
/* Another recording of the stream, of an earlier publisher, has its file open still. */
bool dvr_stream_has_to_wait(const struct dvr_stream *s);

/* run.c: packets to blocks */
err_t dvr_run(void *stream); /* co_fn; gives its reference back */
/* All that is there now, or as much as the coroutine's slice of time is for. Does not yield. */
void dvr_drain(struct dvr_stream *s, bool all);
void dvr_close(struct dvr_stream *s); /* the file that is open, if any */
/* The time of the recording, where it is not that of the stream: `play` may leave the publisher's
 * times as they are (time_jitter off, atc), and `dvr` may want them corrected. */
void dvr_time_begin(struct dvr_stream *s);

/* flv.c */
void dvr_flv_begin(struct dvr_stream *s);
void dvr_flv_packet(struct dvr_stream *s, const struct av_packet *pkt, int64_t dts);
/* On a thread, with all of the file there: what its metadata did not know so far. */
void dvr_flv_finish(struct dvr_file *f);

/* file.c: jobs */
struct dvr_file *dvr_file_new(struct dvr_stream *s, int64_t dts);
void dvr_file_append(struct dvr_stream *s); /* the block */
void dvr_file_close(struct dvr_stream *s);  /* takes s->file */

/* finish.c, on a thread: make an MP4 file of fragments one to seek in, in several steps. */
enum dvr_step { DVR_MORE, DVR_DONE, DVR_FAILED };
enum dvr_step dvr_finish_step(struct dvr_file *f, struct disk_job *job);
void dvr_finish_free(struct dvr_finish *x);

#endif
