/* SPDX-License-Identifier: MIT */
/* list.h - the list of a stream: which segments it has, and the text of that. */
#ifndef SINK_HLS_LIST_LIST_H
#define SINK_HLS_LIST_LIST_H

#include "format/playlist/m3u8.h"
#include "format/playlist/mpd.h"
#include "sink/hls/store/store.h"

enum {
    HLS_WITH_PARTS = 3,                /* newest segments that are listed with their parts */
    HLS_LIST_MIN = 3,                  /* segments that a list keeps whatever hls_window says */
};

struct hls_muxer;

struct hls_waiter { /* on the stack of the coroutine that waits */
    struct hls_waiter *next;
    struct co *co;
};

struct hls_list {
    struct hls_info *info;
    struct hls_store *store;
    struct hls_muxer *mux;   /* what it will have next */
    struct hls_segments q;
    struct hls_segments expired; /* left it, but may still be fetched */
    uint64_t discontinuities; /* that left it */
    struct hls_file *playlist; /* its text */
    struct hls_file *update; /* the same without what players have, once one asked; or NULL */
    struct hls_waiter *waiters;
    bool writing;            /* it goes to the disk, */
    bool changed;            /* and it changed meanwhile: it is written once more */
    bool swapped;            /* the one of before is there as well, to be written over */
};

/* list.c */
/* Bytes of one segment, which is cut wherever it is then; and of all that cannot be written. */
size_t hls_most(const struct hls_info *info);
void hls_list_add(struct hls_list *l, struct hls_segment *seg, struct hls_segment *second);
void hls_list_publish(struct hls_list *l); /* the playlist in memory */
void hls_list_clear(struct hls_list *l);   /* all of it leaves */
void hls_list_wake(struct hls_list *l);    /* those who wait for more */
/* Bytes in memory that nobody writes, but the newest segment's while it is published; and let them
 * go: what the disk does not have leaves the list. */
size_t hls_list_idle(const struct hls_list *l);
void hls_list_lose(struct hls_list *l);
/* Write it to the disk, up to the last segment that is there. One write at a time. */
void hls_list_write(struct hls_list *l);
void hls_list_written(struct hls_list *l);
/* Write again what could not be written, the journal included. False: all segments are written. */
bool hls_list_again(struct hls_list *l);

/* m3u8.c */
void hls_m3u8_text(struct hls_list *l, struct wr *w, bool disk);
/* The playlist in memory without what is far from its end, borrowed; NULL: nothing is. */
struct hls_file *hls_m3u8_update(struct hls_list *l);

/* mpd.c */
int64_t hls_mpd_window(const struct hls_list *l); /* 1/90000 s that stay in the list */
void hls_mpd_text(struct hls_list *l, struct wr *w, bool disk);

#endif
