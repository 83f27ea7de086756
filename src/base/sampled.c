/* SPDX-License-Identifier: MIT */
/* sampled.c - one sample line per kind of client and period. */
#include "base/sampled.h"

static const char *const names[SAMPLED_KINDS] = {
    [SAMPLED_PLAY] = "-> PLA",
    [SAMPLED_PUBLISH] = "<- CPB",
    [SAMPLED_FORWARD] = "<- FWR",
    [SAMPLED_EDGE_IN] = "<- EIG",
    [SAMPLED_EDGE_OUT] = "<- EPB",
    [SAMPLED_HTTP] = "-> HTS",
    [SAMPLED_HTTP_CACHE] = "-> HTC",
    [SAMPLED_HLS] = "-> HLS",
    [SAMPLED_DASH] = "-> DASH",
    [SAMPLED_DVR] = "-> DVR",
    [SAMPLED_ENCODER] = "-> ENC",
    [SAMPLED_INGEST] = "-> IGS",
    [SAMPLED_EXEC] = "-> EXE",
    [SAMPLED_CASTER] = "<- SCS",
    [SAMPLED_SRT_PLAY] = "-> SRT_PLA",
    [SAMPLED_SRT_PUBLISH] = "<- SRT_CPB",
    [SAMPLED_RTSP_PLAY] = "-> RTS",
    [SAMPLED_RTC_PLAY] = "-> RTC",
    [SAMPLED_RTC_PUBLISH] = "<- RTC",
    [SAMPLED_RTMFP_PLAY] = "-> RTMFP_PLA",
    [SAMPLED_RTMFP_PUBLISH] = "<- RTMFP_CPB",
};

const char *sampled_name(enum sampled_kind kind)
{
    return names[kind];
}

bool sampled_due(struct sampled *p, enum sampled_kind kind, int64_t now, int64_t period)
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
