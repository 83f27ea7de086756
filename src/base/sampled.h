/* SPDX-License-Identifier: MIT */
/* sampled.h - one sample line per kind of client and period, however many clients there are.
 *
 * Every client asks at each of its turns; the first one that asks when the period is over is told
 * yes and prints a line about itself. With ten thousand players the log has one PLA line per
 * pithy_print_ms, not ten thousand.
 */
#ifndef BASE_SAMPLED_H
#define BASE_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>

enum sampled_kind {
    SAMPLED_PLAY,     /* -> PLA */
    SAMPLED_PUBLISH,  /* <- CPB */
    SAMPLED_FORWARD,  /* <- FWR */
    SAMPLED_EDGE_IN,  /* <- EIG */
    SAMPLED_EDGE_OUT, /* <- EPB */
    SAMPLED_HTTP,     /* -> HTS */
    SAMPLED_HTTP_CACHE, /* -> HTC */
    SAMPLED_HLS,      /* -> HLS */
    SAMPLED_DASH,     /* -> DASH */
    SAMPLED_DVR,
    SAMPLED_ENCODER,  /* -> ENC */
    SAMPLED_INGEST,   /* -> IGS */
    SAMPLED_EXEC,     /* -> EXE */
    SAMPLED_CASTER,   /* <- SCS */
    SAMPLED_SRT_PLAY, /* -> SRT_PLA */
    SAMPLED_SRT_PUBLISH, /* <- SRT_CPB */
    SAMPLED_RTSP_PLAY,
    SAMPLED_RTC_PLAY,
    SAMPLED_RTC_PUBLISH,
    SAMPLED_RTMFP_PLAY,    /* -> RTMFP_PLA */
    SAMPLED_RTMFP_PUBLISH, /* <- RTMFP_CPB */
    SAMPLED_KINDS,
};

/* Starts as zeros. One per coroutine thread, held by the server. */
struct sampled {
    int64_t due[SAMPLED_KINDS]; /* 0: nobody of the kind has asked yet */
};

/* The arrows and the name that begin the kind's line: "-> PLA". */
const char *sampled_name(enum sampled_kind kind);

/* Shall who asks print its line now? `now` and `period` in microseconds. The first line of a kind
 * comes one period after the first question, so it has something to tell. */
bool sampled_due(struct sampled *p, enum sampled_kind kind, int64_t now, int64_t period);

#endif
