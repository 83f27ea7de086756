/* SPDX-License-Identifier: MIT */
/* nal_sets.c - collects parameter sets of H.264 and HEVC and builds the codec configuration. */
#include "format/nal_sets.h"

#include "av/bits.h"
#include "av/h264.h"
#include "av/h265.h"
#include "av/nalu.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void nal_sets_fini(struct nal_sets *s)
{
    for (unsigned i = 0; i < NAL_SETS_MAX; i++)
        free(s->sets[i].data);
    *s = (struct nal_sets){ 0 };
}

/* Returns the id of a set; sets with different ids are kept together. The id of an HEVC SPS would
 * require parsing most of it; in practice there is only one SPS. */
static uint32_t id_of(const struct nal_kind *nal, uint8_t type, const uint8_t *unit, size_t size)
{
    bool h264 = nal == &nal_h264;
    struct bits b = bits_init_nalu(unit + nal->head, size - nal->head);

    if (h264 && type == H264_SPS)
        bits_skip(&b, 24); /* profile, constraints, level */
    if (!h264 && type == H265_VPS)
        return bits_u(&b, 4);
    return !h264 && type == H265_SPS ? 0 : bits_ue(&b);
}

/* Returns the slot of that set, or an empty one. NULL: there are too many sets. */
static struct nal_set *place(struct nal_sets *sets, uint8_t type, uint32_t id)
{
    struct nal_set *empty = NULL;

    for (unsigned i = 0; i < NAL_SETS_MAX; i++) {
        struct nal_set *s = &sets->sets[i];

        if (s->data && s->type == type && s->id == id)
            return s;
        if (!s->data && !empty)
            empty = s;
    }
    return empty;
}

void nal_sets_keep(struct nal_sets *sets, const struct nal_kind *nal, const uint8_t *unit,
                   size_t size)
{
    struct nal_set *s;
    uint8_t type, *copy;
    uint32_t id;

    if (size <= nal->head || size > NAL_SET_SIZE)
        return;
    type = nal_type(nal, unit);
    id = id_of(nal, type, unit, size);
    s = nal->flags[type] & NAL_SET ? place(sets, type, id) : NULL;
    if (!s || (s->data && s->size == size && memcmp(s->data, unit, size) == 0))
        return;
    copy = mem_try(size);
    if (!copy)
        return;
    memcpy(copy, unit, size);
    free(s->data);
    *s = (struct nal_set){ .type = type, .id = id, .size = size, .data = copy };
    sets->changed = true;
}

bool nal_sets_record(struct nal_sets *s, enum av_codec codec, struct wr *w)
{
    struct nalu sets[NAL_SETS_MAX];
    unsigned n = 0;

    if (!s->changed)
        return false;
    s->changed = false;
    for (unsigned i = 0; i < NAL_SETS_MAX; i++) {
        if (s->sets[i].data)
            sets[n++] = (struct nalu){ s->sets[i].data, s->sets[i].size };
    }
    return av_codec_row(codec)->nalu->record(w, sets, n) && !w->bad;
}
