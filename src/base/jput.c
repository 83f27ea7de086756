/* SPDX-License-Identifier: MIT */
/* jput.c - writes JSON, RFC 8259. */
#include "base/jput.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put(struct wr *w, const char *text)
{
    wr_bytes(w, text, strlen(text));
}

static void put_control(struct wr *w, unsigned char c)
{
    static const char names[] = "\bb\ff\nn\rr\tt";
    const char *name = c ? strchr(names, c) : NULL;
    char text[8];

    if (name)
        (void)snprintf(text, sizeof(text), "\\%c", name[1]);
    else
        (void)snprintf(text, sizeof(text), "\\u%04x", c);
    put(w, text);
}

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

static void put_string(struct wr *w, const void *text, size_t size)
{
    const unsigned char *p = text, *end = p + size;

    wr_u8(w, '"');
    while (p < end) {
        const unsigned char *from = p;
        size_t n;

        while (p < end && is_plain(*p))
            p++;
        wr_bytes(w, from, (size_t)(p - from));
        if (p == end)
            break;
        n = utf8_size(p, (size_t)(end - p));
        if (n > 0) {
            wr_bytes(w, p, n);
            p += n;
            continue;
        }
        if (*p == '"' || *p == '\\') {
            wr_u8(w, '\\');
            wr_u8(w, *p);
        } else if (*p < ' ' || *p == 0x7f) {
            put_control(w, *p);
        } else {
            put(w, UTF8_REPLACEMENT);
        }
        p++;
    }
    wr_u8(w, '"');
}

static void begin(struct jput *j, const char *key)
{
    if (j->comma)
        wr_u8(j->w, ',');
    j->comma = true;
    if (key) {
        put_string(j->w, key, strlen(key));
        wr_u8(j->w, ':');
    }
}

void jput_open(struct jput *j, const char *key, char bracket)
{
    begin(j, key);
    wr_u8(j->w, (uint8_t)bracket);
    j->comma = false;
}

void jput_close(struct jput *j, char bracket)
{
    wr_u8(j->w, (uint8_t)bracket);
    j->comma = true;
}

void jput_bytes(struct jput *j, const char *key, const void *text, size_t size)
{
    begin(j, key);
    put_string(j->w, text, size);
}

void jput_text(struct jput *j, const char *key, const char *text)
{
    if (text)
        jput_bytes(j, key, text, strlen(text));
    else
        jput_null(j, key);
}

void jput_int(struct jput *j, const char *key, int64_t v)
{
    char text[24];

    begin(j, key);
    (void)snprintf(text, sizeof(text), "%lld", (long long)v);
    put(j->w, text);
}

void jput_uint(struct jput *j, const char *key, uint64_t v)
{
    char text[24];

    begin(j, key);
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
    put(j->w, text);
}

void jput_real(struct jput *j, const char *key, double v, int digits)
{
    char text[400];
    size_t n;

    if (!isfinite(v)) { /* JSON has no such numbers */
        jput_null(j, key);
        return;
    }
    begin(j, key);
    n = (size_t)snprintf(text, sizeof(text), "%.*f", digits, v);
    while (digits > 0 && n > 1 && text[n - 1] == '0')
        text[--n] = '\0';
    if (text[n - 1] == '.')
        text[--n] = '\0';
    put(j->w, strcmp(text, "-0") == 0 ? "0" : text);
}

void jput_bool(struct jput *j, const char *key, bool v)
{
    begin(j, key);
    put(j->w, v ? "true" : "false");
}

void jput_null(struct jput *j, const char *key)
{
    begin(j, key);
    put(j->w, "null");
}

/* ---- members of a struct */

/* Writes one member; false if it is omitted. */
static bool put_field(struct jput *j, const struct jput_field *f, const char *at)
{
    const char *text = at;
    int64_t v;

    memcpy(&v, at, sizeof(v));
    switch (f->kind & ~(JPUT_OPTIONAL | JPUT_WITH)) {
    case JPUT_UINT: jput_uint(j, f->key, (uint64_t)v); return true;
    case JPUT_MILLI: jput_real(j, f->key, (double)v / 1e3, 3); return true;
    case JPUT_WHOLE: jput_int(j, f->key, v / 1000); return true;
    case JPUT_BOOL: jput_bool(j, f->key, v != 0); return true;
    case JPUT_TEXT: memcpy(&text, at, sizeof(text)); break;
    default: break;
    }
    if ((f->kind & JPUT_OPTIONAL) && (!text || !*text))
        return false;
    jput_text(j, f->key, text);
    return true;
}

void jput_fields(struct jput *j, const struct jput_field *fields, size_t n, const void *of)
{
    bool shown = true;

    for (size_t i = 0; i < n; i++) {
        if (shown || !(fields[i].kind & JPUT_WITH))
            shown = put_field(j, &fields[i], (const char *)of + fields[i].at);
    }
}
