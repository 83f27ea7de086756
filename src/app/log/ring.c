/* SPDX-License-Identifier: MIT */
/* ring.c - a bounded queue of bytes, one thread on each side. */
#include "app/log/ring.h"

#include <assert.h>
#include <string.h>

void log_ring_init(struct log_ring *r, void *buf, size_t size)
{
    assert(size && (size & (size - 1)) == 0);
    r->buf = buf;
    r->size = size;
    atomic_init(&r->head, 0);
    atomic_init(&r->tail, 0);
}

bool log_ring_put(struct log_ring *r, const void *line, size_t size)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);
    size_t at = (size_t)(head & (r->size - 1));
    size_t first = r->size - at;

    if (size > r->size - (size_t)(head - tail))
        return false;
    if (first > size)
        first = size;
    memcpy(r->buf + at, line, first);
    memcpy(r->buf, (const uint8_t *)line + first, size - first);
    atomic_store_explicit(&r->head, head + size, memory_order_seq_cst);
    return true;
}

size_t log_ring_peek(struct log_ring *r, struct iovec iov[2])
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    size_t n = (size_t)(atomic_load_explicit(&r->head, memory_order_seq_cst) - tail);
    size_t at = (size_t)(tail & (r->size - 1));
    size_t first = r->size - at;

    if (first > n)
        first = n;
    iov[0] = (struct iovec){ r->buf + at, first };
    iov[1] = (struct iovec){ r->buf, n - first };
    return n;
}

void log_ring_take(struct log_ring *r, size_t size)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

    atomic_store_explicit(&r->tail, tail + size, memory_order_release);
}
