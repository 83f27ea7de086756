/* SPDX-License-Identifier: MIT */
/* url.c - addresses of listeners: srt://host:port?streamid=...&latency=200, as srt-live-transmit
 * has them. A stream id may stand there as it is, with its '#' and '?'. */
#include "proto/srt/call.h"

#include "base/host_port.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Of text up to there. False: there is no room. */
static bool copy(char *out, size_t room, const char *from, const char *to)
{
    size_t n = (size_t)(to - from);

    if (n >= room)
        return false;
    memcpy(out, from, n);
    out[n] = 0;
    return true;
}

static bool number(const char *text, long low, long high, long *out)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *out = strtol(text, &end, 10);
    return *end == 0 && *out >= low && *out <= high;
}

/* host:port, [host]:port; what is behind it, or NULL. */
static const char *take_place(struct srt_url *u, const char *at)
{
    const char *end = at + strcspn(at, "/?");
    struct host_port parts = host_port_split(at, (size_t)(end - at));

    u->port = host_port_number(&parts);
    if (parts.bad || u->port == 0 ||
        !copy(u->host, sizeof(u->host), parts.host, parts.host + parts.host_n))
        return NULL;
    return end;
}

static void decode_percent(char *text)
{
    char *to = text;

    for (; *text; text++) {
        int byte = *text == '%' ? text_hex_byte(text + 1) : 0;

        *to++ = byte > 0 ? (char)byte : *text;
        text += byte > 0 ? 2 : 0;
    }
    *to = 0;
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
    long v;

    if (strcmp(key, "streamid") == 0)
        return copy(u->streamid, sizeof(u->streamid), value, end);
    if (strcmp(key, "passphrase") == 0)
        return (n == 0 || n >= SRT_PASSPHRASE_MIN) &&
               copy(u->passphrase, sizeof(u->passphrase), value, end);
    if (strcmp(key, "mode") == 0)
        return take_mode(u, value);
    if (strcmp(key, "latency") == 0) {
        bool good = number(value, 0, UINT16_MAX, &v);

        u->latency = good ? (int)v : -1;
        return good;
    }
    if (strcmp(key, "pbkeylen") == 0) {
        if (!number(value, 0, SRT_KEY_MAX, &v) || v % 8 != 0 || v == 8)
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
        decode_percent(value);
        if (!take(u, item, value))
            return false;
    }
    return true;
}

bool srt_url_parse(struct srt_url *out, const char *text)
{
    const char *at;

    *out = (struct srt_url){ .latency = -1 };
    if (strncasecmp(text, "srt://", 6) != 0)
        return false;
    at = take_place(out, text + 6);
    if (!at)
        return false;
    at = strchr(at, '?');
    if (at && !take_params(out, at + 1))
        return false;
    if (out->passphrase[0] == 0)
        out->key_size = 0;
    else if (out->key_size == 0)
        out->key_size = 16;
    return out->host[0] || out->listener;
}
