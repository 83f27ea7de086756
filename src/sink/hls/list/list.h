/* SPDX-License-Identifier: MIT */
/* list.h - the playlist of a stream: its segments and its text. */
#ifndef SINK_HLS_LIST_LIST_H
#define SINK_HLS_LIST_LIST_H

#include "format/playlist/m3u8.h"
#include "format/playlist/mpd.h"
#include "sink/hls/store/store.h"

enum {
    HLS_WITH_PARTS = 3,                /* number of newest segments listed with their parts */
    HLS_LIST_MIN = 3,                  /* minimum number of segments, even for a short hls_window */
};

struct hls_muxer;

struct hls_waiter { /* on the stack of the waiting coroutine */
    struct hls_waiter *next;
    struct co *co;
};

struct hls_list {
    struct hls_info *info;
    struct hls_store *store;
    struct hls_muxer *mux;   /* produces the next segment */
    struct hls_segments q;
    struct hls_segments expired; /* no longer listed, but still available */
    uint64_t discontinuities; /* number of those that left the list */
    struct hls_file *playlist; /* its text */
    struct hls_file *update; /* delta update for players, created on request; or NULL */
    struct hls_waiter *waiters;
    bool writing;            /* it is being written to the disk, */
    bool changed;            /* and has changed since: it will be written again */
    bool swapped;            /* the previous file still exists, to be overwritten */
};

/* list.c */
/* Returns the largest size of a segment, which ends anywhere then; also the limit of all bytes that
 * cannot be written. */
size_t hls_most(const struct hls_info *info);
void hls_list_add(struct hls_list *l, struct hls_segment *seg, struct hls_segment *second);
void hls_list_publish(struct hls_list *l); /* updates the playlist in memory */
void hls_list_clear(struct hls_list *l);   /* removes all segments */
void hls_list_wake(struct hls_list *l);    /* wakes waiting players */
/* hls_list_idle() returns the bytes in memory that are not being written, without the newest
 * segment of a live stream; hls_list_lose() frees them, and removes segments that are not on disk.
 * */
size_t hls_list_idle(const struct hls_list *l);
void hls_list_lose(struct hls_list *l);
/* Writes the playlist up to the last segment on disk. One write at a time. */
void hls_list_write(struct hls_list *l);
void hls_list_written(struct hls_list *l);
/* Retries failed writes, including the journal. Returns false if all segments are written. */
bool hls_list_again(struct hls_list *l);

/* m3u8.c */
void hls_m3u8_text(struct hls_list *l, struct wr *w, bool disk);
/* Returns the delta update of the playlist, borrowed; NULL if it is too short for one. */
struct hls_file *hls_m3u8_update(struct hls_list *l);

/* mpd.c */
int64_t hls_mpd_window(const struct hls_list *l); /* 1/90000 s that stay in the list */
void hls_mpd_text(struct hls_list *l, struct wr *w, bool disk);

#endif
