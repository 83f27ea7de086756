/* SPDX-License-Identifier: MIT */
/* option.c - options and lists of them, [RTMFP] 2.1.3 and 2.1.4. */
#include "proto/rtmfp/option.h"

bool rtmfp_option_next(struct rtmfp_options *o, struct rtmfp_option *out)
{
    struct rtmfp_bytes whole;
    struct rd value;

    if (o->r.bad || rd_left(&o->r) == 0)
        return false;
    whole = rtmfp_bytes_read(&o->r, SIZE_MAX);
    *out = (struct rtmfp_option){ .marker = whole.n == 0 };
    if (o->r.bad || out->marker)
        return !o->r.bad;
    value = rtmfp_rd(whole);
    out->type = rtmfp_vlu_read(&value);
    out->value = rtmfp_rest(&value);
    if (value.bad || ++o->n > RTMFP_OPTIONS_MAX)
        o->r.bad = true;
    return !o->r.bad;
}

struct rtmfp_bytes rtmfp_options_read(struct rd *r)
{
    struct rtmfp_options o = { .r = *r };
    struct rtmfp_option option = { 0 };
    const uint8_t *from = r->p, *end = from;

    while (!option.marker && rtmfp_option_next(&o, &option))
        end = option.marker ? end : o.r.p;
    *r = o.r;
    if (!option.marker)
        r->bad = true;
    return r->bad ? rtmfp_bytes(NULL, 0) : rtmfp_bytes(from, (size_t)(end - from));
}

void rtmfp_option_write(struct wr *w, uint64_t type, struct rtmfp_bytes value)
{
    rtmfp_vlu_write(w, rtmfp_vlu_size(type) + value.n);
    rtmfp_vlu_write(w, type);
    wr_bytes(w, value.p, value.n);
}

void rtmfp_option_write_vlu(struct wr *w, uint64_t type, uint64_t value)
{
    rtmfp_vlu_write(w, rtmfp_vlu_size(type) + rtmfp_vlu_size(value));
    rtmfp_vlu_write(w, type);
    rtmfp_vlu_write(w, value);
}

void rtmfp_marker_write(struct wr *w)
{
    wr_u8(w, 0);
}
