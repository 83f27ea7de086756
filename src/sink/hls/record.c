/* SPDX-License-Identifier: MIT */
/* record.c - a stream's journal: what is written to it, and when it is written anew.
 *
 * Lines go to the disk with the next file, in the same job and before it: so no file is there that
 * the journal does not know. Once it is several times as long as what it says, or if it could not
 * be written, the next job replaces it by what there is now.
 */
#include "base/log.h"
#include "base/must.h"
#include "sink/hls/stream.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MIN = 128, LINES_PER_FILE = 4, WAITS_MAX = 64 << 10 };

#define AGAIN CO_SECONDS(60)

void hls_record_init(struct hls_stream *s)
{
    const char *slash = strrchr(s->m3u8_path, '/');
    int folder = slash ? (int)(slash + 1 - s->m3u8_path) : 0;

    s->record.path = must_print("%.*s.%s" HLS_JOURNAL_END, folder, s->m3u8_path,
                                s->m3u8_path + folder);
    s->record.whole = true;
    wr_init(&s->record.waits, WAITS_MAX);
}

void hls_record_fini(struct hls_stream *s)
{
    wr_free(&s->record.waits);
    free(s->record.path);
}

/* ------------------------------------------------------------ entries */

/* What of the path is below that folder: all paths of ours begin with it. */
static char *below(const char *root, const char *path)
{
    size_t n = strlen(root);

    path += strncmp(path, root, n) == 0 ? n : 0;
    return must_dup(path + strspn(path, "/"));
}

static void put_shared(const struct hls_stream *s, struct wr *w, const struct hls_shared *x)
{
    struct journal_file f = { .what = x->secret ? JOURNAL_KEY : JOURNAL_INIT, .id = x->id,
                              .track = x->track };

    f.path = below(x->secret ? s->set.key_file_path : s->set.path, x->path);
    journal_put_file(w, &f);
    free(f.path);
}

static void put_segment(const struct hls_stream *s, struct wr *w, const struct hls_segment *seg)
{
    struct journal_file f = {
        .what = JOURNAL_SEGMENT, .id = seg->id, .seq = seg->seq, .duration = seg->duration,
        .wall = seg->wall, .discontinuity = seg->discontinuity, .bytes = seg->bytes,
        .init = seg->init ? seg->init->id : 0, .key = seg->key ? seg->key->id : 0,
        .period = seg->period, .begin = (uint64_t)seg->at.begin, .lasts = seg->at.duration,
    };

    memcpy(f.iv, seg->iv, sizeof(f.iv));
    f.path = below(s->set.path, seg->path);
    journal_put_file(w, &f);
    free(f.path);
}

static struct journal_list list_of(struct hls_stream *s)
{
    return (struct journal_list){
        .first = s->list.n > 0 ? s->list.v[0]->seq : s->next_seq,
        .discontinuities = s->discontinuities, .target = s->segmenter.target,
        .available = s->segmenter.available, .now = hls_clock_now(&s->clock),
    };
}

static bool is_same(const struct journal_list *a, const struct journal_list *b)
{
    return a->first == b->first && a->discontinuities == b->discontinuities &&
           a->target == b->target && a->available == b->available;
}

static bool is_full(const struct hls_stream *s)
{
    size_t files = s->list.n + s->expired.n;

    return s->record.waits.bad || s->record.lines > LINES_MIN + files * LINES_PER_FILE;
}

void hls_record_segment(struct hls_stream *s, struct hls_segment *seg)
{
    if (seg->id > 0)
        return; /* it is written again */
    seg->id = ++s->record.ids;
    put_segment(s, &s->record.waits, seg);
    s->record.lines++;
}

void hls_record_shared(struct hls_stream *s, struct hls_shared *x)
{
    if (x->id > 0)
        return;
    x->id = ++s->record.ids;
    put_shared(s, &s->record.waits, x);
    s->record.lines++;
}

void hls_record_forget(struct hls_stream *s, uint64_t id)
{
    if (id == 0 || s->record.whole || s->keep_files || s->hls->stopping)
        return;
    journal_put_forget(&s->record.waits, id);
    s->record.lines++;
}

/* ------------------------------------------------------------ all there is */

struct entry {
    uint64_t id;
    const struct hls_segment *segment;
    const struct hls_shared *shared;
};

struct entries {
    struct entry *v;
    size_t n, cap;
};

static void add(struct entries *e, struct entry one)
{
    if (one.id == 0)
        return;
    if (e->n == e->cap) {
        e->cap = e->cap ? e->cap * 2 : 32;
        e->v = must(realloc(e->v, e->cap * sizeof(e->v[0])));
    }
    e->v[e->n++] = one;
}

static void add_shared(struct entries *e, const struct hls_shared *x)
{
    if (x)
        add(e, (struct entry){ .id = x->id, .shared = x });
}

static void add_segments(struct entries *e, const struct hls_segments *q)
{
    for (size_t i = 0; i < q->n; i++) {
        add_shared(e, q->v[i]->init);
        add_shared(e, q->v[i]->key);
        add(e, (struct entry){ .id = q->v[i]->id, .segment = q->v[i] });
    }
}

static int by_id(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

/* And one that nobody has yet. */
static void put_all(struct hls_stream *s, struct wr *w, const struct hls_shared *new)
{
    struct journal_names names = { s->kind->name, s->key->vhost, s->key->app, s->key->name };
    struct entries e = { 0 };

    add_segments(&e, &s->expired);
    add_segments(&e, &s->list);
    if (s->now) /* it may have a key or a first fragment */
        add_segments(&e, &(struct hls_segments){ .v = &s->now, .n = 1 });
    add_shared(&e, new);
    add_shared(&e, s->init);
    add_shared(&e, s->last_init);
    add_shared(&e, s->crypt.key);
    add_shared(&e, s->track_init[0]);
    add_shared(&e, s->track_init[1]);
    if (e.n > 0)
        qsort(e.v, e.n, sizeof(e.v[0]), by_id);
    journal_put_names(w, &names);
    for (size_t i = 0; i < e.n; i++) {
        if (i > 0 && e.v[i].id == e.v[i - 1].id)
            continue;
        if (e.v[i].segment)
            put_segment(s, w, e.v[i].segment);
        else
            put_shared(s, w, e.v[i].shared);
        s->record.lines++;
    }
    free(e.v);
}

/* ------------------------------------------------------------ to the disk */

struct hls_lines hls_record_take(struct hls_stream *s, const struct hls_shared *new)
{
    struct hls_record *r = &s->record;
    struct journal_list list = list_of(s);
    struct hls_lines lines = { .whole = r->whole || is_full(s) };

    if (lines.whole) {
        wr_free(&r->waits);
        wr_init(&r->waits, JOURNAL_MAX);
        r->lines = 0;
        put_all(s, &r->waits, new);
    }
    if (lines.whole || !is_same(&list, &r->list)) {
        journal_put_list(&r->waits, &list);
        r->lines++;
    }
    r->list = list;
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

void hls_record_done(struct hls_stream *s, const struct hls_lines *lines)
{
    if (lines->error == 0)
        return;
    s->record.whole = true;
    if (s->record.logged_at && co_now() - s->record.logged_at < AGAIN)
        return;
    s->record.logged_at = co_now();
    log_warn("%s: cannot write its journal %s: %s; should the server crash, files stay",
             s->name, s->record.path, strerror(lines->error));
}
