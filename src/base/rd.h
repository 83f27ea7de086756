/* SPDX-License-Identifier: MIT */
/* rd.h - reads bytes of a message, never past its end.
 *
 * A read past the end returns 0 (or NULL) and sets `bad`, and so does every later read. A parser
 * reads all fields and then calls rd_err() once. Only a loop bound or an allocation size from the
 * message must be checked before its use.
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

/* Returns a pointer to the next n bytes, or NULL. */
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

/* Returns a reader of the next n bytes, so that parsing a nested box, TLV or attribute never reads
 * into the next one. */
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
