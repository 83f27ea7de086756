/* SPDX-License-Identifier: MIT */
/* journal.h - the journal of a stream's HLS or DASH files on disk: lines that are written before
 * the files, for the next process after a crash. Pure.
 *
 *     hls-journal 1 KIND VHOST APP STREAM .
 *     init ID PATH VIDEO TIMESCALE CODECS WIDTH HEIGHT FPS RATE CHANNELS .
 *     key ID PATH .
 *     segment ID PATH SEQ DURATION WALL DISCONTINUITY BYTES INIT KEY IV PERIOD BEGIN LASTS .
 *     list FIRST DISCONTINUITIES TARGET AVAILABLE NOW .
 *     forget ID .
 *
 * IDs only grow. Fields are never empty ("-" is used instead) and escape special characters as
 * "%20". A line is complete if it has all its fields and the dot; other lines (torn ones, those of
 * later versions) are ignored. `forget`: the file was removed, or is unused. `list`: segments
 * before FIRST are no longer in the playlist. Paths are below the folder of HLS or DASH, paths of
 * keys below the folder of keys, and never lead out of it.
 */
#ifndef SINK_HLS_STORE_JOURNAL_H
#define SINK_HLS_STORE_JOURNAL_H

#include "base/wr.h"
#include "format/playlist/mpd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JOURNAL_VERSION = 1,
    JOURNAL_MAX = 16 << 20,       /* largest file that is read, bytes */
    JOURNAL_FILES_MAX = 100000,
};

enum journal_what { JOURNAL_INIT, JOURNAL_KEY, JOURNAL_SEGMENT };

struct journal_file {
    enum journal_what what;
    uint64_t id;
    char *path;
    bool forgotten;
    bool there;                /* for the caller: exists on disk */
    struct mpd_track track;    /* init: its track, without URLs; timescale 0: unknown */
    /* segment: times in 1/90000 s, clocks in ms since 1970 */
    uint64_t seq, init, key;   /* init, key: ids, 0: none */
    int64_t duration, wall, period;
    bool discontinuity;
    uint64_t bytes;
    uint8_t iv[16];
    uint64_t begin, lasts;     /* start and duration in ticks of its track */
};

struct journal_list {
    uint64_t first, discontinuities;
    unsigned target;           /* seconds */
    int64_t available;         /* ms since 1970 */
    int64_t now;               /* time of this line, ms since 1970 */
};

struct journal_names { /* the stream; strings are borrowed for writing */
    const char *kind, *vhost, *app, *stream;
};

struct journal {
    char *kind, *vhost, *app, *stream;
    struct journal_list list;
    struct journal_file *v;    /* sorted by id */
    size_t n, cap;
};

/* Write the lines. */
void journal_put_names(struct wr *w, const struct journal_names *names);
void journal_put_file(struct wr *w, const struct journal_file *f);
void journal_put_list(struct wr *w, const struct journal_list *list);
void journal_put_forget(struct wr *w, uint64_t id);

/* Reads a journal. Returns false if it is none, or has an unknown version. Free *j in any case. */
bool journal_read(struct journal *j, const char *text, size_t size);
void journal_free(struct journal *j);
struct journal_file *journal_find(const struct journal *j, uint64_t id); /* NULL: none, forgotten */

#endif
