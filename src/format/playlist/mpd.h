/* SPDX-License-Identifier: MIT */
/* mpd.h - writer of the MPD of a live stream, the playlist of MPEG-DASH. No I/O.
 *
 * [DASH] ISO/IEC 23009-1: profile isoff-live, type dynamic, SegmentTemplate with $Time$ and
 * SegmentTimeline. Order of calls:
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
    int64_t longest;    /* ms: maxSegmentDuration and minBufferTime */
};

struct mpd_track {
    bool video;
    char codecs[48];         /* RFC 6381 */
    uint32_t timescale;      /* ticks per second */
    unsigned bandwidth;      /* bit/s */
    uint32_t width, height;  /* video; 0: unknown */
    double fps;
    uint32_t rate, channels; /* audio */
    const char *init;        /* urls, not yet escaped; the second one goes on with the time of */
    const char *media;       /* the segment and ".m4s" */
};

struct mpd_writer {
    struct wr *w;
    bool open;               /* an S element that may still be repeated */
    uint64_t begin, duration, next, repeat;
    bool written;            /* an S was written, which ends at `end` */
    uint64_t end;
};

void mpd_begin(struct mpd_writer *m, struct wr *w, const struct mpd *mpd);
/* Begins a period `start` ms after `available`; `name` is unique in the MPD. */
void mpd_period(struct mpd_writer *m, int64_t name, int64_t start);
void mpd_set(struct mpd_writer *m, const struct mpd_track *t);
void mpd_segment(struct mpd_writer *m, uint64_t begin, uint64_t duration); /* ticks */
void mpd_set_end(struct mpd_writer *m, const struct mpd_track *t);
void mpd_period_end(struct mpd_writer *m);
void mpd_end(struct mpd_writer *m);

/* Positions in an MPD with text for a single player. */
enum mpd_place {
    MPD_LOCATION, /* URL of the next MPD, [DASH] 5.15 */
    MPD_QUERY,    /* after the URL of segments or of an init segment */
    MPD_TIME,     /* current time: [DASH] 5.8.4.11, "direct" */
    MPD_NOTHING,  /* the end of the MPD */
    MPD_PLACES
};

struct mpd_personal {
    int64_t now;          /* ms since 1970 */
    const char *query;    /* "a=b", already escaped; NULL: none */
    const char *location; /* not yet escaped; NULL: none */
};

/* Cuts an MPD at those positions. After mpd_cut_begin(), each mpd_cut_next() sets `text` and `size`
 * (text for all players) and `place` (the position that follows). Together these texts are the
 * whole MPD, which is borrowed. mpd_cut_next() returns false at the end. */
struct mpd_cut {
    const char *text;
    size_t size;
    enum mpd_place place;
    /* private */
    enum mpd_place next;
    const char *once[MPD_PLACES];    /* positions that occur at most once */
    const char *at, *body_end;       /* end of the text returned so far; begin of the last line */
    const char *line, *line_end;     /* rest of the current segment template */
    unsigned url;                    /* index of the next URL in it */
};

void mpd_cut_begin(struct mpd_cut *c, const char *text, size_t size);
bool mpd_cut_next(struct mpd_cut *c);
/* Writes the player's text for a position; nothing if the player has none. */
void mpd_put_own(struct wr *w, enum mpd_place place, const struct mpd_personal *p);
/* Copies an MPD for one player with all of its texts. */
void mpd_put_personal(struct wr *w, const char *text, size_t size, const struct mpd_personal *p);

#endif
