/* SPDX-License-Identifier: MIT */
/* hls_recover.c - go on with the playlist that an earlier process left on disk. */
#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"
#include "sink/hls_stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST_MAX = 4 << 20, SEGMENTS_MAX = 100000 };

/* Reads the list, and asks which of its files are there. Copies of all it needs. */
struct reading {
    struct disk_job job; /* for the errors of disk_read_file() */
    char *path, *text;
    size_t size;
};

static void run(void *arg)
{
    struct reading *r = arg;

    r->text = disk_read_file(&r->job, r->path, LIST_MAX, &r->size);
}

static void drop(void *arg)
{
    struct reading *r = arg;

    free(r->path);
    free(r->text);
    free(r);
}

/* The path of what the list calls `uri`: the way back from hls_uri(). NULL: it is not ours. */
static char *path_of(const struct hls_stream *s, const char *uri)
{
    const char *prefix = s->set->entry_prefix, *base = s->m3u8_path, *slash;
    size_t n = strlen(prefix);
    char *path;
    int folder;

    if (strstr(uri, "..") || strchr(uri, '?'))
        return NULL;
    if (n > 0) {
        if (strncmp(uri, prefix, n) != 0)
            return NULL;
        uri += n;
        uri += strspn(uri, "/");
        base = s->set->path;
        folder = (int)strlen(base);
    } else {
        slash = strrchr(base, '/');
        folder = slash ? (int)(slash - base) : 0;
    }
    if (strstr(uri, "://") || uri[0] == '/' || asprintf(&path, "%.*s/%s", folder, base, uri) < 0)
        return NULL;
    return path;
}

/* Segments after one another share their initialization and key. */
static struct hls_shared *shared(struct hls_stream *s, struct hls_shared *last,
                                 struct m3u8_text uri, bool with_path)
{
    struct hls_shared *x;

    if (!uri.p)
        return NULL;
    if (last && strlen(last->uri) == uri.n && memcmp(last->uri, uri.p, uri.n) == 0)
        return hls_shared_ref(last);
    x = calloc(1, sizeof(*x));
    if (!x)
        abort();
    ref_init(&x->ref);
    x->uri = must_ndup(uri.p, uri.n);
    x->path = with_path ? path_of(s, x->uri) : NULL;
    x->on_disk = true;
    return x;
}

static struct hls_segment *segment(struct hls_stream *s, struct m3u8_reader *r, uint64_t seq)
{
    struct hls_segment *seg = calloc(1, sizeof(*seg));
    struct hls_segment *last = s->list.n > 0 ? s->list.v[s->list.n - 1] : NULL;

    if (!seg)
        abort();
    seg->seq = seq;
    seg->duration = r->segment.duration;
    seg->wall = r->segment.wall;
    seg->discontinuity = r->segment.discontinuity;
    seg->on_disk = !r->segment.gap;
    seg->uri = must_ndup(r->uri.p, r->uri.n);
    seg->path = path_of(s, seg->uri);
    memcpy(seg->iv, r->segment.iv, sizeof(seg->iv));
    seg->init = shared(s, last ? last->init : NULL, r->map, true);
    seg->key = shared(s, last ? last->key : NULL, r->key, false);
    return seg;
}

static void take_list(struct hls_stream *s, const char *text, size_t size)
{
    struct m3u8_reader r;
    uint64_t seq = 0;
    bool fits = true, first = true;
    err_t err = m3u8_open(&r, text, size);

    while (!err && s->list.n < SEGMENTS_MAX && m3u8_next(&r)) {
        struct hls_segment *seg;

        if (first)
            seq = r.list.sequence;
        first = false;
        seg = segment(s, &r, seq++);
        fits &= seg->path && (seg->init != NULL) == s->fmp4;
        hls_push(&s->list, seg);
    }
    err_free(&err);
    fits &= seq >= s->next_seq; /* else it is older than what we know of */
    s->next_seq = seq > s->next_seq ? seq : s->next_seq;
    s->discontinuities = r.list.discontinuities;
    s->target = r.list.target;
    s->other_inits = s->list.n > 0;
    if (fits)
        return;
    while (s->list.n > 0) /* of another kind, or not ours: only the numbers go on */
        hls_segment_free(s, hls_pop(&s->list));
    s->target = 0;
}

void hls_recover(struct hls_stream *s)
{
    struct reading *r = calloc(1, sizeof(*r));
    err_t err;

    if (!r)
        abort();
    r->path = must_dup(s->m3u8_path);
    err = co_thread_run(CO_POOL_FILE, run, r, drop, CO_SECONDS(10));
    if (err) {
        log_end("HLS: the list of before is not read, a new one begins", &err);
        return;
    }
    if (r->text)
        take_list(s, r->text, r->size);
    if (s->next_seq > 0)
        log_trace("HLS of %s/%s goes on at segment %llu, with %zu of before", s->app, s->stream,
                  (unsigned long long)s->next_seq, s->list.n);
    s->discontinuity = s->next_seq > 0;
    drop(r);
}
