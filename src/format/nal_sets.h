/* SPDX-License-Identifier: MIT */
/* nal_sets.h - parameter sets of H.264 and HEVC as they come, and the configuration that they
 * are. */
#ifndef FORMAT_NAL_SETS_H
#define FORMAT_NAL_SETS_H

#include "base/wr.h"
#include "format/nal.h"

enum { NAL_SETS_MAX = 16, NAL_SET_SIZE = 4096, NAL_CONFIG_MAX = 64 * 1024 };

struct nal_set {
    uint8_t type;
    uint32_t id;
    size_t size;
    uint8_t *data; /* NULL: none */
};

struct nal_sets { /* all 0: there are none */
    struct nal_set sets[NAL_SETS_MAX];
    bool changed;  /* since the last configuration */
};

void nal_sets_fini(struct nal_sets *s);
/* Keep a unit that is one, in the place of that of the same type and id. */
void nal_sets_keep(struct nal_sets *s, const struct nal_kind *nal, const uint8_t *unit,
                   size_t size);
/* Append the configuration of those that are there. False: one is missing, or nothing has changed
 * since this was asked for. */
bool nal_sets_record(struct nal_sets *s, enum av_codec codec, struct wr *w);

#endif
