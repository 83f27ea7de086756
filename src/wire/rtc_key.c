/* SPDX-License-Identifier: MIT */
/* rtc_key.c - finds key frames and disposable frames by their RTP payloads.
 *
 * [H264] RFC 6184, [HEVC] RFC 7798, [VP8-RTP] RFC 7741, [VP9-RTP] RFC 9628, [AV1-RTP] "RTP Payload
 * Format For AV1" 1.0.
 */
#include "wire/rtc_impl.h"

#include "base/rd.h"
#include "format/nal.h"

/* Returns true for a parameter set or a key frame. */
static bool is_key_unit(const struct nal_kind *nal, uint8_t type)
{
    const uint8_t first = NAL_SET | NAL_FIRST;

    return nal->flags[type] & NAL_KEY || (nal->flags[type] & first) == first;
}

/* [H264] 5.7.1, [HEVC] 4.4.2. */
static bool group_has_key(const struct nal_kind *nal, struct rd r)
{
    while (rd_left(&r) > 2) {
        size_t size = rd_u16(&r);
        const uint8_t *unit = rd_take(&r, size);

        if (!unit || size < nal->head)
            return false;
        if (is_key_unit(nal, nal_type(nal, unit)))
            return true;
    }
    return false;
}

static bool nal_begins(const struct nal_kind *nal, const uint8_t *data, size_t size)
{
    uint8_t type, fragment;

    if (size <= nal->head)
        return false;
    type = nal_type(nal, data);
    if (type == nal->aggregate)
        return group_has_key(nal, rd_init(data + nal->head, size - nal->head));
    if (type != nal->fragment)
        return is_key_unit(nal, type);
    fragment = data[nal->head];
    return fragment & 0x80 && is_key_unit(nal, fragment & nal->type_mask);
}

/* [VP8-RTP] 4.2 and 4.3: start of the first partition of a key frame. */
static bool vp8_begins(const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    uint8_t head = rd_u8(&r), more = head & 0x80 ? rd_u8(&r) : 0;

    if (more & 0x80 && rd_u8(&r) & 0x80)
        (void)rd_u8(&r);
    if (more & 0x40)
        (void)rd_u8(&r);
    if (more & 0x30)
        (void)rd_u8(&r);
    return (head & 0x17) == 0x10 && !(rd_u8(&r) & 0x01) && !r.bad;
}

/* [VP9-RTP] 4.2: start of a frame that needs no other one, in the lowest layer. */
static bool vp9_begins(const uint8_t *data, size_t size)
{
    enum { HAS_ID = 0x80, INTER = 0x40, LAYERS = 0x20, BEGIN = 0x08 };
    struct rd r = rd_init(data, size);
    uint8_t head = rd_u8(&r);

    if (head & HAS_ID && rd_u8(&r) & 0x80)
        (void)rd_u8(&r);
    if (head & LAYERS && rd_u8(&r) >> 1 & 7)
        return false;
    return (head & (INTER | BEGIN)) == BEGIN && !r.bad;
}

bool rtc_key_begins(enum av_codec codec, const uint8_t *data, size_t size)
{
    if (size == 0)
        return false;
    switch (codec) {
    case AV_H264: return nal_begins(&nal_h264, data, size);
    case AV_H265: return nal_begins(&nal_h265, data, size);
    case AV_VP8:  return vp8_begins(data, size);
    case AV_VP9:  return vp9_begins(data, size);
    case AV_AV1:  return (data[0] & 0x88) == 0x08; /* [AV1-RTP] 4.4: N, and not a continuation */
    default:      return false;
    }
}

/* ---- disposable frames */

/* [H264] 5.3: the first octet of fragments and aggregates has their highest nal_ref_idc. */
static bool h264_is_spare(const uint8_t *data)
{
    enum { SLICE = 1, GROUP = 24, PIECE = 28 };
    unsigned type = data[0] & 0x1f;

    return (data[0] & 0x60) == 0 && (type == SLICE || type == GROUP || type == PIECE);
}

/* [H.265] 7.4.2.2: sub-layer non-reference pictures; [HEVC] 4.4.2, 4.4.3. */
static bool h265_is_spare(const uint8_t *data, size_t size)
{
    uint8_t type = nal_type(&nal_h265, data);

    if (type == nal_h265.aggregate && size > 4)
        type = nal_type(&nal_h265, data + 4);
    else if (type == nal_h265.fragment)
        type = data[2] & nal_h265.type_mask;
    return type < 16 && type % 2 == 0;
}

/* [VP9-RTP] 4.2: frames of lower temporal layers do not need those of higher ones. */
static bool vp9_is_spare(const uint8_t *data, size_t size)
{
    enum { HAS_ID = 0x80, LAYERS = 0x20 };
    struct rd r = rd_init(data, size);
    uint8_t head = rd_u8(&r);

    if (head & HAS_ID && rd_u8(&r) & 0x80)
        (void)rd_u8(&r);
    return head & LAYERS && rd_u8(&r) >> 5 != 0 && !r.bad;
}

/* [AV1-RTP] 4.4, [AV1] 5.3.3: the same, if OBUs have their layer. */
static bool av1_is_spare(const uint8_t *data, size_t size)
{
    enum { PIECE = 0x80, COUNT = 0x30, ONE = 0x10, HAS_EXTENSION = 0x04 };
    struct rd r = rd_init(data, size);
    uint8_t head = rd_u8(&r), unit;

    if (head & PIECE)
        return false;
    for (unsigned i = 0; (head & COUNT) != ONE && i < 5 && rd_u8(&r) & 0x80; i++)
        ;
    unit = rd_u8(&r);
    return unit & HAS_EXTENSION && rd_u8(&r) >> 5 != 0 && !r.bad;
}

bool rtc_key_spare(enum av_codec codec, const uint8_t *data, size_t size)
{
    if (size < 3)
        return false;
    switch (codec) {
    case AV_H264: return h264_is_spare(data);
    case AV_H265: return h265_is_spare(data, size);
    case AV_VP8:  return (data[0] & 0x20) != 0; /* [VP8-RTP] 4.2: N */
    case AV_VP9:  return vp9_is_spare(data, size);
    case AV_AV1:  return av1_is_spare(data, size);
    default:      return false;
    }
}
