/* SPDX-License-Identifier: MIT */
/* text.c - string helpers: numbers, appending to a buffer, hashes and UTF-8. */
#include "base/text.h"

#include "base/siphash.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static uint8_t secret[SIPHASH_KEY];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_secret(void)
{
    siphash_new_key(secret);
}

uint32_t text_hash(const char *text)
{
    (void)pthread_once(&once, make_secret);
    return (uint32_t)siphash(secret, text, strlen(text));
}

int64_t text_number(const char *text, size_t n, int64_t most)
{
    int64_t v = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || v > most)
            return -1;
        v = v * 10 + (text[i] - '0');
    }
    return n > 0 && v <= most ? v : -1;
}

size_t text_unescape(char *out, const char *text, size_t n)
{
    size_t size = 0;

    for (size_t i = 0; i < n; i++) {
        int byte = text[i] == '%' && i + 2 < n ? text_hex_byte(text + i + 1) : -1;

        out[size++] = byte >= 0 ? (char)byte : text[i];
        i += byte >= 0 ? 2 : 0;
    }
    return size;
}

size_t text_add(char *buf, size_t size, size_t n, const char *fmt, ...)
{
    va_list ap;
    int made;

    va_start(ap, fmt);
    made = vsnprintf(buf + n, size - n, fmt, ap);
    va_end(ap);
    if (made < 0)
        return n;
    return (size_t)made < size - n ? n + (size_t)made : size - 1;
}

/* ---- UTF-8 validation, RFC 3629 */

size_t utf8_size(const unsigned char *p, size_t left)
{
    static const struct {
        unsigned char first, last, low, high; /* limits of the first byte, and of the second */
        size_t size;
    } forms[] = {
        { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
        { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
        { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t n = forms[i].size;

        if (p[0] < forms[i].first || p[0] > forms[i].last)
            continue;
        if (left < n || p[1] < forms[i].low || p[1] > forms[i].high)
            return 0;
        for (size_t k = 2; k < n; k++) {
            if (p[k] >> 6 != 2)
                return 0;
        }
        return n;
    }
    return 0;
}
