/* SPDX-License-Identifier: MIT */
/* rtc_cut.h - the packets that a server makes of a file: how large they are, and when they go. */
#ifndef TOOLS_LOAD_RTC_CUT_H
#define TOOLS_LOAD_RTC_CUT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load_cut {
    struct load_cut_frame {
        uint32_t ms;      /* from the begin */
        uint32_t first;   /* of its packets */
        uint32_t n;
    } *frames;
    size_t n_frames, n;
    uint16_t *sizes;      /* of payloads */
    uint32_t period;      /* ms, then it begins again */
};

/* Of an FLV file; what WebRTC does not carry is not there. */
err_t load_cut_file(struct load_cut *c, const char *path) __attribute__((warn_unused_result));
/* Of an FLV file for RTMFP: plain packets of AES-CBC, in turns that come each `every` ms. */
err_t load_cut_messages(struct load_cut *c, const char *path, unsigned every)
    __attribute__((warn_unused_result));
/* The same packets once in `period` ms. */
void load_cut_equal(struct load_cut *c, unsigned packets, unsigned size, unsigned period);
/* 25 frames a second of equal packets, and 50 packets of sound unless `silent`. */
void load_cut_plain(struct load_cut *c, unsigned kbps, bool silent);

#endif
