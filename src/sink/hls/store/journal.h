/* SPDX-License-Identifier: MIT */
/* journal.h - which files a stream's HLS or DASH has on disk, and what they are: lines that are
 * written before the files are, for the process that comes after one that died. Pure.
 *
 *     hls-journal 1 KIND VHOST APP STREAM .
 *     init ID PATH VIDEO TIMESCALE CODECS WIDTH HEIGHT FPS RATE CHANNELS .
 *     key ID PATH .
 *     segment ID PATH SEQ DURATION WALL DISCONTINUITY BYTES INIT KEY IV PERIOD BEGIN LASTS .
 *     list FIRST DISCONTINUITIES TARGET AVAILABLE NOW .
 *     forget ID .
 *
 * IDs only grow. A field is never empty ("-" is), and has "%20" for what is not to be seen; so a
 * line is whole when it has all its fields and the dot, and others (torn ones, those of versions to
 * come) are left out. `forget`: the file was removed, or is nobody's. `list`: segments before FIRST
 * are no longer in the playlist. Paths are below the folder of the stream's kind, those of keys
 * below that of keys, and never lead out of it.
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
    JOURNAL_MAX = 16 << 20,       /* bytes of a file that is read */
    JOURNAL_FILES_MAX = 100000,
};

enum journal_what { JOURNAL_INIT, JOURNAL_KEY, JOURNAL_SEGMENT };

struct journal_file {
    enum journal_what what;
    uint64_t id;
    char *path;
    bool forgotten;
    bool there;                /* for the caller: on disk */
    struct mpd_track track;    /* of an init, without urls; timescale 0: not known */
    /* of a segment; times in 1/90000 s, clocks in ms since 1970 */
    uint64_t seq, init, key;   /* ids, 0: none */
    int64_t duration, wall, period;
    bool discontinuity;
    uint64_t bytes;
    uint8_t iv[16];
    uint64_t begin, lasts;     /* ticks of its track */
};

struct journal_list {
    uint64_t first, discontinuities;
    unsigned target;           /* seconds */
    int64_t available;         /* ms since 1970 */
    int64_t now;               /* the same: when that was so */
};

struct journal_names { /* whose it is; borrowed for writing */
    const char *kind, *vhost, *app, *stream;
};

struct journal {
    char *kind, *vhost, *app, *stream;
    struct journal_list list;
    struct journal_file *v;    /* by id */
    size_t n, cap;
};

/* The lines. */
void journal_put_names(struct wr *w, const struct journal_names *names);
void journal_put_file(struct wr *w, const struct journal_file *f);
void journal_put_list(struct wr *w, const struct journal_list *list);
void journal_put_forget(struct wr *w, uint64_t id);

/* Read all of it. False: it is none, or of a version that is not known. *j is to be freed. */
bool journal_read(struct journal *j, const char *text, size_t size);
void journal_free(struct journal *j);
struct journal_file *journal_find(const struct journal *j, uint64_t id); /* not forgotten; NULL */

#endif
