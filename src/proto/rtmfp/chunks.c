/* SPDX-License-Identifier: MIT */
/* chunks.c - parses and writes chunks, [RTMFP] 2.3. */
#include "proto/rtmfp/chunks.h"

#include "base/ip.h"

#include <assert.h>

/* ---- addresses in chunks, [RTMFP] 2.1.5 */

enum { V6 = 0x80, ORIGIN = 0x03 };

void rtmfp_address_read(struct rd *r, struct rtmfp_address *out)
{
    uint8_t flags = rd_u8(r);
    const uint8_t *ip = rd_take(r, flags & V6 ? 16 : 4);

    *out = (struct rtmfp_address){ .origin = (enum rtmfp_origin)(flags & ORIGIN) };
    if (ip && flags & V6)
        memcpy(out->at.ip, ip, sizeof(out->at.ip));
    else if (ip)
        ip_from_v4(ip, out->at.ip);
    out->at.port = rd_u16(r);
}

void rtmfp_address_write(struct wr *w, const struct rtmfp_address *a)
{
    bool v4 = ip_is_v4(a->at.ip);

    wr_u8(w, (uint8_t)((v4 ? 0 : V6) | a->origin));
    wr_bytes(w, v4 ? a->at.ip + 12 : a->at.ip, v4 ? 4 : 16);
    wr_u16(w, a->at.port);
}

/* ---- plain packets, [RTMFP] 2.2.4: their chunks, and which types are valid in which mode */

enum { HAS_TIME = 0x08, HAS_ECHO = 0x04, MODE = 0x03 };

bool rtmfp_packet_read(struct rtmfp_packet *out, struct rtmfp_bytes plain)
{
    struct rd r = rtmfp_rd(plain);
    uint8_t flags = rd_u8(&r);

    *out = (struct rtmfp_packet){
        .head = {
            .mode = (enum rtmfp_mode)(flags & MODE),
            .flags = flags & (uint8_t)~(HAS_TIME | HAS_ECHO | MODE),
            .has_time = flags & HAS_TIME,
            .has_echo = flags & HAS_ECHO,
        },
    };
    if (out->head.has_time)
        out->head.time = rd_u16(&r);
    if (out->head.has_echo)
        out->head.echo = rd_u16(&r);
    out->chunks = r;
    return !r.bad && out->head.mode != 0;
}

bool rtmfp_chunk_any(struct rtmfp_packet *p, struct rtmfp_chunk *out)
{
    struct rd *r = &p->chunks;
    uint16_t size;

    if (rd_left(r) < RTMFP_CHUNK_HEAD)
        return false;
    out->type = rd_u8(r);
    size = rd_u16(r);
    out->body = rtmfp_bytes(rd_take(r, size), size);
    return !r->bad;
}

static bool is_for(uint8_t type, enum rtmfp_mode mode)
{
    switch (type) {
    case RTMFP_IHELLO:
    case RTMFP_RHELLO:
    case RTMFP_REDIRECT:
    case RTMFP_IIKEYING:
    case RTMFP_RIKEYING:
    case RTMFP_COOKIE_CHANGE:
        return mode == RTMFP_STARTUP;
    case RTMFP_FORWARDED_IHELLO:
    case RTMFP_PING:
    case RTMFP_PING_REPLY:
    case RTMFP_USER_DATA:
    case RTMFP_NEXT_USER_DATA:
    case RTMFP_ACK_BITMAP:
    case RTMFP_ACK_RANGES:
    case RTMFP_BUFFER_PROBE:
    case RTMFP_FLOW_EXCEPTION:
    case RTMFP_CLOSE:
    case RTMFP_CLOSE_ACK:
        return mode == RTMFP_INITIATOR || mode == RTMFP_RESPONDER;
    case RTMFP_FRAGMENT:
        return true;
    default:
        return false;
    }
}

bool rtmfp_chunk_next(struct rtmfp_packet *p, struct rtmfp_chunk *out)
{
    while (rtmfp_chunk_any(p, out))
        if (is_for(out->type, p->head.mode))
            return true;
    return false;
}

/* ---- writing */

void rtmfp_packet_begin(struct wr *w, const struct rtmfp_head *head)
{
    wr_u8(w, (uint8_t)(head->flags | (head->has_time ? HAS_TIME : 0) |
                       (head->has_echo ? HAS_ECHO : 0) | head->mode));
    if (head->has_time)
        wr_u16(w, head->time);
    if (head->has_echo)
        wr_u16(w, head->echo);
}

size_t rtmfp_chunk_begin(struct wr *w, enum rtmfp_type type)
{
    size_t begin = w->len;

    wr_u8(w, (uint8_t)type);
    wr_u16(w, 0);
    return begin;
}

bool rtmfp_chunk_end(struct wr *w, size_t begin)
{
    size_t size = w->len - begin - RTMFP_CHUNK_HEAD;

    if (w->bad || size > UINT16_MAX) {
        w->bad = ERR_OK;
        w->len = begin;
        return false;
    }
    w->buf[begin + 1] = (uint8_t)(size >> 8);
    w->buf[begin + 2] = (uint8_t)size;
    return true;
}

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

/* Parses all addresses once, so that callers need not check for truncation. */
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

/* ---- User Data and Next User Data, [RTMFP] 2.3.11 and 2.3.12 */

enum { OPTIONS = 0x80, PLACE = 0x30, PLACE_AT = 4, ABANDONED = 0x02, FINAL = 0x01 };

static void read_flags(struct rtmfp_user_data *c, struct rd *r)
{
    uint8_t flags = rd_u8(r);

    c->has_options = flags & OPTIONS;
    c->position = (enum rtmfp_position)((flags & PLACE) >> PLACE_AT);
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
    /* The chunk must say either that it can be retransmitted, or that it never will be. */
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

/* Size of the body without the data. */
static size_t body_head_size(const struct rtmfp_user_data *c)
{
    size_t numbers = rtmfp_vlu_size(c->flow) + rtmfp_vlu_size(c->seq) + rtmfp_vlu_size(c->offset);

    return 1 + (c->next ? 0 : numbers) + (c->has_options ? c->options.n + 1 : 0);
}

size_t rtmfp_user_data_head_size(const struct rtmfp_user_data *c)
{
    return RTMFP_CHUNK_HEAD + body_head_size(c);
}

/* The length is known in advance, so the caller can write the data. */
bool rtmfp_user_data_write_head(struct wr *w, const struct rtmfp_user_data *c)
{
    size_t size = body_head_size(c) + c->data.n;

    assert(c->has_options || c->options.n == 0);
    if (size > rtmfp_chunk_room(w) || size > UINT16_MAX)
        return false;
    wr_u8(w, c->next ? RTMFP_NEXT_USER_DATA : RTMFP_USER_DATA);
    wr_u16(w, (uint16_t)size);
    wr_u8(w, (uint8_t)((c->has_options ? OPTIONS : 0) | c->position << PLACE_AT |
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

/* ---- acks as bitmap and as ranges, [RTMFP] 2.3.13 and 2.3.14 */

/* Returns false if the chunk is invalid because it contains numbers beyond 64 bits. */
static bool is_possible(const struct rtmfp_ack *c)
{
    struct rtmfp_ack_reader r;
    struct rtmfp_range range;

    if (c->bitmap) /* checks the number of its last bit */
        return c->rest.n == 0 || UINT64_MAX - c->cumulative > c->rest.n * 8;
    rtmfp_ack_begin(&r, c);
    while (rtmfp_ack_next(&r, &range))
        ;
    return !r.wrong;
}

bool rtmfp_ack_read(struct rtmfp_ack *c, struct rtmfp_bytes body, bool bitmap)
{
    struct rd r = rtmfp_rd(body);

    *c = (struct rtmfp_ack){ .bitmap = bitmap };
    c->flow = rtmfp_vlu_read(&r);
    c->window = rtmfp_vlu_read(&r);
    c->cumulative = rtmfp_vlu_read(&r);
    c->rest = rtmfp_rest(&r);
    return !r.bad && is_possible(c);
}

static size_t begin(struct wr *w, const struct rtmfp_ack *c)
{
    size_t at = rtmfp_chunk_begin(w, c->bitmap ? RTMFP_ACK_BITMAP : RTMFP_ACK_RANGES);

    rtmfp_vlu_write(w, c->flow);
    rtmfp_vlu_write(w, c->window);
    rtmfp_vlu_write(w, c->cumulative);
    return at;
}

bool rtmfp_ack_write(struct wr *w, const struct rtmfp_ack *c)
{
    size_t at = begin(w, c);

    wr_bytes(w, c->rest.p, c->rest.n);
    return rtmfp_chunk_end(w, at);
}

bool rtmfp_ack_write_ranges(struct wr *w, const struct rtmfp_ack *c,
                            const struct rtmfp_range *ranges, size_t n)
{
    struct rtmfp_ack head = { .flow = c->flow, .window = c->window, .cumulative = c->cumulative };
    uint64_t above = c->cumulative;
    size_t at = begin(w, &head);

    for (size_t i = 0; i < n && !w->bad; i++) {
        uint64_t missing, came;

        assert(ranges[i].first > above + 1 && ranges[i].last >= ranges[i].first);
        missing = ranges[i].first - above - 2;
        came = ranges[i].last - ranges[i].first;
        if (rtmfp_vlu_size(missing) + rtmfp_vlu_size(came) > w->limit - w->len)
            break;
        rtmfp_vlu_write(w, missing);
        rtmfp_vlu_write(w, came);
        above = ranges[i].last;
    }
    return rtmfp_chunk_end(w, at);
}

/* ---- reading the ranges above the cumulative ack */

void rtmfp_ack_begin(struct rtmfp_ack_reader *r, const struct rtmfp_ack *c)
{
    *r = (struct rtmfp_ack_reader){ .r = rtmfp_rd(c->rest), .bitmap = c->bitmap };
    r->at = c->bitmap ? c->cumulative + 2 : c->cumulative;
}

/* A truncated pair is ignored. */
static bool next_range(struct rtmfp_ack_reader *r, struct rtmfp_range *out)
{
    uint64_t missing = rtmfp_vlu_read(&r->r), came = rtmfp_vlu_read(&r->r);

    if (r->r.bad)
        return false;
    if (missing > UINT64_MAX - 2 || UINT64_MAX - r->at < missing + 2 ||
        UINT64_MAX - r->at - missing - 2 < came) {
        r->wrong = r->r.bad = true;
        return false;
    }
    out->first = r->at + missing + 2;
    out->last = r->at = out->first + came;
    return true;
}

static bool take_bit(struct rtmfp_ack_reader *r)
{
    bool is = *r->r.p >> r->bit & 1;

    r->at++;
    if (++r->bit == 8) {
        r->bit = 0;
        r->r.p++;
    }
    return is;
}

static bool next_run(struct rtmfp_ack_reader *r, struct rtmfp_range *out)
{
    bool is = false;

    while (!is && rd_left(&r->r) > 0)
        is = take_bit(r);
    if (!is)
        return false;
    out->first = out->last = r->at - 1;
    while (rd_left(&r->r) > 0 && take_bit(r))
        out->last++;
    return true;
}

bool rtmfp_ack_next(struct rtmfp_ack_reader *r, struct rtmfp_range *out)
{
    return r->bitmap ? next_run(r, out) : next_range(r, out);
}
