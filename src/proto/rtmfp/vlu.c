/* SPDX-License-Identifier: MIT */
/* vlu.c - variable-length integers, and options, [RTMFP] 2.1.2 to 2.1.4. */
#include "proto/rtmfp/vlu.h"


bool rtmfp_bytes_same(struct rtmfp_bytes a, struct rtmfp_bytes b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

uint64_t rtmfp_vlu_read(struct rd *r)
{
    uint64_t v = 0;
    uint8_t b;
    int n = 0;

    do {
        b = rd_u8(r);
        if (++n > RTMFP_VLU_MAX || v >> 57)
            r->bad = true;
        v = v << 7 | (b & 0x7f);
    } while (b & 0x80 && !r->bad);
    return r->bad ? 0 : v;
}

size_t rtmfp_vlu_size(uint64_t v)
{
    size_t n = 1;

    while (v >>= 7)
        n++;
    return n;
}

void rtmfp_vlu_write(struct wr *w, uint64_t v)
{
    size_t n = rtmfp_vlu_size(v);
    uint8_t *at = wr_reserve(w, n);

    if (!at)
        return;
    w->len += n;
    for (size_t i = n; i-- > 0; v >>= 7)
        at[i] = (uint8_t)((v & 0x7f) | (i + 1 < n ? 0x80 : 0));
}

struct rtmfp_bytes rtmfp_bytes_read(struct rd *r, size_t most)
{
    uint64_t n = rtmfp_vlu_read(r);
    const uint8_t *p;

    if (n > most)
        r->bad = true;
    p = r->bad ? NULL : rd_take(r, (size_t)n);
    return p ? rtmfp_bytes(p, (size_t)n) : rtmfp_bytes(NULL, 0);
}

void rtmfp_bytes_write(struct wr *w, struct rtmfp_bytes b)
{
    rtmfp_vlu_write(w, b.n);
    wr_bytes(w, b.p, b.n);
}

struct rtmfp_bytes rtmfp_rest(struct rd *r)
{
    size_t n = rd_left(r);

    return rtmfp_bytes(rd_take(r, n), n);
}

/* ---- options and lists of options, [RTMFP] 2.1.3 and 2.1.4 */

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
