/* SPDX-License-Identifier: MIT */
/* log_clean.c - what a log line may show of the texts in it. */
#include "base/log_clean.h"

#include "base/must.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct out {
    char *to;
    size_t n, room;
};

static void put(struct out *o, const char *text, size_t size)
{
    if (size > o->room - o->n)
        size = o->room - o->n;
    memcpy(o->to + o->n, text, size);
    o->n += size;
}

/* U+0080 to U+009F, which terminals take as controls; U+200E to U+202E without those between, and
 * U+2066 to U+2069, which end lines or turn their direction. */
static bool is_control(const unsigned char *p, size_t size)
{
    if (size == 2)
        return p[0] == 0xc2 && p[1] < 0xa0;
    if (size != 3 || p[0] != 0xe2)
        return false;
    return (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
           (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

/* One character; gives its size. */
static size_t put_one(struct out *o, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t size = *p < 0x80 ? 1 : utf8_size(p, strnlen(text, 4));
    bool bad = size == 1 ? *p < ' ' || *p == 0x7f : size == 0 || is_control(p, size);

    put(o, bad ? "?" : text, bad ? 1 : size);
    return size ? size : 1;
}

/* ---- secrets */

/* Where an address in a sentence of ours ends. */
static size_t address_size(const char *p)
{
    size_t n = 0;

    while ((unsigned char)p[n] > ' ' && !strchr("\"'<>", p[n]) &&
           !(p[n] == ',' && (p[n + 1] == ' ' || !p[n + 1])))
        n++;
    return n;
}

/* "//name:password@" */
static size_t credentials_size(const char *p)
{
    size_t n = strcspn(p, "/?@ \"',<>");

    return p[n] == '@' && memchr(p, ':', n) ? n : 0;
}

/* What is secret behind them: logins of HTTP and RTSP; in descriptions the password of ICE, and the
 * keys of SRTP (RFC 4568, RFC 4567). */
static const char *const announcements[] = { "Basic ", "Bearer ", "ice-pwd:", "inline:", "mikey " };

/* Does one of them end at p? */
static bool is_announced(const char *text, const char *p)
{
    size_t before = (size_t)(p - text) + 1;

    if (*p != ' ' && *p != ':')
        return false;
    for (size_t i = 0; i < sizeof(announcements) / sizeof(announcements[0]); i++) {
        size_t n = strlen(announcements[i]);

        if (before >= n && strncasecmp(p + 1 - n, announcements[i], n) == 0)
            return true;
    }
    return false;
}

/* How much of what follows p is hidden, p being the last byte that is not. */
static size_t secret_size(const char *text, const char *p)
{
    if (*p == '?')
        return address_size(p + 1);
    if (*p == '/' && p > text && p[-1] == '/')
        return credentials_size(p + 1);
    return is_announced(text, p) ? address_size(p + 1) : 0;
}

size_t log_clean(char *to, size_t room, const char *text, bool hide)
{
    struct out o = { .to = to, .room = room };

    for (const char *p = text; *p && o.n < o.room;) {
        size_t hidden = hide ? secret_size(text, p) : 0;

        p += put_one(&o, p);
        if (hidden > 0)
            put(&o, LOG_HIDDEN, strlen(LOG_HIDDEN));
        p += hidden;
    }
    return o.n;
}

char *log_hide(const char *text)
{
    size_t room = strlen(text) * 3; /* "?a" becomes "?***" */
    char *to = must(malloc(room + 1));

    to[log_clean(to, room, text, true)] = '\0';
    return to;
}
