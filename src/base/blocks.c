/* SPDX-License-Identifier: MIT */
/* blocks.c - a byte buffer that grows by adding blocks; blocks never move. */
#include "base/blocks.h"

#include "base/container_of.h"
#include "base/mem.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MIN = 4 << 10, COPIED = BLOCK_SIZE / 2 };

static size_t size_of(const struct block *p)
{
    return sizeof(*p) + p->cap;
}

/* ------------------------------------------------------------ the pool */

static struct block *take(struct block_pool *s)
{
    struct block *p = s->first;

    s->first = p->next;
    s->n--;
    if (s->n < s->least)
        s->least = s->n;
    return p;
}

void block_pool_sweep(struct block_pool *s)
{
    for (unsigned i = s->least; i > 0; i--)
        free(take(s));
    s->least = s->n;
}

void block_pool_free(struct block_pool *s)
{
    while (s->n > 0)
        free(take(s));
}

static struct block *new_block(struct block_pool *s, size_t cap)
{
    struct block *p = s && cap == BLOCK_SIZE && s->n > 0 ? take(s) : mem_try(sizeof(*p) + cap);

    if (!p)
        return NULL;
    p->next = NULL;
    p->len = 0;
    p->cap = cap;
    if (s && s->used)
        *s->used += size_of(p);
    return p;
}

static void free_block(struct block_pool *s, struct block *p)
{
    if (s && s->used)
        *s->used -= size_of(p);
    if (!s || p->cap != BLOCK_SIZE || s->n >= s->most) {
        free(p);
        return;
    }
    p->next = s->first;
    s->first = p;
    s->n++;
}

/* ------------------------------------------------------------ writing */

static void note_len(struct blocks *b)
{
    if (b->last)
        b->last->len = b->w.len;
}

/* Points the writer at the end of the last block. */
static void stand(struct blocks *b)
{
    struct block *p = b->last;

    b->w.buf = p ? p->data : NULL;
    b->w.len = p ? p->len : 0;
    b->w.cap = p ? p->cap : 0;
    b->w.limit = b->limit - b->before;
}

static void append(struct blocks *b, struct block *p)
{
    note_len(b);
    b->before += b->w.len;
    if (b->last)
        b->last->next = p;
    else
        b->first = p;
    b->last = p;
    b->memory += size_of(p);
    stand(b);
}

/* Adds a block. The size of blocks grows up to BLOCK_SIZE. */
static bool more(struct wr *w, size_t n)
{
    struct blocks *b = container_of(w, struct blocks, w);
    struct block *p = new_block(b->pool, n > b->step ? n : b->step);

    if (!p)
        return false;
    append(b, p);
    b->step = b->step * 4 < BLOCK_SIZE ? b->step * 4 : BLOCK_SIZE;
    return true;
}

static void empty(struct blocks *b)
{
    b->first = b->last = NULL;
    b->before = b->memory = 0;
    b->w.bad = ERR_OK;
    stand(b);
}

void blocks_init(struct blocks *b, size_t limit, struct block_pool *pool)
{
    *b = (struct blocks){ .limit = limit, .step = STEP_MIN, .pool = pool };
    wr_init(&b->w, limit);
    b->w.more = more;
}

/* A buffer that was large is likely to be large again, so its next block is larger. */
static void fit_step(struct blocks *b)
{
    if (b->first)
        b->step = blocks_len(b) > COPIED ? BLOCK_SIZE : STEP_MIN;
}

void blocks_free(struct blocks *b)
{
    fit_step(b);
    while (blocks_drop(b)) {
    }
    empty(b);
}

bool blocks_drop(struct blocks *b)
{
    struct block *p = b->first;

    if (!p)
        return false;
    b->first = p->next;
    free_block(b->pool, p);
    return true;
}

void blocks_uncount(struct blocks *b)
{
    if (b->pool && b->pool->used)
        *b->pool->used -= b->memory;
    b->pool = NULL;
}

void blocks_fit(struct blocks *b)
{
    struct block *p, *old = b->last;

    note_len(b);
    if (!old || b->first != old || old->len > old->cap / 2)
        return;
    p = realloc(old, sizeof(*p) + old->len);
    if (!p)
        return;
    b->memory -= p->cap - p->len;
    if (b->pool && b->pool->used)
        *b->pool->used -= p->cap - p->len;
    p->cap = p->len;
    b->first = b->last = p;
    stand(b);
}

struct block *blocks_begin(struct blocks *b)
{
    note_len(b);
    return b->first;
}

struct blocks blocks_take(struct blocks *from)
{
    struct blocks to;

    note_len(from);
    to = *from;
    fit_step(from);
    empty(from);
    return to;
}

void blocks_move(struct blocks *to, struct blocks *from)
{
    struct block *next;

    assert(to->pool == from->pool);
    fit_step(from);
    if (!to->w.bad)
        to->w.bad = from->w.bad;
    for (struct block *p = blocks_begin(from); p; p = next) {
        next = p->next;
        p->next = NULL;
        if (p->len <= COPIED || p->len > to->w.limit - to->w.len) {
            wr_bytes(&to->w, p->data, p->len);
            free_block(from->pool, p);
        } else {
            append(to, p);
        }
    }
    empty(from);
}

void blocks_copy(struct blocks *to, struct blocks *from, size_t at)
{
    for (struct block *p = blocks_begin(from); p; p = p->next) {
        if (at < p->len)
            wr_bytes(&to->w, p->data + at, p->len - at);
        at = at < p->len ? 0 : at - p->len;
    }
}

void blocks_cut(struct blocks *b, size_t len)
{
    struct block *p = blocks_begin(b), *next;
    size_t before = 0;

    b->w.bad = ERR_OK;
    if (len >= blocks_len(b))
        return;
    if (len == 0) {
        blocks_free(b);
        return;
    }
    while (p->len < len - before) {
        before += p->len;
        p = p->next;
    }
    for (struct block *q = p->next; q; q = next) {
        next = q->next;
        b->memory -= size_of(q);
        free_block(b->pool, q);
    }
    p->next = NULL;
    p->len = len - before;
    b->last = p;
    b->before = before;
    stand(b);
}
