/* SPDX-License-Identifier: MIT */
/* pack.c - playlists compressed once per change. */
#include "serve/hls/pack.h"

#include "base/mem.h"
#include "base/must.h"
#include "co/thread.h"
#include "format/playlist/m3u8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IN_PLACE = 16 * 1024, /* compressing this much takes 0.2 ms, less than waking a thread and
                           * waiting for it */
    PIECES_MAX = 1024,   /* pieces of an MPD; four per period with audio and video */
    OWN_MAX = 64 * 1024, /* largest text for one player at one position */
};

#define PACK_TIME CO_SECONDS(10)

struct hls_pack_waiter { /* on the stack of the waiting coroutine */
    struct hls_pack_waiter *next;
    struct co *co;
};

/* ------------------------------------------------------------ compression, on a helper thread or
 * in place */

struct packing {
    uint8_t *text; /* a copy */
    size_t size;
    unsigned urls;
    struct wr out;
    struct http_gzip_keyed keyed;
    struct http_gzip_piece *pieces;
    size_t n_pieces;
    bool ok;
};

static void add_key(struct wr *w, const void *text, size_t size, unsigned urls, const char *key)
{
    char query[HTTP_GZIP_KEY + 16];

    (void)snprintf(query, sizeof(query), "hls_ctx=%.*s", HTTP_GZIP_KEY, key);
    m3u8_add_query(w, text, size, query, urls);
}

static void pack_keyed(struct packing *j)
{
    struct wr w;

    wr_init(&w, HLS_LIST_MAX);
    add_key(&w, j->text, j->size, j->urls, http_gzip_hole);
    j->out.limit = w.len;
    if (w.len == j->size) /* no URL takes a key */
        j->ok = !w.bad && http_gzip(&j->out, w.buf, w.len);
    else
        j->ok = !w.bad && http_gzip_keyed(&j->out, (const char *)w.buf, w.len, &j->keyed);
    wr_free(&w);
}

static void pack_pieces(struct packing *j)
{
    struct http_gzip_piece *v = mem_try(PIECES_MAX * sizeof(*v));
    struct mpd_cut c;
    size_t n = 0;
    bool more = false;

    mpd_cut_begin(&c, (const char *)j->text, j->size);
    while (v && (more = mpd_cut_next(&c)) && n < PIECES_MAX)
        v[n++] = (struct http_gzip_piece){ .size = (uint32_t)c.size, .own = c.place };
    j->ok = v && !more && http_gzip_pieces(&j->out, (const char *)j->text, v, n);
    j->n_pieces = n;
    j->pieces = j->ok ? must(realloc(v, n * sizeof(*v))) : v; /* shrinks the array */
}

static void pack(void *arg)
{
    struct packing *j = arg;

    if (j->urls == HLS_PACK_MPD)
        pack_pieces(j);
    else if (j->urls)
        pack_keyed(j);
    else
        j->ok = http_gzip(&j->out, j->text, j->size);
}

static void packing_free(void *arg)
{
    struct packing *j = arg;

    wr_free(&j->out);
    free(j->pieces);
    free(j->text);
    free(j);
}

static struct packing *packing_new(const struct hls_file *f, unsigned urls)
{
    struct packing *j = must(calloc(1, sizeof(*j)));

    wr_init(&j->out, f->size);
    j->text = mem_try(f->size);
    j->size = f->size;
    j->urls = urls;
    if (j->text)
        memcpy(j->text, f->data, f->size);
    return j;
}

/* ------------------------------------------------------------ sharing */

static void store(struct hls_pack *p, struct packing *j)
{
    if (j->ok) {
        wr_fit(&j->out);
        p->data = j->out.buf;
        p->size = j->out.len;
        p->keyed = j->keyed;
        p->pieces = j->pieces;
        p->n_pieces = j->n_pieces;
        wr_init(&j->out, 0); /* the buffer has a new owner */
        j->pieces = NULL;
    }
    packing_free(j);
}

/* Compresses a playlist. If that is not possible now (for example, all threads are busy), all
 * players get this playlist uncompressed. */
static err_t compress(const struct hls_file *f, struct hls_pack *p)
{
    struct packing *j = packing_new(f, p->urls);
    err_t err = NULL;

    if (j->text && f->size <= IN_PLACE)
        pack(j);
    else if (j->text)
        err = co_thread_run(CO_POOL_FILE, pack, j, packing_free, PACK_TIME);
    if (!err)
        store(p, j);
    if (err_class(err) != ERR_CLASS_STOP)
        err_free(&err);
    return err;
}

static void wake_all(struct hls_pack *p)
{
    struct hls_pack_waiter *w = p->waiters;

    p->waiters = NULL;
    while (w) {
        struct hls_pack_waiter *next = w->next;

        co_unpark(w->co);
        w = next;
    }
}

/* Waits until another coroutine has compressed it or was stopped. */
static err_t wait_packed(struct hls_pack *p)
{
    struct hls_pack_waiter w = { p->waiters, co_self() }, **at;
    enum co_wake wake;

    p->waiters = &w;
    wake = co_park(PACK_TIME);
    for (at = &p->waiters; *at && *at != &w; at = &(*at)->next)
        ;
    if (*at)
        *at = w.next;
    return wake == CO_STOPPED ? co_check() : NULL;
}

/* Returns NULL if the configuration changed a moment ago and puts keys into other URLs now. */
static struct hls_pack *pack_of(struct hls_file *f, unsigned urls)
{
    struct hls_pack **at = &f->packs[urls != 0];

    if (!*at) {
        *at = must(calloc(1, sizeof(**at)));
        (*at)->urls = urls;
    }
    return (*at)->urls == urls ? *at : NULL;
}

err_t hls_pack_get(struct hls_file *f, unsigned urls, const struct hls_pack **out)
{
    struct hls_pack *p = pack_of(f, urls);
    err_t err = NULL;

    *out = NULL;
    while (p && p->busy && !err)
        err = wait_packed(p);
    if (p && !err && !p->done) {
        p->busy = true;
        err = compress(f, p);
        p->busy = false;
        p->done = !err;
        wake_all(p);
    }
    if (p && p->size > 0)
        *out = p;
    return err;
}

void hls_pack_key(struct wr *w, const struct hls_file *f, unsigned urls, const char *key)
{
    add_key(w, f->data, f->size, urls, key);
}

void hls_pack_personal(struct wr *w, const struct hls_pack *p, const struct mpd_personal *own)
{
    struct wr texts[MPD_PLACES];

    for (size_t i = 0; i < MPD_PLACES; i++) {
        wr_init(&texts[i], OWN_MAX);
        mpd_put_own(&texts[i], i, own);
        if (texts[i].bad)
            w->bad = texts[i].bad;
    }
    http_gzip_join(w, p->data, p->pieces, p->n_pieces, texts);
    for (size_t i = 0; i < MPD_PLACES; i++)
        wr_free(&texts[i]);
}
