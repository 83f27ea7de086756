/* SPDX-License-Identifier: MIT */
/* fuzz_journal.c - any file as the journal of a stream's HLS. */
#include "sink/hls/store/journal.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Paths lead nowhere else, and a round trip of the result is identical. */
static void put_file(struct wr *w, const struct journal_file *f)
{
    assert(f->path[0] && f->path[0] != '/' && !strstr(f->path, "/../"));
    assert(strcmp(f->path, "..") != 0 && strncmp(f->path, "../", 3) != 0);
    journal_put_file(w, f);
    if (f->forgotten)
        journal_put_forget(w, f->id);
}

static void put(struct wr *w, const struct journal *j)
{
    const struct journal_names names = { j->kind, j->vhost, j->app, j->stream };

    journal_put_names(w, &names);
    for (size_t i = 0; i < j->n; i++)
        put_file(w, &j->v[i]);
    journal_put_list(w, &j->list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct journal j, again;
    struct wr w, more;

    if (!journal_read(&j, (const char *)data, size)) {
        journal_free(&j);
        return 0;
    }
    wr_init(&w, 64 << 20);
    wr_init(&more, 64 << 20);
    put(&w, &j);
    assert(!w.bad && journal_read(&again, (const char *)w.buf, w.len));
    put(&more, &again);
    assert(again.n <= j.n && more.len <= w.len);
    assert(again.n < j.n || (more.len == w.len && memcmp(more.buf, w.buf, w.len) == 0));
    wr_free(&w);
    wr_free(&more);
    journal_free(&j);
    journal_free(&again);
    return 0;
}
