/* SPDX-License-Identifier: MIT */
/* call.c - SRT caller: "Caller-Listener Handshake", the side that starts. */
#include "proto/srt/call.h"

#include "base/must.h"
#include "base/text.h"
#include "base/url.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    CALLERS_FIRST = 4, CALLERS_FIRST_EXTENSIONS = 2, VERSION = 5, MAGIC = 0x4a17,
    HEADERS = 28 + SRT_HEADER,
    LISTENERS = 1000, /* handshake types from here on are rejection codes */
};
#define AGAIN CO_MS(250)

void srt_call_begin(struct srt_call *c, const struct srt_call_opts *o, co_usec now)
{
    memset(c, 0, sizeof(*c));
    c->set = *o;
    c->began_at = c->due = now;
}

static bool is_open(const struct srt_call *c)
{
    return c->state == SRT_CALL_INDUCTION || c->state == SRT_CALL_CONCLUSION;
}

/* ---- receiving */

static void refuse(struct srt_call *c, uint32_t code)
{
    c->state = SRT_CALL_REFUSED;
    c->refused = code;
}

/* Checks the response to our key message, which must contain the same bytes. Otherwise it is one
 * word with the reason, whose byte order is not reliable. */
static uint32_t wrong_key(const struct srt_call *c, const struct srt_handshake *h)
{
    struct srt_km km;
    uint8_t ours[SRT_KM_MAX];

    if (!h->has_km)
        return c->set.secret ? SRT_REFUSED_UNSECURE : SRT_WELCOME;
    if (h->km_size == 4)
        return h->km[0] == SRT_KM_BAD_SECRET || h->km[3] == SRT_KM_BAD_SECRET
                   ? SRT_REFUSED_PASSPHRASE : SRT_REFUSED_UNSECURE;
    if (!c->set.secret)
        return SRT_REFUSED_UNSECURE;
    must_be(srt_secret_wrap(c->set.secret, &km));
    return srt_km_write(&km, ours) == h->km_size && memcmp(ours, h->km, h->km_size) == 0
               ? SRT_WELCOME : SRT_REFUSED_PASSPHRASE;
}

static unsigned lower(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Adopts the parameters. The listener decides the latencies, section "Latency". */
static void agree(struct srt_call *c, const struct srt_handshake *h)
{
    c->agreed = (struct srt_agreed){
        .id = c->set.id, .peer_id = h->id, .first_seq = c->set.first_seq,
        .peer_version = h->srt_version,
        .payload = lower(lower(h->mtu, c->set.mss) - HEADERS, SRT_PAYLOAD_MAX),
        .window = lower(h->window, c->set.window),
        .recv_latency = CO_MS(h->sender_latency), .send_latency = CO_MS(h->receiver_latency),
    };
    c->state = SRT_CALL_DONE;
}

static void on_induction(struct srt_call *c, const struct srt_handshake *h, co_usec now)
{
    if (h->version != VERSION || h->extensions != MAGIC) {
        refuse(c, SRT_REFUSED_VERSION);
        return;
    }
    c->induction = *h;
    c->state = SRT_CALL_CONCLUSION;
    c->due = now;
}

static void on_conclusion(struct srt_call *c, const struct srt_handshake *h, uint32_t wrong)
{
    if (wrong == SRT_WELCOME)
        wrong = wrong_key(c, h);
    if (wrong == SRT_WELCOME)
        agree(c, h);
    else
        refuse(c, wrong);
}

void srt_call_input(struct srt_call *c, const struct srt_packet *p, co_usec now)
{
    struct srt_handshake h;
    enum srt_refusal wrong;

    if (!is_open(c) || !p->control || p->type != SRT_HANDSHAKE || p->to != c->set.id ||
        p->size < SRT_HANDSHAKE_BODY)
        return;
    wrong = srt_handshake_read(&h, p);
    if (h.kind >= LISTENERS && h.kind <= INT32_MAX)
        refuse(c, h.kind);
    else if (h.kind == SRT_INDUCTION && c->state == SRT_CALL_INDUCTION)
        on_induction(c, &h, now);
    else if (h.kind == SRT_CONCLUSION && c->state == SRT_CALL_CONCLUSION)
        on_conclusion(c, &h, wrong);
    if (c->state == SRT_CALL_DONE)
        c->peer_zero = now - p->time;
}

/* ---- sending */

static size_t write_induction(const struct srt_call *c, uint32_t time, uint8_t *out)
{
    struct srt_handshake h = {
        .version = CALLERS_FIRST, .extensions = CALLERS_FIRST_EXTENSIONS,
        .first_seq = c->set.first_seq, .mtu = c->set.mss, .window = c->set.window,
        .kind = SRT_INDUCTION, .id = c->set.id,
    };

    return srt_handshake_write(&h, time, 0, false, out);
}

static uint16_t in_ms(co_usec latency)
{
    return (uint16_t)(latency < CO_MS(UINT16_MAX) ? latency / CO_MS(1) : UINT16_MAX);
}

static size_t write_conclusion(const struct srt_call *c, uint32_t time, uint8_t *out)
{
    struct srt_km km;
    uint8_t key[SRT_KM_MAX];
    struct srt_handshake h = {
        .version = VERSION, .first_seq = c->set.first_seq, .mtu = c->set.mss,
        .window = c->set.window, .kind = SRT_CONCLUSION, .id = c->set.id,
        .cookie = c->induction.cookie, .has_hs = true, .srt_version = SRT_VERSION,
        .flags = SRT_FLAGS,
        .receiver_latency = in_ms(c->set.recv_latency),
        .sender_latency = in_ms(c->set.peer_latency),
    };

    h.streamid_size = strnlen(c->set.streamid, SRT_STREAMID_MAX);
    memcpy(h.streamid, c->set.streamid, h.streamid_size);
    if (c->set.secret) {
        must_be(srt_secret_wrap(c->set.secret, &km));
        h.encryption = c->set.secret->key_size / 8;
        h.has_km = true;
        h.km = key;
        h.km_size = srt_km_write(&km, key);
    }
    return srt_handshake_write(&h, time, 0, false, out);
}

size_t srt_call_output(struct srt_call *c, uint8_t out[SRT_HANDSHAKE_MAX], co_usec now)
{
    uint32_t time = (uint32_t)(now - c->began_at);

    if (is_open(c) && now - c->began_at >= c->set.timeout)
        c->state = SRT_CALL_TIMEOUT;
    if (!is_open(c) || now < c->due)
        return 0;
    c->due = now + AGAIN;
    c->tries++;
    return c->state == SRT_CALL_INDUCTION ? write_induction(c, time, out)
                                          : write_conclusion(c, time, out);
}

co_usec srt_call_deadline(const struct srt_call *c)
{
    co_usec end = c->began_at + c->set.timeout;

    if (!is_open(c))
        return CO_FOREVER;
    return c->due < end ? c->due : end;
}

/* ---- URLs of listeners: srt://host:port?streamid=...&latency=200, as in srt-live-transmit. A
 * stream id may be unescaped, with its '#' and '?'. */

/* Copies text up to `to`. Returns false if it does not fit. */
static bool copy(char *out, size_t room, const char *from, const char *to)
{
    size_t n = (size_t)(to - from);

    if (n >= room)
        return false;
    memcpy(out, from, n);
    out[n] = 0;
    return true;
}

static bool take_mode(struct srt_url *u, const char *value)
{
    u->listener = strcasecmp(value, "listener") == 0 || strcasecmp(value, "server") == 0;
    return u->listener || strcasecmp(value, "caller") == 0 || strcasecmp(value, "client") == 0;
}

static bool take(struct srt_url *u, const char *key, const char *value)
{
    size_t n = strlen(value);
    const char *end = value + n;

    if (strcmp(key, "streamid") == 0)
        return copy(u->streamid, sizeof(u->streamid), value, end);
    if (strcmp(key, "passphrase") == 0)
        return (n == 0 || n >= SRT_PASSPHRASE_MIN) &&
               copy(u->passphrase, sizeof(u->passphrase), value, end);
    if (strcmp(key, "mode") == 0)
        return take_mode(u, value);
    if (strcmp(key, "latency") == 0) {
        u->latency = (int)text_number(value, n, UINT16_MAX);
        return u->latency >= 0;
    }
    if (strcmp(key, "pbkeylen") == 0) {
        int64_t v = text_number(value, n, SRT_KEY_MAX);

        if (v < 0 || v % 8 != 0 || v == 8)
            return false;
        u->key_size = (unsigned)v;
    }
    return true;
}

static bool take_params(struct srt_url *u, const char *at)
{
    char item[3 * SRT_STREAMID_MAX + 16], *value;

    for (; *at; at += *at == '&') {
        const char *end = at + strcspn(at, "&");

        if (!copy(item, sizeof(item), at, end))
            return false;
        value = strchr(item, '=');
        at = end;
        if (!value)
            continue;
        *value++ = 0;
        value[text_unescape(value, value, strlen(value))] = 0;
        if (!take(u, item, value))
            return false;
    }
    return true;
}

bool srt_url_parse(struct srt_url *out, const char *text)
{
    struct url u = url_split(text, strlen(text));
    const char *at = strchr(u.path, '?');

    *out = (struct srt_url){ .latency = -1, .port = host_port_number(&u.at) };
    if (!url_is(&u, "srt") || u.at.bad || out->port == 0 ||
        !copy(out->host, sizeof(out->host), u.at.host, u.at.host + u.at.host_n))
        return false;
    if (at && !take_params(out, at + 1))
        return false;
    if (out->passphrase[0] == 0)
        out->key_size = 0;
    else if (out->key_size == 0)
        out->key_size = 16;
    return out->host[0] || out->listener;
}
