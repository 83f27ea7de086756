/* SPDX-License-Identifier: MIT */
/* record.c - writes a stream's journal.
 *
 * Lines are written in the same job as the next file and before it, so the journal knows every file
 * on disk. When the journal is several times longer than its content, or if a write failed, the
 * next job replaces it by the current state.
 */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "sink/hls/format.h"
#include "sink/hls/store/store.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MIN = 128, LINES_PER_FILE = 4, WAITS_MAX = 64 << 10 };

#define AGAIN CO_SECONDS(60)

void hls_record_init(struct hls_store *s)
{
    const char *slash = strrchr(s->info->m3u8_path, '/');
    int folder = slash ? (int)(slash + 1 - s->info->m3u8_path) : 0;

    s->record.path = must_print("%.*s.%s" HLS_JOURNAL_END, folder, s->info->m3u8_path,
                                s->info->m3u8_path + folder);
    s->record.whole = true;
    s->record.end = &s->record.first;
    wr_init(&s->record.waits, WAITS_MAX);
}

void hls_record_fini(struct hls_store *s)
{
    wr_free(&s->record.waits);
    free(s->record.path);
}

/* ------------------------------------------------------------ entries */

/* Returns the path relative to that folder, with which all paths begin. */
static char *below(const char *root, const char *path)
{
    size_t n = strlen(root);

    path += strncmp(path, root, n) == 0 ? n : 0;
    return must_dup(path + strspn(path, "/"));
}

static void put_shared(const struct hls_store *s, struct wr *w, const struct hls_shared *x)
{
    struct journal_file f = { .what = x->secret ? JOURNAL_KEY : JOURNAL_INIT, .id = x->entry.id,
                              .track = x->track };

    f.path = below(x->secret ? s->info->set.key_file_path : s->info->set.path, x->path);
    journal_put_file(w, &f);
    free(f.path);
}

static void put_segment(const struct hls_store *s, struct wr *w, const struct hls_segment *seg)
{
    struct journal_file f = {
        .what = JOURNAL_SEGMENT, .id = seg->entry.id, .seq = seg->seq, .duration = seg->duration,
        .wall = seg->wall, .discontinuity = seg->discontinuity, .bytes = seg->bytes,
        .init = seg->init ? seg->init->entry.id : 0, .key = seg->key ? seg->key->entry.id : 0,
        .period = seg->period, .begin = (uint64_t)seg->at.begin, .lasts = seg->at.duration,
    };

    memcpy(f.iv, seg->iv, sizeof(f.iv));
    f.path = below(s->info->set.path, seg->path);
    journal_put_file(w, &f);
    free(f.path);
}

static bool is_same(const struct journal_list *a, const struct journal_list *b)
{
    return a->first == b->first && a->discontinuities == b->discontinuities &&
           a->target == b->target && a->available == b->available;
}

static bool is_full(const struct hls_store *s)
{
    return s->record.waits.bad || s->record.lines > LINES_MIN + s->record.n * LINES_PER_FILE;
}

void hls_record_known(struct hls_store *s, struct hls_entry *e, uint64_t id)
{
    e->id = id;
    e->at = s->record.end;
    *e->at = e;
    s->record.end = &e->next;
    s->record.n++;
}

static void leave(struct hls_record *r, struct hls_entry *e)
{
    *e->at = e->next;
    *(e->next ? &e->next->at : &r->end) = e->at;
    *e = (struct hls_entry){ 0 };
    r->n--;
}

void hls_record_segment(struct hls_store *s, struct hls_segment *seg)
{
    if (seg->entry.id > 0)
        return; /* the journal will be replaced */
    seg->entry.is_segment = true;
    hls_record_known(s, &seg->entry, ++s->record.ids);
    put_segment(s, &s->record.waits, seg);
    s->record.lines++;
}

void hls_record_shared(struct hls_store *s, struct hls_shared *x)
{
    if (x->entry.id > 0)
        return;
    hls_record_known(s, &x->entry, ++s->record.ids);
    put_shared(s, &s->record.waits, x);
    s->record.lines++;
}

void hls_record_forget(struct hls_store *s, struct hls_entry *e)
{
    uint64_t id = e->id;

    if (id == 0)
        return;
    leave(&s->record, e);
    if (s->record.whole || s->info->keep_files || s->info->hls->stopping)
        return;
    journal_put_forget(&s->record.waits, id);
    s->record.lines++;
}

static void put_all(struct hls_store *s, struct wr *w)
{
    const struct stream_key *key = s->info->key;
    struct journal_names names = { s->info->format->name, key->vhost, key->app, key->name };

    journal_put_names(w, &names);
    for (struct hls_entry *e = s->record.first; e; e = e->next) {
        if (e->is_segment)
            put_segment(s, w, container_of(e, struct hls_segment, entry));
        else
            put_shared(s, w, container_of(e, struct hls_shared, entry));
    }
    s->record.lines = s->record.n;
}

/* ------------------------------------------------------------ writing */

struct hls_lines hls_record_take(struct hls_store *s)
{
    struct hls_record *r = &s->record;
    struct hls_lines lines = { .whole = r->whole || is_full(s) };

    if (lines.whole) {
        wr_free(&r->waits);
        wr_init(&r->waits, JOURNAL_MAX);
        put_all(s, &r->waits);
    }
    r->now.now = hls_clock_now(&s->info->clock);
    if (lines.whole || !is_same(&r->now, &r->list)) {
        journal_put_list(&r->waits, &r->now);
        r->lines++;
    }
    r->list = r->now;
    r->whole = r->waits.bad;
    if (!r->waits.bad && r->waits.len > 0) {
        wr_fit(&r->waits);
        lines.text = (char *)r->waits.buf;
        lines.size = r->waits.len;
        lines.path = must_dup(r->path);
        wr_init(&r->waits, WAITS_MAX);
    }
    return lines;
}

void hls_record_done(struct hls_store *s, const struct hls_lines *lines)
{
    if (lines->error == 0)
        return;
    s->record.whole = true;
    if (s->record.logged_at && co_now() - s->record.logged_at < AGAIN)
        return;
    s->record.logged_at = co_now();
    log_warn(
        "%s: cannot write its journal %s: %s; after a crash of the server its files will remain",
        s->info->name, s->record.path, strerror(lines->error));
}
