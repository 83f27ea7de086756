/* SPDX-License-Identifier: MIT */
/* ring.h - a bounded queue of bytes between the thread that makes log lines and the one that
 * writes them.
 *
 * One thread puts, one takes, neither ever waits for the other. A line that finds no room is
 * refused whole. What is in it can be taken from a signal handler too, once the taker is out of
 * the way, so a crash loses no line.
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
    _Atomic uint64_t head, tail; /* bytes ever put and taken */
};

void log_ring_init(struct log_ring *r, void *buf, size_t size);
bool log_ring_put(struct log_ring *r, const void *line, size_t size);
/* The same with something before the line, both or none. */
bool log_ring_put_two(struct log_ring *r, const void *head, size_t head_size, const void *line,
                      size_t size);
size_t log_ring_room(const struct log_ring *r); /* bytes; for who puts */
/* The bytes that wait, in at most two pieces; gives their sum. They stay until taken. */
size_t log_ring_peek(struct log_ring *r, struct iovec iov[2]);
void log_ring_take(struct log_ring *r, size_t size);
/* Copy so many of the bytes that wait, without the first `skip`. False: there are fewer. */
bool log_ring_copy(const struct log_ring *r, size_t skip, void *to, size_t size);

#endif
