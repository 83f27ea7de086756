/* SPDX-License-Identifier: MIT */
/* rd.h - read bytes of a message, never past its end.
 *
 * A read past the end gives 0 (or NULL), sets `bad`, and every read after it
 * does the same. So a parser reads a whole run of fields and asks rd_err()
 * once. Only a loop bound or an allocation size read from the message needs a
 * check of its own before it is used.
 */
#ifndef BASE_RD_H
#define BASE_RD_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct rd {
    const uint8_t *p, *end;
    bool bad;
};

static inline struct rd rd_init(const void *data, size_t size)
{
    return (struct rd){ .p = data, .end = (const uint8_t *)data + size };
}

static inline size_t rd_left(const struct rd *r)
{
    return (size_t)(r->end - r->p);
}

/* n bytes in place, or NULL. */
static inline const uint8_t *rd_take(struct rd *r, size_t n)
{
    const uint8_t *at = r->p;

    if (r->bad || n > rd_left(r)) {
        r->bad = true;
        r->p = r->end;
        return NULL;
    }
    r->p += n;
    return at;
}

static inline uint64_t rd_be(struct rd *r, size_t n)
{
    const uint8_t *p = rd_take(r, n);
    uint64_t v = 0;

    for (size_t i = 0; p && i < n; i++)
        v = v << 8 | p[i];
    return v;
}

static inline uint8_t  rd_u8(struct rd *r)  { return (uint8_t)rd_be(r, 1); }
static inline uint16_t rd_u16(struct rd *r) { return (uint16_t)rd_be(r, 2); }
static inline uint32_t rd_u24(struct rd *r) { return (uint32_t)rd_be(r, 3); }
static inline uint32_t rd_u32(struct rd *r) { return (uint32_t)rd_be(r, 4); }
static inline uint64_t rd_u64(struct rd *r) { return rd_be(r, 8); }

/* The next n bytes as a reader of their own: a nested box, TLV or attribute can
 * then never read into its neighbour. */
static inline struct rd rd_sub(struct rd *r, size_t n)
{
    const uint8_t *p = rd_take(r, n);

    return (struct rd){ .p = p, .end = p ? p + n : p, .bad = !p };
}

static inline err_t rd_err(const struct rd *r, const char *what)
{
    return r->bad ? err_new(ERR_TRUNCATED, "%s", what) : NULL;
}

#endif
