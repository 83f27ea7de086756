/* SPDX-License-Identifier: MIT */
/* recover.c - continues with the files of an earlier process, according to its journal.
 *
 * The complete segments at the end of its playlist begin the new playlist. Segments listed earlier
 * stay for a while, since players may still fetch them; all others are removed. Files that the
 * journal does not name are left untouched.
 */
#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"
#include "sink/hls/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CLOCK_SLACK = 5000 };

/* Runs on a helper thread, so it has copies of everything that it needs. */
struct reading {
    struct disk_job job; /* for the errors of disk_read_file() */
    char *path, *list_path, *root, *key_root;
    struct journal journal;
    bool is_journal, has_list;
    time_t age;          /* seconds since the journal was written */
};

static bool is_there(const struct reading *r, const struct journal_file *f)
{
    char *path = must_print("%s/%s", f->what == JOURNAL_KEY ? r->key_root : r->root, f->path);
    bool there = access(path, F_OK) == 0;

    free(path);
    return there;
}

static void run(void *arg)
{
    struct reading *r = arg;
    struct journal *j = &r->journal;
    struct stat st;
    size_t size;
    char *text = disk_read_file(&r->job, r->path, JOURNAL_MAX, &size);

    r->is_journal = text && journal_read(j, text, size);
    free(text);
    for (size_t i = 0; i < j->n && r->is_journal; i++)
        j->v[i].there = !j->v[i].forgotten && is_there(r, &j->v[i]);
    if (stat(r->path, &st) == 0)
        r->age = time(NULL) - st.st_mtime;
    r->has_list = access(r->list_path, F_OK) == 0;
}

static void drop(void *arg)
{
    struct reading *r = arg;

    journal_free(&r->journal);
    free(r->path);
    free(r->list_path);
    free(r->root);
    free(r->key_root);
    free(r);
}

static struct reading *new_reading(const struct hls_stream *s)
{
    struct reading *r = must(calloc(1, sizeof(*r)));

    r->path = must_dup(s->store.record.path);
    r->list_path = must_dup(s->info.m3u8_path);
    r->root = must_dup(s->info.set.path);
    r->key_root = must_dup(s->info.set.key_file_path);
    return r;
}

static bool is_of(const struct journal *j, const struct hls_stream *s)
{
    const struct stream_key *key = s->info.key;

    return strcmp(j->kind, s->info.format->name) == 0 && strcmp(j->vhost, key->vhost) == 0 &&
           strcmp(j->app, key->app) == 0 && strcmp(j->stream, key->name) == 0;
}

/* ------------------------------------------------------------ files */

/* Files taken from the journal, by id. */
struct taking {
    struct journal *j;
    struct hls_shared **shared;   /* one per file; NULL for segments */
    struct hls_segments segments; /* by number */
};

static struct hls_shared *shared_of(const struct taking *t, uint64_t id)
{
    const struct journal_file *f = id ? journal_find(t->j, id) : NULL;

    return f ? hls_shared_ref(t->shared[f - t->j->v]) : NULL;
}

static struct hls_shared *take_shared(struct hls_stream *s, const struct journal_file *f)
{
    bool key = f->what == JOURNAL_KEY;
    const char *root = key ? s->info.set.key_file_path : s->info.set.path;
    struct hls_shared *x = hls_shared_at(&s->store, must_print("%s/%s", root, f->path), key);

    hls_record_known(&s->store, &x->entry, f->id);
    x->on_disk = f->there;
    x->track = f->track;
    s->store.other_inits |= !key;
    return x;
}

static struct hls_segment *take_segment(struct hls_stream *s, const struct taking *t,
                                        const struct journal_file *f)
{
    struct hls_segment *seg = must(calloc(1, sizeof(*seg)));

    seg->entry.is_segment = true;
    hls_record_known(&s->store, &seg->entry, f->id);
    seg->seq = f->seq;
    seg->duration = f->duration;
    seg->wall = f->wall;
    seg->discontinuity = f->discontinuity;
    seg->on_disk = f->there;
    seg->bytes = f->bytes;
    seg->period = f->period;
    seg->at = (struct mp4_extent){ .begin = (int64_t)f->begin, .duration = f->lasts };
    seg->path = must_print("%s/%s", s->info.set.path, f->path);
    seg->uri = hls_uri(&s->info, seg->path);
    memcpy(seg->iv, f->iv, sizeof(seg->iv));
    seg->init = shared_of(t, f->init);
    seg->key = shared_of(t, f->key);
    if (seg->init)
        hls_segment_measure(seg);
    return seg;
}

static int by_number(const void *a, const void *b)
{
    const struct hls_segment *x = *(struct hls_segment *const *)a;
    const struct hls_segment *y = *(struct hls_segment *const *)b;

    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return x->entry.id < y->entry.id ? -1 : x->entry.id > y->entry.id;
}

static struct taking take_files(struct hls_stream *s, struct journal *j)
{
    struct taking t = { .j = j, .shared = must(calloc(j->n + 1, sizeof(t.shared[0]))) };

    for (size_t i = 0; i < j->n; i++) {
        const struct journal_file *f = &j->v[i];

        s->store.record.ids = f->id;
        if (!f->forgotten && f->what == JOURNAL_SEGMENT)
            hls_push(&t.segments, take_segment(s, &t, f));
        else if (!f->forgotten)
            t.shared[i] = take_shared(s, f);
    }
    if (t.segments.n > 0)
        qsort(t.segments.v, t.segments.n, sizeof(t.segments.v[0]), by_number);
    return t;
}

/* ------------------------------------------------------------ the list */

/* Segments from..to are in the list. */
struct range {
    size_t from, to;
};

/* Returns true if the segment has the current format and is complete on disk with its key and
 * initialization. */
static bool is_whole(const struct hls_stream *s, const struct hls_segment *seg,
                     const struct journal_list *list)
{
    if (s->info.format->periods && (seg->period < list->available || list->available == 0 ||
                             !seg->init || seg->init->track.timescale == 0))
        return false;
    return seg->on_disk && (seg->init != NULL) == s->info.container->inits &&
           (!seg->init || seg->init->on_disk) && (!seg->key || seg->key->on_disk);
}

/* With one file per track, two of them have the same number. */
static bool follows(const struct hls_stream *s, const struct hls_segment *a,
                    const struct hls_segment *b)
{
    return b->seq - a->seq == 1 || (b->seq == a->seq && s->info.format->periods);
}

static struct range listed(const struct hls_stream *s, const struct hls_segments *q,
                           const struct journal_list *list)
{
    struct range r = { .to = q->n };

    while (r.to > 0 && !q->v[r.to - 1]->on_disk) /* it was being written */
        r.to--;
    r.from = r.to;
    if (r.to > 0 && q->v[r.to - 1]->seq + 1 < s->mux.next_seq)
        return r; /* older than the known ones */
    while (r.from > 0 && q->v[r.from - 1]->seq >= list->first &&
           is_whole(s, q->v[r.from - 1], list) &&
           (r.from == r.to || follows(s, q->v[r.from - 1], q->v[r.from])))
        r.from--;
    return r;
}

/* With periods, times in files are wall clock times; returns true if they are in the future. */
static bool is_ahead(struct hls_stream *s, const struct journal_list *list)
{
    int64_t by = list->now - hls_clock_now(&s->info.clock);

    if (!s->info.format->periods || by <= CLOCK_SLACK)
        return false;
    log_warn("%s: the previous playlist is %lld s ahead of the clock, which was set back; a new "
             "one begins",
             s->info.m3u8_path, (long long)by / 1000);
    return true;
}

/* Handles a segment that is not in the list. It stays for a while if players may have it in an
 * older playlist. */
static void leave(struct hls_stream *s, struct hls_segment *seg, uint64_t first)
{
    if (seg->on_disk && seg->seq >= first) {
        s->list.discontinuities += seg->discontinuity;
        hls_push(&s->list.expired, seg);
        return;
    }
    if (!seg->on_disk) {
        char *tmp = must_print("%s.tmp", seg->path);

        hls_disk_remove(&s->store, tmp);
        free(tmp);
        if (s->info.set.cleanup || s->info.disposing)
            hls_disk_remove(&s->store, seg->path); /* the file may exist in spite of that */
    }
    hls_segment_remove(&s->store, seg);
}

static void set_segmenter(struct hls_stream *s, const struct journal_list *list)
{
    struct segmenter *g = &s->mux.segmenter;

    g->promised = s->list.q.n > 0;
    g->target = s->list.q.n > 0 ? list->target : 0;
    g->available = list->available;
    for (size_t i = 0; i < s->list.q.n; i++) {
        const struct hls_segment *seg = s->list.q.v[i];

        if (seg->wall + av_to_ms(seg->duration) > g->over)
            g->over = seg->wall + av_to_ms(seg->duration);
        if (seg->duration > g->longest)
            g->longest = seg->duration;
    }
    if (s->list.q.n > 0 && s->info.set.fragment >= CO_MS(1)) /* hls_ts_floor: its name is in use */
        g->floor_name = s->list.q.v[s->list.q.n - 1]->wall / us_to_ms(s->info.set.fragment);
}

static void take(struct hls_stream *s, struct journal *j)
{
    struct taking t = take_files(s, j);
    struct journal_list list = j->list;
    struct range r = listed(s, &t.segments, &list);
    uint64_t next = r.to > 0 ? t.segments.v[r.to - 1]->seq + 1 : list.first;

    if (is_ahead(s, &list)) {
        r.from = r.to;
        list.available = 0;
    }
    s->mux.next_seq = next > s->mux.next_seq ? next : s->mux.next_seq;
    s->list.discontinuities = list.discontinuities;
    for (size_t i = 0; i < t.segments.n; i++) {
        if (i >= r.from && i < r.to)
            hls_push(&s->list.q, t.segments.v[i]);
        else
            leave(s, t.segments.v[i], list.first);
    }
    set_segmenter(s, &list);
    for (size_t i = 0; i < j->n; i++)
        hls_shared_unref(&s->store, t.shared[i]);
    free(t.shared);
    free(t.segments.v);
}

/* ------------------------------------------------------------ recovery */

/* Returns false if a publisher came while the journal was read: its stream continues with it. */
static bool is_alone(const struct hls_stream *s)
{
    const struct session_stream names = { .vhost = s->info.key->vhost, .app = s->info.key->app,
                                          .name = s->info.key->name };
    const struct hls_stream *other = hls_stream_find(s->info.hls, &names, s->info.format);

    return !other || other == s;
}

static void log_unknown(const struct hls_stream *s, const struct reading *r)
{
    if (r->job.error == EPERM)
        log_warn("%s: the journal %s is ignored, because another user may have written it",
                 s->info.name, s->store.record.path);
    if (r->has_list)
        log_trace("%s: no journal describes the existing playlist: a new one begins, the old files "
                  "remain",
                  s->info.m3u8_path);
}

bool hls_recover_list(struct hls_stream *s, co_usec silence)
{
    struct reading *r = new_reading(s);
    err_t err = co_thread_run(CO_POOL_FILE, run, r, drop, CO_SECONDS(10));
    bool ours, found;

    if (err) {
        log_end("HLS, DASH: cannot read the files of an earlier process, a new list begins", &err);
        return false;
    }
    ours = r->is_journal && is_of(&r->journal, s);
    s->store.begun |= ours;
    found = ours && is_alone(s) && (silence == 0 || r->age >= (time_t)us_to_s(silence));
    if (found)
        take(s, &r->journal);
    else if (!ours)
        log_unknown(s, r);
    s->mux.segmenter.discontinuity = s->mux.next_seq > 0;
    drop(r);
    return found;
}

void hls_recover(struct hls_stream *s)
{
    bool found = hls_recover_list(s, 0);

    if (found)
        log_trace("%s continues at segment %llu, with %zu previous segments", s->info.name,
                  (unsigned long long)s->mux.next_seq, s->list.q.n);
}
