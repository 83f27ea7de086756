/* SPDX-License-Identifier: MIT */
/* ring.c - a bounded queue of bytes between two threads. */
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

/* Returns how many of `size` bytes fit between position `pos` and the end of the buffer. */
static size_t upto_end(const struct log_ring *r, uint64_t pos, size_t size)
{
    size_t left = r->size - (size_t)(pos & (r->size - 1));

    return size < left ? size : left;
}

static void copy_in(struct log_ring *r, uint64_t pos, const void *from, size_t size)
{
    size_t first = upto_end(r, pos, size);

    memcpy(r->buf + (pos & (r->size - 1)), from, first);
    memcpy(r->buf, (const uint8_t *)from + first, size - first);
}

bool log_ring_put(struct log_ring *r, const void *line, size_t size)
{
    return log_ring_put_two(r, NULL, 0, line, size);
}

bool log_ring_put_two(struct log_ring *r, const void *head, size_t head_size, const void *line,
                      size_t size)
{
    uint64_t pos = atomic_load_explicit(&r->head, memory_order_relaxed);

    if (head_size + size > log_ring_room(r))
        return false;
    if (head_size)
        copy_in(r, pos, head, head_size);
    copy_in(r, pos + head_size, line, size);
    atomic_store_explicit(&r->head, pos + head_size + size, memory_order_seq_cst);
    return true;
}

size_t log_ring_room(const struct log_ring *r)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);

    return r->size - (size_t)(head - tail);
}

bool log_ring_copy(const struct log_ring *r, size_t skip, void *to, size_t size)
{
    uint64_t pos = atomic_load_explicit(&r->tail, memory_order_relaxed) + skip;
    uint64_t head = atomic_load_explicit(&r->head, memory_order_seq_cst);
    size_t first = upto_end(r, pos, size);

    if (pos > head || size > head - pos)
        return false;
    memcpy(to, r->buf + (pos & (r->size - 1)), first);
    memcpy((uint8_t *)to + first, r->buf, size - first);
    return true;
}

size_t log_ring_peek(struct log_ring *r, struct iovec iov[2])
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
    size_t n = (size_t)(atomic_load_explicit(&r->head, memory_order_seq_cst) - tail);
    size_t first = upto_end(r, tail, n);

    iov[0] = (struct iovec){ r->buf + (tail & (r->size - 1)), first };
    iov[1] = (struct iovec){ r->buf, n - first };
    return n;
}

void log_ring_take(struct log_ring *r, size_t size)
{
    uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

    atomic_store_explicit(&r->tail, tail + size, memory_order_release);
}
