/* SPDX-License-Identifier: MIT */
/* merge.c - merges the log lines of several threads by time. */
#include "app/log/merge.h"

#include "base/must.h"

#include <stdlib.h>

static struct log_inlet *at(struct log_merge *g, size_t i)
{
    return atomic_load(&g->v[i]);
}

static struct log_inlet *inlet_new(size_t buffer)
{
    struct log_inlet *i = must(calloc(1, sizeof(*i)));

    log_ring_init(&i->ring, must(malloc(buffer)), buffer);
    atomic_init(&i->used, true);
    return i;
}

static void inlet_free(struct log_inlet *i)
{
    if (i)
        free(i->ring.buf);
    free(i);
}

/* Reuses the ring of a thread that left, with its remaining lines: they all precede the first line
 * of the new thread. */
struct log_inlet *log_merge_join(struct log_merge *g, size_t buffer)
{
    struct log_inlet *mine = NULL, *none;

    for (size_t i = 0; i < LOG_INLETS; i++) {
        struct log_inlet *there = at(g, i);

        if (there) {
            if (!atomic_exchange(&there->used, true)) {
                inlet_free(mine);
                return there;
            }
            continue;
        }
        if (!mine)
            mine = inlet_new(buffer);
        none = NULL;
        if (atomic_compare_exchange_strong(&g->v[i], &none, mine))
            return mine;
    }
    inlet_free(mine);
    return NULL;
}

void log_inlet_leave(struct log_inlet *i)
{
    if (i)
        atomic_store(&i->used, false);
}

bool log_inlet_put(struct log_inlet *i, int64_t made, enum log_level level, const char *line,
                   size_t size)
{
    const struct log_head h = { made, (uint32_t)size, (uint32_t)level };

    return size <= LOG_LINE_MAX && log_ring_put_two(&i->ring, &h, sizeof(h), line, size);
}

static bool look(struct log_inlet *i, struct log_head *h)
{
    return i && log_ring_copy(&i->ring, 0, h, sizeof(*h));
}

bool log_merge_waits(struct log_merge *g)
{
    struct iovec iov[2];

    for (size_t i = 0; i < LOG_INLETS; i++) {
        struct log_inlet *there = at(g, i);

        if (there && log_ring_peek(&there->ring, iov) > 0)
            return true;
    }
    return false;
}

struct log_inlet *log_merge_next(struct log_merge *g, struct log_head *h)
{
    struct log_inlet *oldest = NULL;
    struct log_head one;

    for (size_t i = 0; i < LOG_INLETS; i++) {
        struct log_inlet *there = at(g, i);

        if (look(there, &one) && (!oldest || one.at < h->at)) {
            oldest = there;
            *h = one;
        }
    }
    return oldest;
}

void log_inlet_take(struct log_inlet *i, const struct log_head *h, char *line)
{
    (void)log_ring_copy(&i->ring, sizeof(*h), line, h->size);
    log_ring_take(&i->ring, sizeof(*h) + h->size);
}

void log_merge_fini(struct log_merge *g)
{
    for (size_t i = 0; i < LOG_INLETS; i++)
        inlet_free(atomic_exchange(&g->v[i], NULL));
}
