/* SPDX-License-Identifier: MIT */
/* nal.c - the tables of NAL unit types and of their RTP packet types. */
#include "format/nal.h"

#include "av/bits.h"

#define SLICE NAL_SLICE
#define KEY (NAL_SLICE | NAL_KEY)
#define SET (NAL_SET | NAL_BEGINS)
#define FIRST_SET (NAL_SET | NAL_BEGINS | NAL_FIRST)
#define BEGINS NAL_BEGINS
#define DELIMITER (NAL_LEFT_OUT | NAL_BEGINS | NAL_FIRST)
#define FILLER NAL_LEFT_OUT
#define REFUSED NAL_REFUSED
#define NONE NAL_NONE

/* [H.264] table 7-1 and 7.4.1.2.3; [H264] 5.2 for the types of packets. */
const struct nal_kind nal_h264 = {
    .head = 1, .aggregate = 24, .fragment = 28, .type_mask = 0x1f,
    .flags = {
        [0] = NONE, [1] = SLICE, [2] = SLICE, [3] = SLICE, [4] = SLICE, [5] = KEY, [6] = BEGINS,
        [7] = FIRST_SET, [8] = SET, [9] = DELIMITER, [12] = FILLER, [14] = BEGINS, [15] = BEGINS,
        [16] = BEGINS, [17] = BEGINS, [18] = BEGINS, [20] = 0, [22] = NONE, [23] = NONE,
        [24] = NONE, [28] = NONE, /* packet types, not units: invalid inside other packets */
        [25] = REFUSED, [26] = REFUSED, [27] = REFUSED, [29] = REFUSED, [30] = NONE, [31] = NONE,
    },
};

/* [H.265] table 7-1 and 7.4.2.4.4; [HEVC] 4.4. */
const struct nal_kind nal_h265 = {
    .head = 2, .aggregate = 48, .fragment = 49, .type_mask = 0x3f, .type_shift = 1,
    .flags = {
        [0] = SLICE, [1] = SLICE, [2] = SLICE, [3] = SLICE, [4] = SLICE, [5] = SLICE, [6] = SLICE,
        [7] = SLICE, [8] = SLICE, [9] = SLICE, [16] = KEY, [17] = KEY, [18] = KEY, [19] = KEY,
        [20] = KEY, [21] = KEY, [32] = FIRST_SET, [33] = SET, [34] = SET, [35] = DELIMITER,
        [38] = FILLER, [39] = BEGINS, [41] = BEGINS, [42] = BEGINS, [43] = BEGINS, [44] = BEGINS,
        [48] = NONE, [49] = NONE, /* packet types, not units: invalid inside other packets */
        [50] = REFUSED, [51] = NONE, [52] = NONE, [53] = NONE, [54] = NONE, [55] = NONE,
        [56] = NONE, [57] = NONE, [58] = NONE, [59] = NONE, [60] = NONE, [61] = NONE, [62] = NONE,
        [63] = NONE,
    },
};

/* [H.264] table 7-6. */
enum { TYPES = 5, TYPE_B = 1, TYPE_I = 2, TYPE_SI = 4, TYPE_NONE = TYPES };

static unsigned slice_type(const uint8_t *unit, size_t size)
{
    struct bits b = bits_init_nalu(unit + 1, size - 1);
    uint32_t type;

    (void)bits_ue(&b); /* first_mb_in_slice */
    type = bits_ue(&b);
    return b.bad ? TYPE_NONE : type % TYPES;
}

bool nal_h264_is_intra(const uint8_t *unit, size_t size)
{
    unsigned type = slice_type(unit, size);

    return type == TYPE_I || type == TYPE_SI;
}

bool nal_h264_is_b(const uint8_t *unit, size_t size)
{
    return slice_type(unit, size) == TYPE_B;
}
