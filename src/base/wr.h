/* SPDX-License-Identifier: MIT */
/* wr.h - a writer of bytes into a buffer that grows up to a limit.
 *
 * The first failure (limit, memory) sticks; later writes do nothing. Build the
 * whole message, then check wr_err() once.
 */
#ifndef BASE_WR_H
#define BASE_WR_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct wr {
    uint8_t *buf;
    size_t len, cap, limit;
    enum err_code bad;
    /* NULL: a full buffer grows. Otherwise replaces a full buffer with one for at least n bytes and
     * sets `len` and `limit` for it (blocks.h). Returns false if out of memory. */
    bool (*more)(struct wr *w, size_t n);
};

void wr_init(struct wr *w, size_t limit);
void wr_free(struct wr *w);
void wr_fit(struct wr *w); /* frees unused space, for a buffer that is kept for a long time */
void wr_bytes(struct wr *w, const void *p, size_t n);
void wr_text(struct wr *w, const char *s);
/* Writes text of any length, without a 0 at the end. */
void wr_printf(struct wr *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Returns space for n more bytes; the caller fills it and adds to w->len. NULL on failure. */
uint8_t *wr_reserve(struct wr *w, size_t n);
void wr_be(struct wr *w, uint64_t v, size_t n); /* the low n bytes of v, big-endian */

/* Empties the writer and clears the error; keeps the buffer. */
static inline void wr_clear(struct wr *w)
{
    w->len = 0;
    w->bad = ERR_OK;
}

static inline void wr_u8(struct wr *w, uint8_t v)   { wr_be(w, v, 1); }
static inline void wr_u16(struct wr *w, uint16_t v) { wr_be(w, v, 2); }
static inline void wr_u24(struct wr *w, uint32_t v) { wr_be(w, v, 3); }
static inline void wr_u32(struct wr *w, uint32_t v) { wr_be(w, v, 4); }

err_t wr_err(const struct wr *w, const char *what);

#endif
