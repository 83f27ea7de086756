/* SPDX-License-Identifier: MIT */
/* rtc_order.c - leaves out B frames, for players that show frames in the order of decoding.
 *
 * libwebrtc configures its H.264 decoder for no reordering ([H.264] E.2.1, max_num_reorder_frames),
 * regardless of the stream. For a frame whose time goes back, the decoder outputs nothing;
 * libwebrtc treats that as an error and drops everything until the next key frame. If other frames
 * need a B frame (b-pyramid), only their macroblocks show which ones do. So everything up to the
 * next key frame is left out then: few frames, but no broken ones.
 */
#include "wire/rtc_impl.h"

#include "av/nalu.h"
#include "format/nal.h"

#define JUMP AV_MS(3000) /* a larger difference means another clock */

/* Returns true if other frames need the frame. They do not if nal_ref_idc is 0 ([H.264] 7.4.1) or
 * for a sub-layer non-reference picture ([H.265] 7.4.2.2). */
static bool is_needed(const struct nal_kind *nal, const uint8_t *unit)
{
    if (nal == &nal_h264)
        return (unit[0] & 0x60) != 0;
    return nal_type(nal, unit) >= 16 || (nal_type(nal, unit) & 1);
}

/* Returns true if a frame whose time goes back is a B frame. If it is not, the publisher's times
 * are wrong. */
static bool is_b(const struct frame *f, unsigned nalu_length, bool *needed)
{
    const struct nal_kind *nal = f->codec == AV_H264 ? &nal_h264 : &nal_h265;
    enum nalu_format format = nalu_detect(f->data, f->size, nalu_length);
    struct nalu_reader r;
    struct nalu unit;
    err_t err = nalu_begin(&r, format, nalu_length, f->data, f->size);
    bool is = false;

    for (err = err ? err : nalu_next(&r, &unit); !err && unit.data; err = nalu_next(&r, &unit)) {
        if (unit.size <= nal->head || !(nal->flags[nal_type(nal, unit.data)] & NAL_SLICE))
            continue;
        *needed = is_needed(nal, unit.data);
        is = nal == &nal_h265 || nal_h264_is_b(unit.data, unit.size);
        break;
    }
    err_free(&err);
    return is;
}

bool rtc_order_take(struct rtc_order *o, const struct frame *f, unsigned nalu_length,
                    int64_t *time, enum rtc_order_events *event)
{
    bool back = o->begun && !f->key && f->pts < o->shown && o->shown - f->pts < JUMP;
    bool needed = false;

    *event = RTC_ORDER_OLD;
    *time = f->pts;
    if (o->keep || (f->codec != AV_H264 && f->codec != AV_H265))
        return true;
    o->frames++;
    o->lost &= !f->key;
    if (o->lost || (back && is_b(f, nalu_length, &needed))) {
        enum rtc_order_events what = needed ? RTC_ORDER_KEYS : RTC_ORDER_FEWER;

        o->lost |= needed;
        o->left_out++;
        if (what > o->reported)
            o->reported = *event = what;
        return false;
    }
    if (back)
        *time = o->shown + 1;
    o->shown = *time;
    o->begun = true;
    return true;
}
