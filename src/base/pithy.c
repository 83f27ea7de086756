/* SPDX-License-Identifier: MIT */
/* pithy.c - one sample line per kind of client and period. */
#include "base/pithy.h"

static const char *const names[PITHY_KINDS] = {
    [PITHY_PLAY] = "-> PLA",
    [PITHY_PUBLISH] = "<- CPB",
    [PITHY_FORWARD] = "<- FWR",
    [PITHY_EDGE_IN] = "<- EIG",
    [PITHY_EDGE_OUT] = "<- EPB",
    [PITHY_HTTP] = "-> HTS",
    [PITHY_HTTP_CACHE] = "-> HTC",
    [PITHY_HLS] = "-> HLS",
    [PITHY_DASH] = "-> DASH",
    [PITHY_DVR] = "-> DVR",
    [PITHY_ENCODER] = "-> ENC",
    [PITHY_INGEST] = "-> IGS",
    [PITHY_EXEC] = "-> EXE",
    [PITHY_CASTER] = "<- SCS",
    [PITHY_SRT_PLAY] = "-> SRT_PLA",
    [PITHY_SRT_PUBLISH] = "<- SRT_CPB",
    [PITHY_RTSP_PLAY] = "-> RTS",
    [PITHY_RTC_PLAY] = "-> RTC",
    [PITHY_RTC_PUBLISH] = "<- RTC",
};

const char *pithy_name(enum pithy_kind kind)
{
    return names[kind];
}

bool pithy_due(struct pithy *p, enum pithy_kind kind, int64_t now, int64_t period)
{
    int64_t *due = &p->due[kind];

    if (*due == 0 || *due - now > period) { /* or a reload made the period shorter */
        *due = now + period;
        return false;
    }
    if (now < *due)
        return false;
    *due = now + period;
    return true;
}
