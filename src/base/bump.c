/* SPDX-License-Identifier: MIT */
/* bump.c - small pieces of memory, one behind the other in blocks. */
#include "base/bump.h"

#include "base/mem.h"
#include "base/must.h"
#include "base/region.h"

#include <stdbool.h>
#include <stdint.h>

/* A block is as much as an eighth of all pieces. One whose pieces are mostly gone stays for the
 * last of them: where that is over half of all, and SLACK, blocks are small again. So somebody who
 * leaves one piece in each block holds back no more than that. */
enum { STEP_MIN = REGION_BLOCK_MIN, STEP_MAX = 256 << 10, SHARE = 8, SLACK = 64 << 10 };

struct bump {
    struct part *fill; /* the block that pieces are taken of, or NULL */
    size_t blocks;     /* bytes of all blocks */
    size_t pieces;     /* bytes of pieces in them, with their heads */
    size_t *idle;
    bool closed;
};

/* At the begin of a block. */
struct part {
    struct bump *owner;
    size_t size, used; /* bytes, this head included */
    unsigned pieces;
};

/* In front of each piece. */
struct piece {
    uint32_t back; /* from here to the part; 0: it is of malloc */
    uint32_t size; /* with this head */
};

static struct piece *piece_of(void *p)
{
    return (struct piece *)p - 1;
}

static struct part *part_of(struct piece *q)
{
    return (struct part *)(void *)((uint8_t *)q - q->back);
}

static size_t with_head(size_t size)
{
    return (sizeof(struct piece) + size + 7) & ~(size_t)7;
}

static void count_idle(struct bump *b, size_t more, size_t less)
{
    if (b->idle)
        *b->idle += more - less;
}

static void count_block(struct bump *b, size_t more, size_t less)
{
    b->blocks += more - less;
    count_idle(b, more, less);
}

static void count_piece(struct bump *b, size_t more, size_t less)
{
    b->pieces += more - less;
    count_idle(b, less, more);
}

static struct part *new_part(struct bump *b, size_t size)
{
    struct part *part = region_take(size);

    if (!part)
        return NULL;
    *part = (struct part){ .owner = b, .size = size, .used = sizeof(*part) };
    count_block(b, size, 0);
    return part;
}

static void free_part(struct part *part)
{
    struct bump *b = part->owner;

    if (b->fill == part)
        b->fill = NULL;
    count_block(b, 0, part->size);
    region_give(part, part->size);
    if (b->closed && b->blocks == 0)
        free(b);
}

struct bump *bump_new(size_t *idle)
{
    struct bump *b = must(malloc(sizeof(*b)));

    *b = (struct bump){ .idle = idle };
    return b;
}

void bump_uncount(struct bump *b)
{
    count_idle(b, 0, b->blocks - b->pieces);
    b->idle = NULL;
}

struct bump *bump_close(struct bump *b)
{
    if (!b)
        return NULL;
    bump_uncount(b);
    b->closed = true;
    if (b->blocks == 0)
        free(b);
    else if (b->fill && b->fill->pieces == 0)
        free_part(b->fill);
    return NULL;
}

static size_t step_of(const struct bump *b)
{
    size_t step = region_fit(b->pieces / SHARE);

    if (b->blocks > 2 * b->pieces + SLACK)
        return STEP_MIN;
    return step < STEP_MAX ? step : STEP_MAX;
}

/* A part with room for so many bytes, a new one: it is filled from now on, unless there is more
 * left of the old one. */
static struct part *part_for(struct bump *b, size_t n)
{
    size_t need = region_fit(sizeof(struct part) + n), step = step_of(b);
    struct part *old = b->fill, *part = new_part(b, need > step ? need : step);

    if (!part)
        return NULL;
    if (!old || part->size - part->used - n > old->size - old->used)
        b->fill = part;
    if (old && b->fill != old && old->pieces == 0)
        free_part(old);
    return part;
}

static void *from_heap(size_t n)
{
    struct piece *q = mem_try(n);

    if (!q)
        return NULL;
    *q = (struct piece){ .size = (uint32_t)n };
    return q + 1;
}

void *bump_try(struct bump *b, size_t size)
{
    size_t n = with_head(size);
    struct part *part;
    struct piece *q;

    if (!b)
        return from_heap(n);
    part = b->fill;
    if (!part || n > part->size - part->used)
        part = part_for(b, n);
    if (!part)
        return NULL;
    q = (struct piece *)(void *)((uint8_t *)part + part->used);
    *q = (struct piece){ .back = (uint32_t)part->used, .size = (uint32_t)n };
    part->used += n;
    part->pieces++;
    count_piece(b, n, 0);
    return q + 1;
}

/* Is there room behind the piece, where nobody is? */
static bool stretch(struct part *part, struct piece *q, size_t n)
{
    if (part->pieces == 1)
        part->used = q->back + q->size;
    if (q->back + q->size != part->used || n > part->size - q->back)
        return false;
    count_piece(part->owner, n, q->size);
    part->used = q->back + n;
    q->size = (uint32_t)n;
    return true;
}

/* A piece that has a large block for itself. */
static void *grow_part(struct part *part, size_t n)
{
    size_t from = part->size, to = region_fit(sizeof(*part) + n);
    struct bump *b = part->owner;
    struct part *more = region_grow(part, from, to);
    struct piece *q;

    if (!more)
        return NULL;
    if (b->fill == part)
        b->fill = more;
    more->size = to;
    count_block(b, to, from);
    q = (struct piece *)(void *)(more + 1);
    (void)stretch(more, q, n);
    return q + 1;
}

void *bump_grow(void *p, size_t size)
{
    struct piece *q = piece_of(p);
    size_t n = with_head(size);
    struct part *part;
    void *more;

    if (q->back == 0) {
        q = mem_try_more(q, n);
        return q ? q + 1 : NULL;
    }
    part = part_of(q);
    if (stretch(part, q, n))
        return p;
    if (part->pieces == 1 && q->back == sizeof(*part) && part->size >= STEP_MAX)
        return grow_part(part, n);
    more = bump_try(part->owner, size);
    if (!more)
        return NULL;
    memcpy(more, p, q->size - sizeof(*q));
    bump_free(p);
    return more;
}

void bump_free(void *p)
{
    struct piece *q = piece_of(p);
    struct part *part;
    struct bump *b;

    if (q->back == 0) {
        free(q);
        return;
    }
    part = part_of(q);
    b = part->owner;
    count_piece(b, 0, q->size);
    if (--part->pieces > 0)
        return;
    if (part == b->fill && part->size == STEP_MIN && !b->closed)
        part->used = sizeof(*part); /* it is at hand */
    else
        free_part(part);
}

const void *bump_next(const struct bump *b)
{
    return b->fill ? (const uint8_t *)b->fill + b->fill->used : NULL;
}

size_t bump_blocks(const struct bump *b)
{
    return b->blocks;
}
