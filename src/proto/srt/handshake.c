/* SPDX-License-Identifier: MIT */
/* handshake.c - reads and writes handshake packets, and the responses of a listener: "Handshake".
 */
#include "proto/srt/handshake.h"

#include "base/be.h"
#include "base/rd.h"

#include <assert.h>
#include <string.h>

enum {
    VERSION = 5, MAGIC = 0x4a17,
    CALLERS_FIRST = 4, /* version in an induction */
    OLDEST = 0x010300, /* oldest accepted version of SRT */
    HEADERS = 28 + SRT_HEADER, /* bytes of the IP, UDP and SRT headers in the MTU */
    MTU_MIN = HEADERS + 188,
};

/* Extension types, and the bits that announce them. */
enum { HSREQ = 1, HSRSP, KMREQ, KMRSP, STREAMID, CONGESTION, FILTER, GROUP };
enum { HAS_HS = 1, HAS_KM = 2, HAS_CONFIG = 4 };

const char *srt_refusal_text(uint32_t code)
{
    switch (code) {
#define XX(name, number, text) case number: return text;
        SRT_REFUSALS(XX)
#undef XX
    default: return "unknown reason";
    }
}

static const uint16_t codes[SRT_REFUSAL_KINDS] = {
#define XX(name, number, text) number,
    SRT_REFUSALS(XX)
#undef XX
};

unsigned srt_refusal_index(uint32_t code)
{
    unsigned index = 0;

    while (index < SRT_REFUSAL_KINDS && codes[index] != code)
        index++;
    return index;
}

/* ---- texts in extensions: the bytes of each word are reversed, and the last word is padded with
 * zeros */

static size_t read_text(const uint8_t *data, size_t size, char *out)
{
    size_t n = size;

    for (size_t i = 0; i < size; i++)
        out[i] = (char)data[i ^ 3];
    while (n > 0 && out[n - 1] == 0)
        n--;
    out[n] = 0;
    return n;
}

static size_t write_text(const char *text, size_t size, uint8_t *out)
{
    size_t room = (size + 3) / 4 * 4;

    for (size_t i = 0; i < room; i++)
        out[i ^ 3] = i < size ? (uint8_t)text[i] : 0;
    return room;
}

/* ---- parsing */

static bool read_hs(struct srt_handshake *h, struct rd *r)
{
    h->has_hs = true;
    h->srt_version = rd_u32(r);
    h->flags = rd_u32(r);
    h->receiver_latency = rd_u16(r);
    h->sender_latency = rd_u16(r);
    return !r->bad;
}

/* The keys must have the length that the handshake announces. */
static bool read_km(struct srt_handshake *h, struct rd *r)
{
    struct srt_km km;

    h->has_km = true;
    h->km_size = rd_left(r);
    h->km = rd_take(r, h->km_size);
    if (h->km_size == 4)
        return true;
    return srt_km_read(&km, h->km, h->km_size) &&
           (h->encryption == 0 || h->encryption * 8 == km.key_size);
}

static bool read_streamid(struct srt_handshake *h, const struct rd *r)
{
    if (rd_left(r) > SRT_STREAMID_MAX)
        return false;
    h->has_streamid = true;
    h->streamid_size = read_text(r->p, rd_left(r), h->streamid);
    return true;
}

/* A name that is too long is replaced with "?", which is unknown. */
static bool read_congestion(struct srt_handshake *h, const struct rd *r)
{
    char text[sizeof(h->congestion)] = "?";

    if (rd_left(r) < sizeof(text))
        (void)read_text(r->p, rd_left(r), text);
    memcpy(h->congestion, text, sizeof(text));
    return true;
}

static bool read_extension(struct srt_handshake *h, unsigned type, struct rd *r)
{
    switch (type) {
    case HSREQ:
    case HSRSP:      return !h->has_hs && read_hs(h, r);
    case KMREQ:
    case KMRSP:      return !h->has_km && read_km(h, r);
    case STREAMID:   return !h->has_streamid && read_streamid(h, r);
    case CONGESTION: return !h->congestion[0] && read_congestion(h, r);
    case FILTER:     return !h->filter && (h->filter = true);
    case GROUP:      return !h->group && (h->group = true);
    default:         return true;
    }
}

static bool read_extensions(struct srt_handshake *h, struct rd *r)
{
    while (rd_left(r) > 0) {
        unsigned type = rd_u16(r);
        struct rd content = rd_sub(r, rd_u16(r) * (size_t)4);

        if (r->bad || !read_extension(h, type, &content))
            return false;
    }
    return true;
}

static void read_body(struct srt_handshake *h, struct rd *r)
{
    const uint8_t *address;

    h->version = rd_u32(r);
    h->encryption = rd_u16(r);
    h->extensions = rd_u16(r);
    h->first_seq = rd_u32(r);
    h->mtu = rd_u32(r);
    h->window = rd_u32(r);
    h->kind = rd_u32(r);
    h->id = rd_u32(r);
    h->cookie = rd_u32(r);
    address = rd_take(r, sizeof(h->address));
    if (address)
        memcpy(h->address, address, sizeof(h->address));
}

/* Checks the fixed fields of a conclusion. */
static bool is_usable(const struct srt_handshake *h)
{
    return h->id != 0 && h->first_seq <= SRT_SEQ_MASK && h->mtu >= MTU_MIN && h->window > 0 &&
           h->encryption <= 4 && h->encryption != 1;
}

/* Returns the reason to reject a request for a feature that we do not support. */
static enum srt_refusal unfit(const struct srt_handshake *h)
{
    if (h->srt_version < OLDEST)
        return SRT_REFUSED_VERSION;
    if (h->flags & SRT_FLAG_STREAM)
        return SRT_REFUSED_STREAM_MODE;
    if (h->congestion[0] && strcmp(h->congestion, "live") != 0)
        return SRT_REFUSED_CONGESTION;
    if (h->filter)
        return SRT_REFUSED_FILTER;
    return h->group ? SRT_REFUSED_GROUP : SRT_WELCOME;
}

enum srt_refusal srt_handshake_read(struct srt_handshake *h, const struct srt_packet *p)
{
    struct rd r = rd_init(p->body, p->size);

    memset(h, 0, sizeof(*h));
    read_body(h, &r);
    if (r.bad)
        return SRT_REFUSED_MALFORMED;
    if (h->kind != SRT_CONCLUSION)
        return SRT_WELCOME;
    if (h->version != VERSION)
        return SRT_REFUSED_VERSION;
    if (!is_usable(h) || !read_extensions(h, &r) || !h->has_hs)
        return SRT_REFUSED_MALFORMED;
    return unfit(h);
}

/* ---- writing */

static uint8_t *write_head(uint8_t *at, unsigned type, size_t size)
{
    (void)be_put16(at, type);
    (void)be_put16(at + 2, (unsigned)(size / 4));
    return at + 4;
}

static uint8_t *write_text_extension(uint8_t *at, unsigned type, const char *text, size_t size)
{
    at = write_head(at, type, (size + 3) / 4 * 4);
    return at + write_text(text, size, at);
}

static uint8_t *write_extensions(const struct srt_handshake *h, bool is_response, uint8_t *at)
{
    if (h->has_hs) {
        at = write_head(at, is_response ? HSRSP : HSREQ, 12);
        (void)be_put32(at, h->srt_version);
        (void)be_put32(at + 4, h->flags);
        (void)be_put16(at + 8, h->receiver_latency);
        (void)be_put16(at + 10, h->sender_latency);
        at += 12;
    }
    if (h->has_km) {
        assert(h->km_size <= SRT_KM_MAX && h->km_size % 4 == 0);
        at = write_head(at, is_response ? KMRSP : KMREQ, h->km_size);
        memcpy(at, h->km, h->km_size);
        at += h->km_size;
    }
    if (h->streamid_size > 0) {
        assert(h->streamid_size <= SRT_STREAMID_MAX);
        at = write_text_extension(at, STREAMID, h->streamid, h->streamid_size);
    }
    if (h->congestion[0])
        at = write_text_extension(at, CONGESTION, h->congestion, strlen(h->congestion));
    return at;
}

/* In a conclusion this field tells which extensions follow; in other handshakes it has other
 * meanings. */
static uint16_t extension_field(const struct srt_handshake *h)
{
    bool config = h->streamid_size > 0 || h->congestion[0];

    if (h->kind != SRT_CONCLUSION)
        return h->extensions;
    return (uint16_t)((h->has_hs ? HAS_HS : 0) | (h->has_km ? HAS_KM : 0) |
                      (config ? HAS_CONFIG : 0));
}

size_t srt_handshake_write(const struct srt_handshake *h, uint32_t time, uint32_t to,
                           bool is_response, uint8_t out[SRT_HANDSHAKE_MAX])
{
    struct srt_packet p = { .control = true, .type = SRT_HANDSHAKE, .time = time, .to = to };
    uint8_t *at = out + SRT_HEADER;

    srt_packet_write(&p, out);
    (void)be_put32(at, h->version);
    (void)be_put16(at + 4, h->encryption);
    (void)be_put16(at + 6, extension_field(h));
    (void)be_put32(at + 8, h->first_seq);
    (void)be_put32(at + 12, h->mtu);
    (void)be_put32(at + 16, h->window);
    (void)be_put32(at + 20, h->kind);
    (void)be_put32(at + 24, h->id);
    (void)be_put32(at + 28, h->cookie);
    memcpy(at + 32, h->address, sizeof(h->address));
    at += SRT_HANDSHAKE_BODY;
    if (h->kind == SRT_CONCLUSION)
        at = write_extensions(h, is_response, at);
    return (size_t)(at - out);
}

/* ---- listener */

size_t srt_respond_induction(const struct srt_packet *p, const uint8_t key[SRT_COOKIE_KEY],
                             const struct udp_addr *from, int64_t minute, unsigned key_length,
                             uint32_t time, uint8_t out[SRT_HANDSHAKE_MAX])
{
    struct srt_handshake h;

    if (!p->control || p->type != SRT_HANDSHAKE || p->to != 0 ||
        srt_handshake_read(&h, p) != SRT_WELCOME || h.kind != SRT_INDUCTION || h.id == 0 ||
        h.version < CALLERS_FIRST)
        return 0;
    h.version = VERSION;
    h.encryption = (uint16_t)(key_length / 8);
    h.extensions = MAGIC;
    h.cookie = srt_cookie(key, from, minute);
    return srt_handshake_write(&h, time, h.id, true, out);
}

static co_usec larger(co_usec ours, uint16_t ms)
{
    return ours > CO_MS(ms) ? ours : CO_MS(ms);
}

void srt_agree(struct srt_agreed *out, const struct srt_handshake *request,
               const struct srt_terms *terms, uint32_t id)
{
    unsigned mtu = request->mtu < terms->mss ? request->mtu : terms->mss;

    *out = (struct srt_agreed){
        .id = id, .peer_id = request->id, .first_seq = request->first_seq,
        .peer_version = request->srt_version,
        .payload = mtu - HEADERS < SRT_PAYLOAD_MAX ? mtu - HEADERS : SRT_PAYLOAD_MAX,
        .window = request->window < terms->window ? request->window : terms->window,
        .recv_latency = larger(terms->recv_latency, request->sender_latency),
        .send_latency = larger(terms->peer_latency, request->receiver_latency),
    };
}

static uint16_t in_ms(co_usec latency)
{
    return (uint16_t)(latency < CO_MS(UINT16_MAX) ? latency / CO_MS(1) : UINT16_MAX);
}

size_t srt_respond_conclusion(const struct srt_handshake *request, const struct srt_agreed *agreed,
                              const uint8_t *km, size_t km_size, uint32_t time,
                              uint8_t out[SRT_HANDSHAKE_MAX])
{
    struct srt_handshake h = {
        .version = VERSION, .first_seq = request->first_seq, .mtu = agreed->payload + HEADERS,
        .window = agreed->window, .kind = SRT_CONCLUSION, .id = agreed->id,
        .cookie = request->cookie, .has_hs = true, .srt_version = SRT_VERSION, .flags = SRT_FLAGS,
        .receiver_latency = in_ms(agreed->recv_latency),
        .sender_latency = in_ms(agreed->send_latency),
        .has_km = km != NULL, .km = km, .km_size = km_size,
    };

    memcpy(h.address, request->address, sizeof(h.address));
    return srt_handshake_write(&h, time, request->id, true, out);
}

size_t srt_respond_refusal(const struct srt_handshake *request, enum srt_refusal why, uint32_t time,
                           uint8_t out[SRT_HANDSHAKE_MAX])
{
    struct srt_handshake h = {
        .version = VERSION, .first_seq = request->first_seq, .mtu = request->mtu,
        .window = request->window, .kind = why, .id = request->id, .cookie = request->cookie,
    };

    memcpy(h.address, request->address, sizeof(h.address));
    return srt_handshake_write(&h, time, request->id, true, out);
}

/* ---- cookies: SipHash-2-4 of the caller's address and the minute */

/* Never returns 0, which a caller without a cookie sends. */
uint32_t srt_cookie(const uint8_t key[SRT_COOKIE_KEY], const struct udp_addr *from, int64_t minute)
{
    uint8_t text[32] = { 0 };
    uint32_t cookie;

    memcpy(text, from->ip, sizeof(from->ip));
    memcpy(text + 16, &minute, sizeof(minute));
    memcpy(text + 24, &from->port, sizeof(from->port));
    cookie = (uint32_t)siphash(key, text, sizeof(text));
    return cookie != 0 ? cookie : 1;
}

bool srt_cookie_is_valid(const uint8_t key[SRT_COOKIE_KEY], const struct udp_addr *from,
                         int64_t minute, uint32_t cookie)
{
    return cookie == srt_cookie(key, from, minute) || cookie == srt_cookie(key, from, minute - 1);
}
