/* SPDX-License-Identifier: MIT */
/* span.h - part of a text that the caller owns; it does not end with a 0. */
#ifndef BASE_SPAN_H
#define BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct span {
    const char *p;
    size_t n;
};

static inline struct span span_of(const char *text)
{
    return (struct span){ text, strlen(text) };
}

static inline bool span_is(struct span s, const char *text)
{
    return s.n == strlen(text) && (s.n == 0 || memcmp(s.p, text, s.n) == 0);
}

static inline bool span_is_word(struct span s, const char *text) /* case does not count */
{
    return s.n == strlen(text) && (s.n == 0 || strncasecmp(s.p, text, s.n) == 0);
}

static inline bool span_begins(struct span s, const char *with)
{
    size_t n = strlen(with);

    return s.n >= n && memcmp(s.p, with, n) == 0;
}

/* Returns the text before the first of these characters; *rest becomes the text after it. */
static inline struct span span_cut(struct span *rest, const char *any)
{
    struct span front = { rest->p, 0 };
    size_t marks = strlen(any);

    while (front.n < rest->n && !memchr(any, rest->p[front.n], marks))
        front.n++;
    if (front.n < rest->n)
        *rest = (struct span){ rest->p + front.n + 1, rest->n - front.n - 1 };
    else
        *rest = (struct span){ front.n ? rest->p + front.n : rest->p, 0 };
    return front;
}

/* Strips these characters from both ends. */
static inline struct span span_trim(struct span s, const char *any)
{
    for (; s.n > 0 && strchr(any, *s.p); s.n--)
        s.p++;
    while (s.n > 0 && strchr(any, s.p[s.n - 1]))
        s.n--;
    return s;
}

#endif
