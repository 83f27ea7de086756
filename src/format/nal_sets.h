/* SPDX-License-Identifier: MIT */
/* nal_sets.h - collects parameter sets of H.264 and HEVC and builds the codec configuration. */
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

struct nal_sets { /* starts zeroed: empty */
    struct nal_set sets[NAL_SETS_MAX];
    bool changed;  /* since the last configuration */
};

void nal_sets_fini(struct nal_sets *s);
/* Keeps a parameter set; replaces the one with the same type and id. */
void nal_sets_keep(struct nal_sets *s, const struct nal_kind *nal, const uint8_t *unit,
                   size_t size);
/* Appends the codec configuration. Returns false if a parameter set is missing, or none changed
 * since the last call. */
bool nal_sets_record(struct nal_sets *s, enum av_codec codec, struct wr *w);

#endif
