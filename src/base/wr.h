/* SPDX-License-Identifier: MIT */
/* wr.h - write bytes of a message into a buffer that grows, up to a limit.
 *
 * The first failure (limit, memory) sticks; later writes do nothing. Build the
 * whole message, then ask wr_err() once.
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
    /* NULL: a buffer that is full grows. Else another one is put in its place, for n bytes at
     * least, and `len` and `limit` are of that one (blocks.h). False: there is no memory. */
    bool (*more)(struct wr *w, size_t n);
};

void wr_init(struct wr *w, size_t limit);
void wr_free(struct wr *w);
void wr_fit(struct wr *w); /* give back what the buffer has left over: it is kept for long */
void wr_bytes(struct wr *w, const void *p, size_t n);
void wr_text(struct wr *w, const char *s);
/* For text of any length; no 0 is written behind it. */
void wr_printf(struct wr *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Room for n more bytes, that a writer fills and then counts by w->len; NULL on failure. */
uint8_t *wr_reserve(struct wr *w, size_t n);
void wr_be(struct wr *w, uint64_t v, size_t n); /* the low n bytes of v, big-endian */

/* It is empty again, and good; its buffer stays. */
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
