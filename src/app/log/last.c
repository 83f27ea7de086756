/* SPDX-License-Identifier: MIT */
/* last.c - the newest log lines, in memory. */
#include "app/log/last.h"

#include "base/must.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void log_last_init(struct log_last *l, size_t size)
{
    assert(size && (size & (size - 1)) == 0);
    *l = (struct log_last){ .buf = must(malloc(size)), .size = size };
}

void log_last_fini(struct log_last *l)
{
    free(l->buf);
    *l = (struct log_last){ 0 };
}

static char at(const struct log_last *l, uint64_t pos)
{
    return l->buf[pos & (l->size - 1)];
}

static void drop_oldest(struct log_last *l)
{
    while (at(l, l->begin++) != '\n')
        ;
}

void log_last_put(struct log_last *l, const char *line, size_t size)
{
    size_t to = (size_t)(l->end & (l->size - 1)), first = l->size - to;

    if (size == 0 || size > l->size || line[size - 1] != '\n')
        return;
    while (l->end + size - l->begin > l->size)
        drop_oldest(l);
    if (first > size)
        first = size;
    memcpy(l->buf + to, line, first);
    memcpy(l->buf, line + first, size - first);
    l->end += size;
}

char *log_last_copy(const struct log_last *l, uint64_t after, size_t lines)
{
    uint64_t from = l->end, least = after > l->begin && after <= l->end ? after : l->begin;
    size_t size;
    char *copy;

    /* goes back over whole lines: `from` always follows a '\n' */
    for (uint64_t p = l->end; lines > 0 && p > least; lines--) {
        do
            p--;
        while (p > least && at(l, p - 1) != '\n');
        from = p;
    }
    size = (size_t)(l->end - from);
    copy = must(malloc(size + 1));
    for (size_t i = 0; i < size; i++)
        copy[i] = at(l, from + i);
    copy[size] = '\0';
    return copy;
}
