/* SPDX-License-Identifier: MIT */
/* stream.h - the recording of one stream; private to sink/dvr. */
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
    DVR_BLOCK = 256 * 1024,      /* bytes per write, approximately */
    DVR_FRAGMENT_MAX = 64 << 20, /* largest fragment without a key frame, bytes */
};

/* A file on disk, owned by the coroutine until its last job, then by that job. The members below
 * the line belong to the helper thread that runs the jobs, one after the other. */
struct dvr_file {
    char *path;              /* final name; the actual name when it is closed */
    bool mp4;
    int64_t begin;           /* dts of the first packet, 1/90000 s */
    int64_t newest;          /* dts of the last packet */
    int64_t floor;           /* bytes that stay free on the disk */
    uint64_t duration_at, size_at; /* FLV: positions of numbers to set at the end; 0: none */
    uint64_t keys_at;        /* FLV: position of the list of key frames; 0: none */
    size_t gap_at, gap;      /* zeros in the header that are not in its buffer */
    /* ---- */
    char *tmp;
    struct wr header;        /* the start of the file */
    struct flv_key_list keys; /* key frames in the file */
    int fd;
    uint64_t good;           /* size up to the last complete block */
    bool lost;               /* a block is missing: continue where a player can start */
    bool closed;
    struct dvr_finish *finish;
};

struct dvr_stream {
    struct ref ref;          /* held by the registry, the coroutine and each job */
    struct dvr_stream *next; /* in the registry, until it is read to the end */
    struct dvrs *dvrs;
    struct block_cache *cache;       /* source of its blocks */
    struct live_evictable keeper;
    char *name;              /* for the log: "recording of live/x" */
    struct stream_key *key;  /* name of the stream */
    struct sink_notifier notifier; /* sends callbacks for the publisher */
    struct conf *conf;       /* owns a reference */
    const struct conf_dvr *set;
    struct live_source *src;
    struct live_reader reader;
    bool running;            /* its coroutine exists */
    bool live, begun;        /* not finished; has seen a packet */
    uint64_t dropped;
    unsigned bad;
    bool has_video;
    struct frame_tracks tracks;
    bool told_codec[2];

    struct dvr_file *file;   /* NULL: waits for a key frame */
    int64_t files_full_at, blocks_full_at; /* rate limits, base/pace.h */
    struct mp4_frag mp4;
    struct blocks block;     /* the growing block */
    struct wr header;        /* the start of the file, until its first block is put */
    bool file_lost;          /* the disk worker refused a block */
    bool block_key;          /* a player can start at the beginning of the block */
    bool has_key;            /* FLV: the block has a key frame; its offset: */
    struct flv_key key_frame;
    int64_t block_begin;     /* dts */
    bool has_header;         /* the header of the file was written */
    int64_t last_video;      /* dts */
    bool keep_time;          /* FLV: tags keep the time of the stream */
    bool correct_time;       /* removes jumps from the publisher's time, */
    struct live_clock clock; /* with this clock */

    struct disk_lane lane;
    struct disk_room room;
    int64_t quota;           /* bytes */
    struct condition condition; /* running while a file grows */
    uint64_t bytes;          /* bytes of its file put so far */
    co_usec file_at;         /* when its file was started; co_clock() */
    bool disk_bad;
    co_usec told_disk_at;
    char id[9];              /* id in lists of the API */
};

/* The sink: all recordings of a worker, one dvr_stream for each recorded stream. */
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
/* The stream ended: the remaining packets are still read. */
void dvr_stream_end(struct dvr_stream *s);
/* If all packets were read, ends the file and removes the recording from the registry. Returns
 * false if packets are left. */
bool dvr_stream_finish(struct dvr_stream *s);
/* Returns true if the recording of an earlier publisher of the stream still has its file open. */
bool dvr_stream_has_to_wait(const struct dvr_stream *s);

/* run.c: packets to blocks */
err_t dvr_run(void *stream); /* co_fn; releases its reference */
/* Reads all packets (`all`), or as many as fit in the coroutine's time slice. Does not yield. */
void dvr_drain(struct dvr_stream *s, bool all);
void dvr_close(struct dvr_stream *s); /* closes the open file, if any */
/* Chooses the time of the recording: `play` may keep the publisher's time (time_jitter off, atc)
 * while `dvr` corrects it. */
void dvr_time_begin(struct dvr_stream *s);

/* flv.c */
void dvr_flv_begin(struct dvr_stream *s);
void dvr_flv_packet(struct dvr_stream *s, const struct av_packet *pkt, int64_t dts);
/* On a helper thread, when the file is complete: writes the missing values of its metadata. */
void dvr_flv_finish(struct dvr_file *f);

/* file.c: jobs */
struct dvr_file *dvr_file_new(struct dvr_stream *s, int64_t dts);
void dvr_file_append(struct dvr_stream *s); /* the block */
void dvr_file_close(struct dvr_stream *s);  /* takes s->file */

/* finish.c, on a helper thread: turns a fragmented MP4 file into a seekable one, in steps. */
enum dvr_step { DVR_MORE, DVR_DONE, DVR_FAILED };
enum dvr_step dvr_finish_step(struct dvr_file *f, struct disk_job *job);
void dvr_finish_free(struct dvr_finish *x);

#endif
