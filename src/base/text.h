/* SPDX-License-Identifier: MIT */
/* text.h - string helpers: NULL strings, hexadecimal digits, appending to a buffer, hashes,
 * wildcards and UTF-8. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

static inline const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

static inline bool text_ends(const char *text, const char *with)
{
    size_t n = strlen(text), k = strlen(with);

    return n >= k && strcmp(text + n - k, with) == 0;
}

/* Returns the value of a hexadecimal digit of either case, or -1. */
static inline int text_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the byte that two hexadecimal digits encode, or -1. */
static inline int text_hex_byte(const char *p)
{
    int high = text_hex(p[0]), low = high < 0 ? -1 : text_hex(p[1]);

    return low < 0 ? -1 : high << 4 | low;
}

/* Checks whether a comma-separated list contains the word. Ignores case, and parameters after a
 * ';'. NULL is an empty list. */
static inline bool text_list_has(const char *list, const char *word)
{
    size_t want = strlen(word);

    while (list && *list) {
        size_t n;

        list += strspn(list, " \t,");
        n = strcspn(list, " \t,;");
        if (n == want && strncasecmp(list, word, n) == 0)
            return true;
        list += n;
        list += strcspn(list, ",");
    }
    return false;
}

/* Parses n decimal digits. -1: something else is there, or the number is over `most`, which must be
 * below INT64_MAX / 10. */
int64_t text_number(const char *text, size_t n, int64_t most);

/* Decodes %XX in n bytes; anything else is copied. `out` may be `text`. Returns the size. */
size_t text_unescape(char *out, const char *text, size_t n);

/* Appends text at offset n, cut to the size of the buffer. Returns the offset of its end. */
size_t text_add(char *buf, size_t size, size_t n, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* 64-bit FNV-1a over several pieces; start with TEXT_HASH_BEGIN. The result is the same in every
 * run, so it can serve as an id. Collisions are easy to find: do not use it for tables. */
#define TEXT_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t text_hash_more(uint64_t hash, const char *piece, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)piece[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* For tables with names that peers choose: keyed with a secret of this process, so no peer can
 * choose names that collide. The same on all threads, different in each run. */
uint32_t text_hash(const char *text);

/* ---- wildcards: a star at the end of a pattern matches any rest of the text. */

static inline bool wildcard_matches(const char *pattern, const char *text)
{
    size_t n = strlen(pattern);

    if (n > 0 && pattern[n - 1] == '*')
        return strncmp(pattern, text, n - 1) == 0;
    return strcmp(pattern, text) == 0;
}

/* ---- UTF-8 validation (RFC 3629). Output with texts of peers, such as JSON, must be valid. */

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* replaces an invalid byte: U+FFFD */

/* Returns the size in bytes of the multi-byte character at p, or 0 if it is invalid. `left` is at
 * least 1. */
size_t utf8_size(const unsigned char *p, size_t left);

#endif
