/* SPDX-License-Identifier: MIT */
/* text.h - strings: one that may be NULL, hexadecimal digits, one that grows in a
 * buffer, and a hash of one. */
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

/* The value of a hexadecimal digit of either case; -1: it is none. */
static inline int text_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that two of them are; -1: they are none. */
static inline int text_hex_byte(const char *p)
{
    int high = text_hex(p[0]), low = high < 0 ? -1 : text_hex(p[1]);

    return low < 0 ? -1 : high << 4 | low;
}

/* Is the word in this list, of words with commas between them and what may stand behind a ';'? Case
 * does not count. NULL is an empty list. */
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

/* Put more text at n, as far as there is room; returns where it ends. */
size_t text_add(char *buf, size_t size, size_t n, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* FNV-1a of 64 bits, of pieces one after another: `hash` begins as TEXT_HASH_BEGIN. It is the same
 * in every run, so ids can be made of it. Anybody can find texts that collide: not for tables. */
#define TEXT_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t text_hash_more(uint64_t hash, const char *piece, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)piece[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* For tables with names that peers choose: keyed with a secret of this process, so no peer can
 * choose names that collide. The same on all threads, another one in each run. */
uint32_t text_hash(const char *text);

/* ---- names with a star at the end: it stands for whatever follows. */

/* Is it that text, or does it begin with what is before the star? */
static inline bool wildcard_matches(const char *pattern, const char *text)
{
    size_t n = strlen(pattern);

    if (n > 0 && pattern[n - 1] == '*')
        return strncmp(pattern, text, n - 1) == 0;
    return strcmp(pattern, text) == 0;
}

/* ---- is it UTF-8? Texts of peers go to readers who insist on it. */

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* stands for a byte that is none: U+FFFD */

/* How many bytes the character has that begins here and takes more than one: 0 if it is none. At
 * least one byte is there. RFC 3629 */
size_t utf8_size(const unsigned char *p, size_t left);

#endif
