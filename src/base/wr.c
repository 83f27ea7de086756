/* SPDX-License-Identifier: MIT */
/* wr.c - a writer of bytes into a buffer that grows up to a limit. */
#include "base/wr.h"

#include "base/mem.h"
#include "base/must.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wr_init(struct wr *w, size_t limit)
{
    *w = (struct wr){ .limit = limit };
}

void wr_free(struct wr *w)
{
    free(w->buf);
    wr_init(w, w->limit);
}

void wr_fit(struct wr *w)
{
    uint8_t *p = w->len > 0 && w->len < w->cap ? realloc(w->buf, w->len) : NULL;

    if (!p)
        return;
    w->buf = p;
    w->cap = w->len;
}

static bool grow(struct wr *w, size_t n)
{
    size_t cap = w->cap ? w->cap : n > 4096 ? n : 256;
    uint8_t *p;

    while (cap < w->len + n)
        cap *= 2;
    p = mem_try_more(w->buf, cap);
    if (!p)
        return false;
    w->buf = p;
    w->cap = cap;
    return true;
}

uint8_t *wr_reserve(struct wr *w, size_t n)
{
    if (!w->bad && n > w->limit - w->len)
        w->bad = ERR_TOO_LARGE;
    if (!w->bad && n > w->cap - w->len && !(w->more ? w->more(w, n) : grow(w, n)))
        w->bad = ERR_NO_MEMORY;
    return w->bad ? NULL : w->buf + w->len;
}

/* Returns space for the next n bytes, or NULL with w->bad set. */
static uint8_t *room(struct wr *w, size_t n)
{
    uint8_t *at = wr_reserve(w, n);

    if (at)
        w->len += n;
    return at;
}

/* Writes into the rest of this buffer, and into further ones. */
static void put_split(struct wr *w, const uint8_t *p, size_t n)
{
    if (!w->bad && n > w->limit - w->len)
        w->bad = ERR_TOO_LARGE;
    while (n > 0 && (w->cap > w->len || wr_reserve(w, 1)) && !w->bad) {
        size_t k = w->cap - w->len < n ? w->cap - w->len : n;

        memcpy(w->buf + w->len, p, k);
        w->len += k;
        p += k;
        n -= k;
    }
}

void wr_bytes(struct wr *w, const void *p, size_t n)
{
    uint8_t *at;

    if (w->more && n > w->cap - w->len) {
        put_split(w, p, n);
        return;
    }
    at = room(w, n);
    if (at && n)
        memcpy(at, p, n);
}

void wr_text(struct wr *w, const char *s)
{
    wr_bytes(w, s, strlen(s));
}

void wr_printf(struct wr *w, const char *fmt, ...)
{
    char brief[256], *text = brief;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(brief, sizeof(brief), fmt, ap);
    va_end(ap);
    if (n >= (int)sizeof(brief)) {
        va_start(ap, fmt);
        n = vasprintf(&text, fmt, ap);
        va_end(ap);
    }
    must_be(n >= 0);
    wr_bytes(w, text, (size_t)n);
    if (text != brief)
        free(text);
}

void wr_be(struct wr *w, uint64_t v, size_t n)
{
    uint8_t *at = room(w, n);

    for (; at && n; v >>= 8)
        at[--n] = (uint8_t)v;
}

err_t wr_err(const struct wr *w, const char *what)
{
    return w->bad ? err_new(w->bad, "%s at %zu bytes", what, w->len) : NULL;
}
