/* SPDX-License-Identifier: MIT */
/* chunks_data.c - User Data and Next User Data, [RTMFP] 2.3.11 and 2.3.12. */
#include "proto/rtmfp/chunks.h"

#include <assert.h>

enum { OPTIONS = 0x80, PLACE = 0x30, PLACE_AT = 4, ABANDONED = 0x02, FINAL = 0x01 };

static void read_flags(struct rtmfp_user_data *c, struct rd *r)
{
    uint8_t flags = rd_u8(r);

    c->has_options = flags & OPTIONS;
    c->place = (enum rtmfp_place)((flags & PLACE) >> PLACE_AT);
    c->abandoned = flags & ABANDONED;
    c->final = flags & FINAL;
}

static void read_rest(struct rtmfp_user_data *c, struct rd *r)
{
    c->options = c->has_options ? rtmfp_options_read(r) : rtmfp_bytes(NULL, 0);
    c->data = rtmfp_rest(r);
}

bool rtmfp_user_data_read(struct rtmfp_user_data *c, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    *c = (struct rtmfp_user_data){ .next = false };
    read_flags(c, &r);
    c->flow = rtmfp_vlu_read(&r);
    c->seq = rtmfp_vlu_read(&r);
    c->offset = rtmfp_vlu_read(&r);
    read_rest(c, &r);
    /* It says that it may come again, or that it never will: without a number it says neither. */
    return !r.bad && c->seq > 0 && c->offset <= c->seq && (c->offset > 0 || c->abandoned);
}

bool rtmfp_user_data_read_next(struct rtmfp_user_data *inout, struct rtmfp_bytes body)
{
    struct rd r = rtmfp_rd(body);

    if (inout->seq == UINT64_MAX)
        return false;
    inout->next = true;
    inout->seq++;
    inout->offset++;
    read_flags(inout, &r);
    read_rest(inout, &r);
    return !r.bad;
}

/* Of the body, without the data. */
static size_t body_head_size(const struct rtmfp_user_data *c)
{
    size_t numbers = rtmfp_vlu_size(c->flow) + rtmfp_vlu_size(c->seq) + rtmfp_vlu_size(c->offset);

    return 1 + (c->next ? 0 : numbers) + (c->has_options ? c->options.n + 1 : 0);
}

size_t rtmfp_user_data_head_size(const struct rtmfp_user_data *c)
{
    return RTMFP_CHUNK_HEAD + body_head_size(c);
}

/* Its length is known beforehand: the data may be written by somebody else. */
bool rtmfp_user_data_write_head(struct wr *w, const struct rtmfp_user_data *c)
{
    size_t size = body_head_size(c) + c->data.n;

    assert(c->has_options || c->options.n == 0);
    if (size > rtmfp_chunk_room(w) || size > UINT16_MAX)
        return false;
    wr_u8(w, c->next ? RTMFP_NEXT_USER_DATA : RTMFP_USER_DATA);
    wr_u16(w, (uint16_t)size);
    wr_u8(w, (uint8_t)((c->has_options ? OPTIONS : 0) | c->place << PLACE_AT |
                       (c->abandoned ? ABANDONED : 0) | (c->final ? FINAL : 0)));
    if (!c->next) {
        rtmfp_vlu_write(w, c->flow);
        rtmfp_vlu_write(w, c->seq);
        rtmfp_vlu_write(w, c->offset);
    }
    wr_bytes(w, c->options.p, c->options.n);
    if (c->has_options)
        rtmfp_marker_write(w);
    return true;
}

bool rtmfp_user_data_write(struct wr *w, const struct rtmfp_user_data *c)
{
    bool fits = rtmfp_user_data_write_head(w, c);

    if (fits)
        wr_bytes(w, c->data.p, c->data.n);
    return fits;
}
