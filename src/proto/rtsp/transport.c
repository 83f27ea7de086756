/* SPDX-License-Identifier: MIT */
/* transport.c - the field Transport. */
#include "proto/rtsp/transport.h"

#include "base/span.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PRIVILEGED_PORTS = 1024 };

#define NO_PAIR { -1, -1 }

const struct rtsp_transport rtsp_transport_none = {
    .lower = RTSP_TCP, .ttl = -1, .channels = NO_PAIR, .client_port = NO_PAIR,
    .server_port = NO_PAIR, .port = NO_PAIR,
};

/* Returns the text before the next unquoted `c`, and moves *rest past it. */
static struct span cut(struct span *rest, char c)
{
    bool quoted = false;
    struct span out;
    size_t i = 0;

    while (i < rest->n && (quoted || rest->p[i] != c))
        quoted ^= rest->p[i++] == '"';
    out = span_trim((struct span){ rest->p, i }, " \t");
    i += i < rest->n;
    *rest = (struct span){ rest->p + i, rest->n - i };
    return out;
}

/* ---- values */

static bool number(struct span s, int most, int *out)
{
    *out = (int)text_number(s.p, s.n, most);
    return *out >= 0;
}

/* Parses "4-5"; a single "4" means 4 and 5. */
static bool pair(struct span s, int most, struct rtsp_pair *out)
{
    struct span first = cut(&s, '-'), second = span_trim(s, " \t");

    if (!number(first, most, &out->rtp))
        return false;
    if (second.n > 0)
        return number(second, most, &out->rtcp);
    out->rtcp = out->rtp + 1;
    return out->rtcp <= most;
}

static bool hex(struct span s, uint32_t *out)
{
    uint32_t v = 0;

    for (size_t i = 0; i < s.n; i++) {
        int digit = text_hex(s.p[i]);

        if (digit < 0 || i >= 8)
            return false;
        v = v << 4 | (uint32_t)digit;
    }
    *out = v;
    return s.n > 0;
}

/* Ignores an address that is too long. */
static void address(struct span s, char out[RTSP_ADDRESS_SIZE])
{
    if (s.n >= RTSP_ADDRESS_SIZE)
        return;
    memcpy(out, s.p, s.n);
    out[s.n] = '\0';
}

static struct span unquote(struct span s)
{
    if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
        return span_trim((struct span){ s.p + 1, s.n - 2 }, " \t");
    return s;
}

/* ---- offers */

static const struct {
    const char *name;
    enum rtsp_lower lower;
    bool secure;
} specs[] = {
    { "RTP/AVP", RTSP_UDP, false },       { "RTP/AVP/UDP", RTSP_UDP, false },
    { "RTP/AVP/TCP", RTSP_TCP, false },   { "RTP/SAVP", RTSP_UDP, true },
    { "RTP/SAVP/UDP", RTSP_UDP, true },   { "RTP/SAVP/TCP", RTSP_TCP, true },
    { "RTP/AVPF", RTSP_UDP, false },      { "RTP/AVPF/UDP", RTSP_UDP, false },
    { "RTP/AVPF/TCP", RTSP_TCP, false },  { "RTP/SAVPF", RTSP_UDP, true },
    { "RTP/SAVPF/UDP", RTSP_UDP, true },  { "RTP/SAVPF/TCP", RTSP_TCP, true },
};

static bool set_spec(struct rtsp_transport *t, struct span name)
{
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        if (span_is_word(name, specs[i].name)) {
            t->lower = specs[i].lower;
            t->secure = specs[i].secure;
            return true;
        }
    }
    return false;
}

/* Ignores unknown parameters. An invalid SSRC counts as missing, because some clients write it in
 * decimal. */
static bool set_param(struct rtsp_transport *t, struct span name, struct span value)
{
    if (span_is_word(name, "multicast"))
        t->lower = t->lower == RTSP_UDP ? RTSP_MULTICAST : t->lower;
    else if (span_is_word(name, "interleaved"))
        return pair(value, 255, &t->channels);
    else if (span_is_word(name, "client_port"))
        return pair(value, 65535, &t->client_port);
    else if (span_is_word(name, "server_port"))
        return pair(value, 65535, &t->server_port);
    else if (span_is_word(name, "port"))
        return pair(value, 65535, &t->port);
    else if (span_is_word(name, "ttl"))
        return number(value, 255, &t->ttl);
    else if (span_is_word(name, "ssrc"))
        t->has_ssrc = hex(value, &t->ssrc);
    else if (span_is_word(name, "mode"))
        t->record = span_is_word(value, "record") || span_is_word(value, "receive");
    else if (span_is_word(name, "destination"))
        address(value, t->destination);
    else if (span_is_word(name, "source"))
        address(value, t->source);
    return true;
}

static bool parse_one(struct span s, struct rtsp_transport *t)
{
    *t = rtsp_transport_none;
    if (!set_spec(t, cut(&s, ';')))
        return false;
    while (s.n > 0) {
        struct span value = cut(&s, ';'), name = cut(&value, '=');

        if (!set_param(t, name, unquote(span_trim(value, " \t"))))
            return false;
    }
    return true;
}

void rtsp_transport_parse(const char *text, struct rtsp_transport out[RTSP_OFFERS_MAX], size_t *n)
{
    struct span rest = { text, strlen(text) };

    while (rest.n > 0 && *n < RTSP_OFFERS_MAX)
        *n += parse_one(cut(&rest, ','), &out[*n]);
}

static void put_pair(struct wr *w, const char *name, struct rtsp_pair p)
{
    if (p.rtp < 0)
        return;
    wr_printf(w, ";%s=%d", name, p.rtp);
    if (p.rtcp >= 0)
        wr_printf(w, "-%d", p.rtcp);
}

static void put_text(struct wr *w, const char *name, const char *value)
{
    if (*value)
        wr_printf(w, ";%s=%s", name, value);
}

void rtsp_transport_put(struct wr *w, const struct rtsp_transport *t)
{
    wr_text(w, t->secure ? "RTP/SAVP" : "RTP/AVP");
    if (t->lower == RTSP_TCP)
        wr_text(w, "/TCP");
    wr_text(w, t->lower == RTSP_MULTICAST ? ";multicast" : ";unicast");
    put_text(w, "destination", t->destination);
    put_text(w, "source", t->source);
    put_pair(w, "interleaved", t->channels);
    put_pair(w, "client_port", t->client_port);
    put_pair(w, "server_port", t->server_port);
    put_pair(w, "port", t->port);
    if (t->ttl >= 0)
        wr_printf(w, ";ttl=%d", t->ttl);
    if (t->has_ssrc)
        wr_printf(w, ";ssrc=%08X", t->ssrc);
    if (t->record)
        wr_text(w, ";mode=record");
}

const struct rtsp_transport *rtsp_transport_choose(const struct rtsp_transport *offers, size_t n,
                                                   const struct rtsp_transport_rules *rules)
{
    const bool have[] = { [RTSP_TCP] = rules->tcp, [RTSP_UDP] = rules->udp,
                          [RTSP_MULTICAST] = rules->multicast };

    for (size_t i = 0; i < n; i++) {
        const struct rtsp_transport *t = &offers[i];
        bool closed = t->lower == RTSP_UDP && (t->client_port.rtp < PRIVILEGED_PORTS ||
                                               t->client_port.rtcp < PRIVILEGED_PORTS);

        if (have[t->lower] && !closed && (!t->secure || rules->secure))
            return t;
    }
    return NULL;
}
