/* SPDX-License-Identifier: MIT */
/* bump.c - a bump allocator: small pieces of memory, one after another in blocks. */
#include "base/bump.h"

#include "base/mem.h"
#include "base/must.h"
#include "base/region.h"

#include <stdbool.h>
#include <stdint.h>

/* The size of a block is a sixteenth of the owner's recent peak; a stream frees most of its pieces
 * at once, with each GOP. A single old piece keeps its whole block allocated. If such unused space
 * exceeds half of the peak plus SLACK, blocks are small again, so one piece left in each block
 * cannot waste more than that. */
enum { STEP_MIN = REGION_BLOCK_MIN, STEP_MAX = 256 << 10, SHARE = 16, FADE = 64,
       SLACK = 64 << 10, LINE = 64 };

struct bump { /* one cache line has all that the allocation of a piece needs */
    uint8_t *at;        /* next piece in the current block, which has `left` bytes */
    struct part *fill;  /* the current block, or NULL */
    struct piece *tail; /* the largest rest of another block: `tail_left` bytes */
    size_t blocks;      /* bytes of all blocks */
    size_t pieces;      /* bytes of pieces in them, with their headers */
    size_t *idle;
    uint32_t left, tail_left;
    uint32_t taken;     /* pieces taken from `fill` so far */
    uint32_t most : 31; /* recent peak of `pieces`, in pages */
    uint32_t closed : 1;
};

_Static_assert(sizeof(struct bump) <= LINE, "one line");

/* The header of a block. */
struct part {
    struct bump *owner;
    size_t size; /* bytes, this header included */
    unsigned pieces; /* live pieces; for the current block, minus `taken` */
};

/* The header of a piece, and of a tail. */
struct piece {
    uint32_t back; /* offset back to the block; 0: from malloc */
    uint32_t size; /* with this header */
};

static struct piece *piece_of(void *p)
{
    return (struct piece *)p - 1;
}

static struct part *part_of(struct piece *q)
{
    return (struct part *)(void *)((uint8_t *)q - q->back);
}

static size_t with_header(size_t size)
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

static void forget_tail(struct bump *b, const struct part *part)
{
    if (b->tail && part_of(b->tail) == part) {
        b->tail = NULL;
        b->tail_left = 0;
    }
}

/* Keeps the rest of a block that is no longer the current one, for small pieces. */
static void keep_tail(struct bump *b, struct part *part, uint8_t *at, size_t left)
{
    if (left <= b->tail_left || left < sizeof(*b->tail))
        return;
    b->tail = (struct piece *)(void *)at;
    b->tail->back = (uint32_t)(at - (uint8_t *)part);
    b->tail_left = (uint32_t)left;
}

static void free_part(struct part *part)
{
    struct bump *b = part->owner;

    forget_tail(b, part);
    count_block(b, 0, part->size);
    region_give(part, part->size);
    if (b->closed && b->blocks == 0)
        free(b);
}

/* Ends the use of the current block. */
static void leave_part(struct bump *b)
{
    struct part *part = b->fill;

    if (!part)
        return;
    keep_tail(b, part, b->at, b->left);
    b->fill = NULL;
    b->at = NULL;
    b->left = 0;
    part->pieces += b->taken;
    if (part->pieces == 0)
        free_part(part);
}

static void fill_part(struct bump *b, struct part *part, unsigned taken, size_t used)
{
    leave_part(b);
    b->fill = part;
    b->taken = taken;
    b->at = (uint8_t *)part + used;
    b->left = (uint32_t)(part->size - used);
    part->pieces -= taken;
}

struct bump *bump_new(size_t *idle)
{
    struct bump *b = must(aligned_alloc(LINE, LINE));

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
    else
        leave_part(b);
    return NULL;
}

static size_t step_of(const struct bump *b)
{
    size_t most = (size_t)b->most * STEP_MIN, step = region_fit(most / SHARE);

    if (b->blocks > 2 * most + SLACK)
        return STEP_MIN;
    return step < STEP_MAX ? step : STEP_MAX;
}

static void *put_piece(struct bump *b, struct part *part, size_t back, size_t n)
{
    struct piece *q = (struct piece *)(void *)((uint8_t *)part + back);

    *q = (struct piece){ .back = (uint32_t)back, .size = (uint32_t)n };
    count_piece(b, n, 0);
    return q + 1;
}

static void note_most(struct bump *b)
{
    size_t pages = b->pieces / STEP_MIN, faded = b->most - b->most / FADE;

    b->most = (pages > faded ? pages : faded) & INT32_MAX;
}

/* Allocates a piece in a new block. The new block becomes the current one, unless the old one has
 * more space left. */
static void *alloc_in_new_part(struct bump *b, size_t n)
{
    size_t used = sizeof(struct part) + n, need = region_fit(used), step, size;
    struct part *part;

    note_most(b);
    step = step_of(b);
    size = need > step ? need : step;
    part = region_take(size);
    if (!part)
        return NULL;
    *part = (struct part){ .owner = b, .size = size, .pieces = 1 };
    count_block(b, size, 0);
    if (size - used > b->left)
        fill_part(b, part, 1, used);
    else
        keep_tail(b, part, (uint8_t *)part + used, size - used);
    return put_piece(b, part, sizeof(*part), n);
}

static void *from_heap(size_t n)
{
    struct piece *q = mem_try(n);

    if (!q)
        return NULL;
    *q = (struct piece){ .size = (uint32_t)n };
    return q + 1;
}

static void *in_tail(struct bump *b, size_t n)
{
    uint8_t *at = (uint8_t *)b->tail;
    struct part *part = part_of(b->tail);
    size_t left = b->tail_left - n;

    b->tail = NULL;
    b->tail_left = 0;
    keep_tail(b, part, at + n, left);
    part->pieces++;
    return put_piece(b, part, (size_t)(at - (uint8_t *)part), n);
}

void *bump_try(struct bump *b, size_t size)
{
    size_t n = with_header(size);
    uint8_t *at;

    if (!b)
        return from_heap(n);
    if (n <= b->tail_left)
        return in_tail(b, n);
    if (n > b->left)
        return alloc_in_new_part(b, n);
    at = b->at;
    b->at += n;
    b->left -= (uint32_t)n;
    b->taken++;
    return put_piece(b, b->fill, (size_t)(at - (uint8_t *)b->fill), n);
}

/* Enlarges the piece in place if the space after it is free; false if not. */
static bool stretch(struct bump *b, struct piece *q, size_t n)
{
    uint8_t *p = (uint8_t *)q;

    if (p + q->size != b->at || n > q->size + (size_t)b->left)
        return false;
    count_piece(b, n, q->size);
    b->left -= (uint32_t)(n - q->size);
    b->at = p + n;
    q->size = (uint32_t)n;
    return true;
}

/* Enlarges a piece that has a large block for itself. */
static void *grow_part(struct part *part, size_t n)
{
    size_t from = part->size, to = region_fit(sizeof(*part) + n);
    struct bump *b = part->owner;
    struct part *more;
    struct piece *q;

    forget_tail(b, part);
    more = to > from ? region_grow(part, from, to) : part;
    if (!more)
        return NULL;
    more->size = to > from ? to : from;
    count_block(b, more->size, from);
    q = (struct piece *)(void *)(more + 1);
    count_piece(b, n, q->size);
    q->size = (uint32_t)n;
    return q + 1;
}

void *bump_grow(void *p, size_t size)
{
    struct piece *q = piece_of(p);
    size_t n = with_header(size);
    struct part *part;
    void *more;

    if (q->back == 0) {
        q = mem_try_more(q, n);
        return q ? q + 1 : NULL;
    }
    part = part_of(q);
    if (stretch(part->owner, q, n))
        return p;
    if (part != part->owner->fill && part->pieces == 1 && q->back == sizeof(*part) &&
        part->size >= STEP_MAX)
        return grow_part(part, n);
    more = bump_try(part->owner, size);
    if (!more)
        return NULL;
    memcpy(more, p, q->size - sizeof(*q));
    bump_free(p);
    return more;
}

/* All pieces of the current block are freed: starts it again, if it is small. */
static void restart_part(struct bump *b)
{
    if (b->fill->size > STEP_MIN || b->closed) {
        leave_part(b);
        return;
    }
    b->at = (uint8_t *)(b->fill + 1);
    b->left = (uint32_t)(b->fill->size - sizeof(*b->fill));
    b->taken = b->fill->pieces = 0;
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
    part->pieces--;
    if (part == b->fill && part->pieces + b->taken == 0)
        restart_part(b);
    else if (part->pieces == 0 && part != b->fill)
        free_part(part);
}
