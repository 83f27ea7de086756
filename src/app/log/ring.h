/* SPDX-License-Identifier: MIT */
/* ring.h - a bounded queue of bytes between a thread that logs and the thread that writes.
 *
 * One thread puts and one takes; neither ever waits for the other. A line without enough space is
 * refused as a whole. A signal handler may take the content once the taker has stopped, so a crash
 * loses no line.
 */
#ifndef APP_LOG_RING_H
#define APP_LOG_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct log_ring {
    uint8_t *buf;
    size_t size; /* a power of two */
    _Atomic uint64_t head, tail; /* total bytes put and taken */
};

void log_ring_init(struct log_ring *r, void *buf, size_t size);
bool log_ring_put(struct log_ring *r, const void *line, size_t size);
/* Puts a header and a line, both or neither. */
bool log_ring_put_two(struct log_ring *r, const void *head, size_t head_size, const void *line,
                      size_t size);
size_t log_ring_room(const struct log_ring *r); /* free bytes, for the thread that puts */
/* Returns the number of pending bytes and points to them, in at most two pieces. They stay until
 * taken. */
size_t log_ring_peek(struct log_ring *r, struct iovec iov[2]);
void log_ring_take(struct log_ring *r, size_t size);
/* Copies `size` pending bytes after the first `skip`. Returns false if there are fewer. */
bool log_ring_copy(const struct log_ring *r, size_t skip, void *to, size_t size);

#endif
