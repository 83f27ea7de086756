/* SPDX-License-Identifier: MIT */
/* rtc_order.c - pictures that are shown in another order than they are decoded in, for players that
 * show them as they come.
 *
 * Those that no other needs are left out: then the order is one. Where others need some of them
 * they stay, and all are shown as they come. */
#include "wire/rtc_impl.h"

#include "av/nalu.h"
#include "format/nal.h"

#define JUMP AV_MS(3000) /* another clock */

/* [H.264] 7.4.1: nal_ref_idc is 0; [H.265] 7.4.2.2: a sub-layer non-reference picture. */
static bool is_needed(const struct nal_kind *nal, const uint8_t *unit)
{
    if (nal == &nal_h264)
        return (unit[0] & 0x60) != 0;
    return nal_type(nal, unit) >= 16 || (nal_type(nal, unit) & 1);
}

/* Does any other picture need this one? By its first slice. */
static bool picture_is_needed(const struct frame *f, unsigned nalu_length)
{
    const struct nal_kind *nal = f->codec == AV_H264 ? &nal_h264 : &nal_h265;
    enum nalu_format format = nalu_detect(f->data, f->size, nalu_length);
    struct nalu_reader r;
    struct nalu unit;
    err_t err = nalu_begin(&r, format, nalu_length, f->data, f->size);

    for (err = err ? err : nalu_next(&r, &unit); !err && unit.data; err = nalu_next(&r, &unit)) {
        if (unit.size > nal->head && nal->flags[nal_type(nal, unit.data)] & NAL_SLICE)
            return is_needed(nal, unit.data);
    }
    err_free(&err);
    return true;
}

static int64_t in_order(struct rtc_order *o, int64_t time)
{
    if (time <= o->last && o->last - time < JUMP)
        time = o->last + 1;
    return time;
}

bool rtc_order_take(struct rtc_order *o, const struct frame *f, unsigned nalu_length,
                    int64_t *time, bool *news)
{
    bool back = o->begun && !f->key && f->pts < o->shown && o->shown - f->pts < JUMP;

    *news = false;
    *time = f->pts;
    if (o->keep || (f->codec != AV_H264 && f->codec != AV_H265))
        return true;
    if (back && !picture_is_needed(f, nalu_length))
        return false;
    if (back && !o->mixed)
        *news = o->mixed = true;
    if (f->key || !o->begun)
        o->ahead = f->pts - f->dts;
    if (o->mixed)
        *time = in_order(o, f->dts + o->ahead);
    o->shown = !back ? f->pts : o->shown;
    o->begun = true;
    o->last = *time;
    return true;
}
