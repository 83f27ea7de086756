/* SPDX-License-Identifier: MIT */
/* text.c - numbers, text added to a buffer, and the hash of names in tables. */
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
