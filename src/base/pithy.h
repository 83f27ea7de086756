/* SPDX-License-Identifier: MIT */
/* pithy.h - one sample line per kind of client and period, however many clients there are.
 *
 * Every client asks at each of its turns; the first one that asks when the period is over is told
 * yes and prints a line about itself. With ten thousand players the log has one PLA line per
 * pithy_print_ms, not ten thousand.
 */
#ifndef BASE_PITHY_H
#define BASE_PITHY_H

#include <stdbool.h>
#include <stdint.h>

enum pithy_kind {
    PITHY_PLAY,     /* -> PLA */
    PITHY_PUBLISH,  /* <- CPB */
    PITHY_FORWARD,  /* <- FWR */
    PITHY_EDGE_IN,  /* <- EIG */
    PITHY_EDGE_OUT, /* <- EPB */
    PITHY_HTTP,     /* -> HTS */
    PITHY_HTTP_CACHE, /* -> HTC */
    PITHY_HLS,      /* -> HLS */
    PITHY_DASH,     /* -> DASH */
    PITHY_DVR,
    PITHY_ENCODER,  /* -> ENC */
    PITHY_INGEST,   /* -> IGS */
    PITHY_EXEC,     /* -> EXE */
    PITHY_CASTER,   /* <- SCS */
    PITHY_SRT_PLAY, /* -> SRT_PLA */
    PITHY_SRT_PUBLISH, /* <- SRT_CPB */
    PITHY_RTSP_PLAY,
    PITHY_RTC_PLAY,
    PITHY_RTC_PUBLISH,
    PITHY_KINDS,
};

/* Starts as zeros. One per coroutine thread, held by the server. */
struct pithy {
    int64_t due[PITHY_KINDS]; /* 0: nobody of the kind has asked yet */
};

/* The arrows and the name that begin the kind's line: "-> PLA". */
const char *pithy_name(enum pithy_kind kind);

/* Shall who asks print its line now? `now` and `period` in microseconds. The first line of a kind
 * comes one period after the first question, so it has something to tell. */
bool pithy_due(struct pithy *p, enum pithy_kind kind, int64_t now, int64_t period);

#endif
