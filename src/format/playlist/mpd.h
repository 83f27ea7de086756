/* SPDX-License-Identifier: MIT */
/* mpd.h - the playlist of MPEG-DASH, an MPD of a live stream: written. No I/O.
 *
 * [DASH] ISO/IEC 23009-1: profile isoff-live, type dynamic, SegmentTemplate with $Time$ and
 * SegmentTimeline. One after the other:
 *
 *     mpd_begin()
 *     for each period: mpd_period(); mpd_set(), mpd_segment()..., mpd_set_end() for each track;
 *                      mpd_period_end()
 *     mpd_end()
 */
#ifndef FORMAT_PLAYLIST_MPD_H
#define FORMAT_PLAYLIST_MPD_H

#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

struct mpd {
    int64_t available;  /* ms since 1970: availabilityStartTime, time 0 of all periods */
    int64_t published;  /* ms since 1970 */
    int64_t update;     /* ms: minimumUpdatePeriod */
    int64_t shift;      /* ms: timeShiftBufferDepth */
    int64_t delay;      /* ms: suggestedPresentationDelay */
    int64_t longest;    /* ms: maxSegmentDuration, and what a player has before it begins */
};

struct mpd_track {
    bool video;
    char codecs[48];         /* RFC 6381 */
    uint32_t timescale;      /* ticks per second */
    unsigned bandwidth;      /* bit/s */
    uint32_t width, height;  /* of video; 0: unknown */
    double fps;
    uint32_t rate, channels; /* of audio */
    const char *init;        /* urls, not yet escaped; the second one goes on with the time of */
    const char *media;       /* the segment and ".m4s" */
};

struct mpd_writer {
    struct wr *w;
    bool open;               /* an S that may be said again */
    uint64_t begin, duration, next, repeat;
    bool written;            /* an S was written, which ends at `end` */
    uint64_t end;
};

void mpd_begin(struct mpd_writer *m, struct wr *w, const struct mpd *mpd);
/* It begins so many ms after `available`; `name` is no other's. */
void mpd_period(struct mpd_writer *m, int64_t name, int64_t start);
void mpd_set(struct mpd_writer *m, const struct mpd_track *t);
void mpd_segment(struct mpd_writer *m, uint64_t begin, uint64_t duration); /* ticks */
void mpd_set_end(struct mpd_writer *m, const struct mpd_track *t);
void mpd_period_end(struct mpd_writer *m);
void mpd_end(struct mpd_writer *m);

/* What an MPD has for one player alone, and where. */
enum mpd_place {
    MPD_LOCATION, /* where to ask for the next MPD, [DASH] 5.15 */
    MPD_QUERY,    /* behind the URL of segments or of an initialization */
    MPD_TIME,     /* what time it is: [DASH] 5.8.4.11, "direct" */
    MPD_NOTHING,  /* the end of the MPD */
    MPD_PLACES
};

struct mpd_personal {
    int64_t now;          /* ms since 1970 */
    const char *query;    /* "a=b", nothing in it to be escaped; NULL: none */
    const char *location; /* not yet escaped; NULL: none */
};

/* Cut an MPD at those places, after mpd_cut_begin(): each mpd_cut_next() sets `text`, `size`, what
 * all players get, and `place`, what follows it. They make up the whole text, which is borrowed.
 * False: there are no more. */
struct mpd_cut {
    const char *text;
    size_t size;
    enum mpd_place place;
    /* inside */
    enum mpd_place next;
    const char *once[MPD_PLACES];    /* where those are that there is one of at most */
    const char *at, *body_end;       /* up to where it is cut; where its last line begins */
    const char *line, *line_end;     /* of a segment template, what is left of it, */
    unsigned url;                    /* and the URL to look for in that */
};

void mpd_cut_begin(struct mpd_cut *c, const char *text, size_t size);
bool mpd_cut_next(struct mpd_cut *c);
/* The text of a player in such a place; nothing for what it has not. */
void mpd_put_own(struct wr *w, enum mpd_place place, const struct mpd_personal *p);
/* Copy an MPD for one player: all of the above. */
void mpd_put_personal(struct wr *w, const char *text, size_t size, const struct mpd_personal *p);

#endif
