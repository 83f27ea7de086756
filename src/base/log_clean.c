/* SPDX-License-Identifier: MIT */
/* log_clean.c - removes control characters and secrets from the texts of log lines. */
#include "base/log_clean.h"

#include "base/must.h"
#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LOGIN_MAX = 512 }; /* size of a name and a password */

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

/* True for U+0080 to U+009F, which terminals treat as control characters, and for the characters
 * of U+200E to U+202E and U+2066 to U+2069 that end lines or change the direction of text. */
static bool is_control(const unsigned char *p, size_t size)
{
    if (size == 2)
        return p[0] == 0xc2 && p[1] < 0xa0;
    if (size != 3 || p[0] != 0xe2)
        return false;
    return (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
           (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

/* Writes one character; returns its size. */
static size_t put_one(struct out *o, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t size = *p < 0x80 ? 1 : utf8_size(p, strnlen(text, 4));
    bool bad = size == 1 ? *p < ' ' || *p == 0x7f : size == 0 || is_control(p, size);

    put(o, bad ? "?" : text, bad ? 1 : size);
    return size ? size : 1;
}

/* ---- secrets */

/* Returns the size of a URL inside a sentence of the server. */
static size_t address_size(const char *p)
{
    size_t n = 0;

    while ((unsigned char)p[n] > ' ' && !strchr("\"'<>", p[n]) &&
           !(strchr(",:", p[n]) && (p[n + 1] == ' ' || !p[n + 1])))
        n++;
    return n;
}

/* Returns the size of character `c`, plain or escaped (%3F), just before p; 0: it is not there. */
static size_t ends_with(const char *text, const char *p, char c)
{
    if (*p == c)
        return 1;
    return p - text >= 2 && p[-2] == '%' && text_hex_byte(p - 1) == (unsigned char)c ? 3 : 0;
}

/* Returns the size of "name:password@" before a host, or of a single name or token after "//". The
 * colon and the @ may be escaped. */
static size_t credentials_size(const char *text, const char *p)
{
    size_t slash = ends_with(text, p, '/');
    bool two = slash && (size_t)(p - text) >= slash && ends_with(text, p - slash, '/');
    const char *at = p + 1;
    bool colon = false;

    if (!slash && !strchr(" =\"'", *p))
        return 0;
    for (; (unsigned char)*at > ' ' && !strchr("/?\"',<>", *at) && at - p < LOGIN_MAX; at++) {
        if (ends_with(p + 1, at, '/'))
            return 0;
        colon |= ends_with(p + 1, at, ':') > 0;
        if (ends_with(p + 1, at, '@'))
            return colon || two ? (size_t)(at - p) - ends_with(p + 1, at, '@') : 0;
    }
    return 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-';
}

/* True if the word before `end` names a secret, such as token or api_key. */
static bool names_secret(const char *text, const char *end)
{
    static const char *const names[] = {
        "token", "key", "secret", "sign", "signature", "jwt", "password", "passwd", "pass", "pwd",
        "passphrase", "auth",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t n = strlen(names[i]);

        if ((size_t)(end - text) < n || strncasecmp(end - n, names[i], n) != 0)
            continue;
        if (end - n == text || !is_word(end[-(ptrdiff_t)n - 1]) ||
            strchr("_-", end[-(ptrdiff_t)n - 1]) ||
            ((size_t)(end - text) >= n + 3 && end[-(ptrdiff_t)n - 3] == '%'))
            return true;
    }
    return false;
}

/* True if the word before `end` is a parameter after the first: "&word". */
static bool is_param(const char *text, const char *end)
{
    const char *word = end;

    while (word > text && is_word(word[-1]))
        word--;
    if (word > text && word[-1] == '%') /* escaped */
        return end - word > 2 && memcmp(word, "26", 2) == 0;
    return word > text && word[-1] == '&';
}

/* True for "key": "value"; p is the quote before the value. */
static bool is_member(const char *text, const char *p)
{
    const char *end = p;

    while (end > text && end[-1] == ' ')
        end--;
    return end - text > 2 && end[-1] == ':' && end[-2] == '"' && names_secret(text, end - 2);
}

/* Returns the size of the value of "key=value", of any parameter after "&", or of "key":"value". */
static size_t value_size(const char *text, const char *p)
{
    size_t equals = ends_with(text, p, '=');
    const char *end = p + 1 - equals, *at = p + 1;

    if (*p == '"')
        return is_member(text, p) ? strcspn(at, "\"") : 0;
    if (equals == 0 || !(names_secret(text, end) || is_param(text, end)))
        return 0;
    while ((unsigned char)*at > ' ' && !strchr("\"'<>&,;{}", *at))
        at++;
    return (size_t)(at - p) - 1;
}

/* Texts before a secret: logins of HTTP and RTSP; in SDP the ICE password and SRTP keys (RFC 4568,
 * RFC 4567). */
static const char *const announcements[] = { "Basic ", "Bearer ", "ice-pwd:", "inline:", "mikey " };

/* True if one of them ends at p. */
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

/* Returns the number of bytes after p to hide; p is the last visible byte. */
static size_t secret_size(const char *text, const char *p)
{
    size_t n;

    if (ends_with(text, p, '?') || is_announced(text, p))
        return address_size(p + 1);
    n = credentials_size(text, p);
    return n > 0 ? n : value_size(text, p);
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

/* Finds the last component of the path of the URL at `url`, which ends at url + size, together with
 * its query. Returns its size, 0: none; *at is its start. */
static size_t last_part(const char *url, size_t size, const char **at)
{
    const char *path = memchr(url, ':', size), *end = url + size, *last = NULL;

    path = path && end - path > 3 ? path + 3 : end;
    for (const char *p = path; p + 1 < end && *p != '?' && *p != '#'; p++) {
        if (*p == '/' && p[1] != '/' && p[1] != '?' && p[1] != '#')
            last = p + 1;
    }
    *at = last;
    return last ? (size_t)(end - last) : 0;
}

char *log_hide_target(const char *url, bool public_name)
{
    const char *at;
    char *open, *hidden;

    if (public_name || last_part(url, strlen(url), &at) == 0)
        return log_hide(url);
    open = must_print("%.*s" LOG_HIDDEN, (int)(at - url), url);
    hidden = log_hide(open);
    free(open);
    return hidden;
}

static bool is_of_rtmp(const char *p)
{
    return strncasecmp(p, "rtmp://", 7) == 0 || strncasecmp(p, "rtmps://", 8) == 0;
}

static bool is_here(const char *url)
{
    const char *host = strstr(url, "://") + 3;

    return strncmp(host, "127.", 4) == 0 || strncmp(host, "localhost", 9) == 0 ||
           strncmp(host, "[::1]", 5) == 0;
}

char *log_hide_keys(const char *text, bool all)
{
    size_t room = strlen(text) * 4;
    struct out o = { .to = must(malloc(room + 1)), .room = room };

    while (*text) {
        bool found = is_of_rtmp(text) && (all || !is_here(text));
        size_t size = found ? address_size(text) : 1, bar = strcspn(text, "|"), last;
        const char *at;

        size = found && bar < size ? bar : size; /* several outputs of one ffmpeg */
        last = found ? last_part(text, size, &at) : 0;
        put(&o, text, size - last);
        if (last > 0)
            put(&o, LOG_HIDDEN, strlen(LOG_HIDDEN));
        text += size;
    }
    o.to[o.n] = '\0';
    return o.to;
}
