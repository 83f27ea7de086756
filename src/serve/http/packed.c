/* SPDX-License-Identifier: MIT */
/* packed.c - cache of compressed text files. */
#include "serve/http/packed.h"

#include "base/mem.h"
#include "base/must.h"
#include "co/thread.h"
#include "proto/http/gzip.h"

#include <stdlib.h>

enum { FILES_MAX = 256 };

#define PACK_TIME CO_SECONDS(10)

struct http_packs {
    struct http_packed *list; /* most recently used first */
    size_t n, bytes, limit;
    bool busy;                /* a file is being compressed */
};

struct http_packs *http_packs_new(size_t limit)
{
    struct http_packs *packs = must(calloc(1, sizeof(*packs)));

    packs->limit = limit;
    return packs;
}

struct http_packed *http_packed_unref(struct http_packed *p)
{
    if (p && ref_put(&p->ref)) {
        free(p->data);
        free(p);
    }
    return NULL;
}

/* Keeps the first entries that are within the bounds and removes the others. */
static void trim(struct http_packs *packs, size_t files, size_t bytes)
{
    struct http_packed **at = &packs->list;
    size_t n = 0, sum = 0;

    while (*at && n < files && sum + (*at)->size <= bytes) {
        sum += (*at)->size;
        n++;
        at = &(*at)->next;
    }
    while (*at) {
        struct http_packed *p = *at;

        *at = p->next;
        (void)http_packed_unref(p);
    }
    packs->n = n;
    packs->bytes = sum;
}

void http_packs_free(struct http_packs *packs)
{
    if (packs)
        trim(packs, 0, 0);
    free(packs);
}

static struct http_packed *find(struct http_packs *packs, const struct co_file *f)
{
    for (struct http_packed **at = &packs->list, *p; (p = *at); at = &p->next) {
        if (p->inode != f->inode || p->device != f->device || p->mtime_ns != f->mtime_ns ||
            p->of_size != f->size)
            continue;
        *at = p->next;
        p->next = packs->list;
        packs->list = p;
        ref_get(&p->ref);
        return p;
    }
    return NULL;
}

/* ---- on a helper thread */

struct packing {
    uint8_t *text;
    size_t size;
    struct wr out;
    bool ok;
};

static void pack(void *arg)
{
    struct packing *j = arg;

    j->ok = http_gzip(&j->out, j->text, j->size);
}

static void packing_free(void *arg)
{
    struct packing *j = arg;

    wr_free(&j->out);
    free(j->text);
    free(j);
}

static err_t run(const struct co_file *f, struct packing **out)
{
    struct packing *j = must(calloc(1, sizeof(*j)));
    err_t err;

    j->size = (size_t)f->size;
    j->text = mem_try(j->size + 1);
    wr_init(&j->out, j->size);
    err = j->text ? co_file_read(f, 0, j->text, j->size)
                  : err_new(ERR_NO_MEMORY, "no memory for a text of %zu bytes", j->size);
    if (err) {
        packing_free(j);
        return err;
    }
    err = co_thread_run(CO_POOL_FILE, pack, j, packing_free, PACK_TIME);
    *out = err ? NULL : j;
    return err;
}

static struct http_packed *store(struct http_packs *packs, const struct co_file *f,
                                 struct packing *j)
{
    struct http_packed *p = must(calloc(1, sizeof(*p)));

    ref_init(&p->ref); /* reference of the list */
    p->device = f->device;
    p->inode = f->inode;
    p->mtime_ns = f->mtime_ns;
    p->of_size = f->size;
    if (j->ok) {
        p->data = must(realloc(j->out.buf, j->out.len)); /* shrinks the buffer */
        p->size = j->out.len;
        wr_init(&j->out, 0); /* the buffer has a new owner */
    }
    packing_free(j);
    p->next = packs->list;
    packs->list = p;
    ref_get(&p->ref);
    trim(packs, FILES_MAX, packs->limit);
    return p;
}

err_t http_packed_get(struct http_packs *packs, const struct co_file *f, struct http_packed **out)
{
    struct http_packed *p = packs ? find(packs, f) : NULL;
    struct packing *j;
    err_t err = NULL;

    *out = NULL;
    if (!p && packs && !packs->busy) {
        packs->busy = true;
        err = run(f, &j);
        packs->busy = false;
        p = err ? NULL : store(packs, f, j);
        if (err_class(err) != ERR_CLASS_STOP) /* for example, no thread is free: send it
                                               * uncompressed */
            err_free(&err);
    }
    if (p && p->size > 0)
        *out = p;
    else
        (void)http_packed_unref(p);
    return err;
}
