/* SPDX-License-Identifier: MIT */
/* chunks.c - what is in chunks of startup packets, and the small ones of sessions, [RTMFP] 2.3. */
#include "proto/rtmfp/chunks.h"

enum { MORE = 0x80 };

/* ---- hello */

bool rtmfp_ihello_read(struct rtmfp_ihello *c, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    c->epd = rtmfp_bytes_read(&r, RTMFP_EPD_MAX);
    c->tag = rtmfp_rest(&r);
    return !r.bad && c->tag.n <= RTMFP_TAG_MAX;
}

bool rtmfp_ihello_write(struct wr *w, const struct rtmfp_ihello *c)
{
    size_t at = rtmfp_chunk_begin(w, RTMFP_IHELLO);

    rtmfp_bytes_write(w, c->epd);
    wr_bytes(w, c->tag.p, c->tag.n);
    return rtmfp_chunk_end(w, at);
}

bool rtmfp_forwarded_read(struct rtmfp_forwarded *c, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    c->epd = rtmfp_bytes_read(&r, RTMFP_EPD_MAX);
    rtmfp_address_read(&r, &c->reply_to);
    c->tag = rtmfp_rest(&r);
    return !r.bad && c->tag.n <= RTMFP_TAG_MAX;
}

bool rtmfp_forwarded_write(struct wr *w, const struct rtmfp_forwarded *c)
{
    size_t at = rtmfp_chunk_begin(w, RTMFP_FORWARDED_IHELLO);

    rtmfp_bytes_write(w, c->epd);
    rtmfp_address_write(w, &c->reply_to);
    wr_bytes(w, c->tag.p, c->tag.n);
    return rtmfp_chunk_end(w, at);
}

bool rtmfp_rhello_read(struct rtmfp_rhello *c, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    c->tag = rtmfp_bytes_read(&r, RTMFP_TAG_MAX);
    c->cookie = rtmfp_bytes_read(&r, RTMFP_COOKIE_MAX);
    c->certificate = rtmfp_rest(&r);
    return !r.bad && c->certificate.n <= RTMFP_CERTIFICATE_MAX;
}

bool rtmfp_rhello_write(struct wr *w, const struct rtmfp_rhello *c)
{
    size_t at = rtmfp_chunk_begin(w, RTMFP_RHELLO);

    rtmfp_bytes_write(w, c->tag);
    rtmfp_bytes_write(w, c->cookie);
    wr_bytes(w, c->certificate.p, c->certificate.n);
    return rtmfp_chunk_end(w, at);
}

/* Walked once here, so that who uses them need not ask whether one is cut. */
bool rtmfp_redirect_read(struct rtmfp_redirect *c, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);
    struct rtmfp_address a;
    struct rd list;

    c->tag = rtmfp_bytes_read(&r, RTMFP_TAG_MAX);
    c->addresses = rtmfp_rest(&r);
    if (r.bad)
        return false;
    list = rtmfp_rd(c->addresses);
    while (!list.bad && rd_left(&list) > 0)
        rtmfp_address_read(&list, &a);
    return !list.bad;
}

bool rtmfp_redirect_write(struct wr *w, struct rtmfp_bytes tag, const struct rtmfp_address *list,
                          size_t n)
{
    size_t at = rtmfp_chunk_begin(w, RTMFP_REDIRECT);

    rtmfp_bytes_write(w, tag);
    for (size_t i = 0; i < n; i++)
        rtmfp_address_write(w, &list[i]);
    return rtmfp_chunk_end(w, at);
}

/* ---- keying */

bool rtmfp_iikeying_read(struct rtmfp_iikeying *c, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    c->id = rd_u32(&r);
    c->cookie = rtmfp_bytes_read(&r, RTMFP_COOKIE_MAX);
    c->certificate = rtmfp_bytes_read(&r, RTMFP_CERTIFICATE_MAX);
    c->component = rtmfp_bytes_read(&r, RTMFP_COMPONENT_MAX);
    c->signature = rtmfp_rest(&r);
    return !r.bad;
}

bool rtmfp_iikeying_write(struct wr *w, const struct rtmfp_iikeying *c)
{
    size_t at = rtmfp_chunk_begin(w, RTMFP_IIKEYING);

    wr_u32(w, c->id);
    rtmfp_bytes_write(w, c->cookie);
    rtmfp_bytes_write(w, c->certificate);
    rtmfp_bytes_write(w, c->component);
    wr_bytes(w, c->signature.p, c->signature.n);
    return rtmfp_chunk_end(w, at);
}

bool rtmfp_rikeying_read(struct rtmfp_rikeying *c, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    c->id = rd_u32(&r);
    c->component = rtmfp_bytes_read(&r, RTMFP_COMPONENT_MAX);
    c->signature = rtmfp_rest(&r);
    return !r.bad;
}

bool rtmfp_rikeying_write(struct wr *w, const struct rtmfp_rikeying *c)
{
    size_t at = rtmfp_chunk_begin(w, RTMFP_RIKEYING);

    wr_u32(w, c->id);
    rtmfp_bytes_write(w, c->component);
    wr_bytes(w, c->signature.p, c->signature.n);
    return rtmfp_chunk_end(w, at);
}

bool rtmfp_cookie_change_read(struct rtmfp_cookie_change *c, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    c->old = rtmfp_bytes_read(&r, RTMFP_COOKIE_MAX);
    c->fresh = rtmfp_rest(&r);
    return !r.bad && c->fresh.n <= RTMFP_COOKIE_MAX;
}

bool rtmfp_cookie_change_write(struct wr *w, const struct rtmfp_cookie_change *c)
{
    size_t at = rtmfp_chunk_begin(w, RTMFP_COOKIE_CHANGE);

    rtmfp_bytes_write(w, c->old);
    wr_bytes(w, c->fresh.p, c->fresh.n);
    return rtmfp_chunk_end(w, at);
}

bool rtmfp_piece_read(struct rtmfp_piece *c, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    c->more = rd_u8(&r) & MORE;
    c->packet = rtmfp_vlu_read(&r);
    c->index = rtmfp_vlu_read(&r);
    c->data = rtmfp_rest(&r);
    return !r.bad;
}

bool rtmfp_piece_write(struct wr *w, const struct rtmfp_piece *c)
{
    size_t at = rtmfp_chunk_begin(w, RTMFP_FRAGMENT);

    wr_u8(w, c->more ? MORE : 0);
    rtmfp_vlu_write(w, c->packet);
    rtmfp_vlu_write(w, c->index);
    wr_bytes(w, c->data.p, c->data.n);
    return rtmfp_chunk_end(w, at);
}

/* ---- sessions */

bool rtmfp_plain_write(struct wr *w, enum rtmfp_type type, struct rtmfp_bytes body)
{
    size_t at = rtmfp_chunk_begin(w, type);

    wr_bytes(w, body.p, body.n);
    return rtmfp_chunk_end(w, at);
}

bool rtmfp_probe_read(uint64_t *flow, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    *flow = rtmfp_vlu_read(&r);
    return !r.bad;
}

bool rtmfp_probe_write(struct wr *w, uint64_t flow)
{
    size_t at = rtmfp_chunk_begin(w, RTMFP_BUFFER_PROBE);

    rtmfp_vlu_write(w, flow);
    return rtmfp_chunk_end(w, at);
}

bool rtmfp_exception_read(struct rtmfp_exception *c, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    c->flow = rtmfp_vlu_read(&r);
    c->code = rtmfp_vlu_read(&r);
    return !r.bad;
}

bool rtmfp_exception_write(struct wr *w, const struct rtmfp_exception *c)
{
    size_t at = rtmfp_chunk_begin(w, RTMFP_FLOW_EXCEPTION);

    rtmfp_vlu_write(w, c->flow);
    rtmfp_vlu_write(w, c->code);
    return rtmfp_chunk_end(w, at);
}
