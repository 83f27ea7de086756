/* SPDX-License-Identifier: MIT */
/* io_mem.h - a struct io over memory: one array is read from, another is written to. */
#ifndef LIB_IO_MEM_H
#define LIB_IO_MEM_H

#include "co/net/io.h"

/* A pipe over memory: reads return `in` in pieces of at most `piece` bytes (0: as requested), then
 * ERR_IO_CLOSED; writes go to `out` until `out_cap` is full, then fail with ERR_IO_RESET (with
 * out == NULL they are counted and dropped, up to out_cap). Never yields. */
struct io_mem {
    struct io io;
    const uint8_t *in;
    size_t in_size, piece;
    uint8_t *out;
    size_t out_size, out_cap;
};

void io_mem_init(struct io_mem *m, const void *in, size_t in_size);

#endif
