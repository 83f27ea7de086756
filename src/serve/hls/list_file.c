/* SPDX-License-Identifier: MIT */
/* list_file.c - lists that are on disk alone, of streams that are over or of an earlier process.
 *
 * The last ones that were asked for stay in memory, so that all players of one share its bytes and
 * its compressed form. A file that changed is another one.
 */
#include "base/mem.h"
#include "co/os/file.h"
#include "serve/hls/answer.h"
#include "serve/hls/pack.h"
#include "sink/hls/worker.h"

enum { KEPT_MOST = 512 * 1024 /* bytes of one that stays */ };

static struct hls_file *find(struct hls *h, const struct co_file *f)
{
    for (size_t i = 0; i < HLS_LIST_FILES; i++) {
        const struct hls_list_file *o = &h->sessions->lists[i];

        if (o->file && o->inode == f->inode && o->device == f->device &&
            o->mtime_ns == f->mtime_ns && o->file->size == (size_t)f->size)
            return hls_file_ref(o->file);
    }
    return NULL;
}

static void keep(struct hls *h, const struct co_file *f, struct hls_file *file)
{
    struct hls_list_file *o = &h->sessions->lists[h->sessions->next_list++ % HLS_LIST_FILES];

    (void)hls_file_unref(o->file);
    *o = (struct hls_list_file){ hls_file_ref(file), f->device, f->inode, f->mtime_ns };
}

static err_t read_list(struct hls_answer *a, const struct co_file *f)
{
    struct wr w;
    err_t err = NULL;

    wr_init(&w, HLS_LIST_MOST);
    if (f->size > 0) {
        err = co_file_read(f, 0, wr_reserve(&w, (size_t)f->size), (size_t)f->size);
        w.len = (size_t)f->size;
    }
    if (!err) {
        a->file = hls_file_new(a->h, &w, http_type_of(a->below));
        a->file->playlist = true;
        if (f->size <= KEPT_MOST)
            keep(a->h, f, a->file);
    }
    wr_free(&w);
    return err;
}

err_t hls_answer_read(struct hls_answer *a)
{
    struct co_file f = { .fd = -1 };
    err_t err = co_file_open(&f, a->folder, a->below);

    if (!err && (f.is_folder || f.size > HLS_LIST_MOST))
        err = err_new(ERR_NO_FILE, "no list of %d bytes at most", HLS_LIST_MOST);
    if (!err)
        a->file = find(a->h, &f);
    if (!err && !a->file)
        err = read_list(a, &f);
    co_file_close(&f);
    return err;
}
