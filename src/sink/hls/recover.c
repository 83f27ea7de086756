/* SPDX-License-Identifier: MIT */
/* recover.c - go on with the playlist that an earlier process left on disk. */
#include "base/log.h"
#include "base/must.h"
#include "co/thread.h"
#include "sink/hls/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST_MAX = 4 << 20, SEGMENTS_MAX = 100000, LEFTOVERS = 8, LEFTOVERS_MAX = 1000 };

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
    const char *prefix = s->set.entry_prefix, *base = s->m3u8_path, *slash;
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
        base = s->set.path;
        folder = (int)strlen(base);
    } else {
        slash = strrchr(base, '/');
        folder = slash ? (int)(slash - base) : 0;
    }
    if (strstr(uri, "://") || uri[0] == '/' || asprintf(&path, "%.*s/%s", folder, base, uri) < 0)
        return NULL;
    return path;
}

/* The way back from the url of a key. NULL: it is not one of ours, and nothing removes it. */
static char *key_path_of(const struct hls_stream *s, const char *uri)
{
    const char *base = s->set.key_url, *root = s->set.key_file_path;
    size_t n = strcspn(base, "?"), size = strcspn(uri, "?");

    if (strstr(uri, ".."))
        return NULL;
    if (!*base || strcmp(base, s->set.path) == 0)
        return path_of(s, uri);
    if (strncmp(uri, base, n) != 0 || size < n)
        return NULL;
    n += strspn(uri + n, "/");
    return must_print("%s/%.*s", root, (int)(size - n), uri + n);
}

/* Segments after one another share their initialization and key. */
static struct hls_shared *shared(struct hls_stream *s, struct hls_shared *last,
                                 struct m3u8_text uri, bool key)
{
    struct hls_shared *x;

    if (!uri.p)
        return NULL;
    if (last && strlen(last->uri) == uri.n && memcmp(last->uri, uri.p, uri.n) == 0)
        return hls_shared_ref(last);
    x = must(calloc(1, sizeof(*x)));
    ref_init(&x->ref);
    x->uri = must_ndup(uri.p, uri.n);
    x->path = key ? key_path_of(s, x->uri) : path_of(s, x->uri);
    x->on_disk = true;
    return x;
}

static struct hls_segment *segment(struct hls_stream *s, struct m3u8_reader *r, uint64_t seq)
{
    struct hls_segment *seg = must(calloc(1, sizeof(*seg)));
    struct hls_segment *last = s->list.n > 0 ? s->list.v[s->list.n - 1] : NULL;

    seg->seq = seq;
    seg->duration = r->segment.duration;
    seg->wall = r->segment.wall;
    seg->discontinuity = r->segment.discontinuity;
    seg->on_disk = !r->segment.gap;
    seg->uri = must_ndup(r->uri.p, r->uri.n);
    seg->path = path_of(s, seg->uri);
    memcpy(seg->iv, r->segment.iv, sizeof(seg->iv));
    seg->init = shared(s, last ? last->init : NULL, r->map, false);
    seg->key = shared(s, last ? last->key : NULL, r->key, true);
    return seg;
}

static bool take_list(struct hls_stream *s, const char *text, size_t size)
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
        fits &= seg->path && (seg->init != NULL) == s->container->inits;
        hls_push(&s->list, seg);
    }
    err_free(&err);
    fits &= seq >= s->next_seq; /* else it is older than what we know of */
    s->next_seq = seq > s->next_seq ? seq : s->next_seq;
    s->discontinuities = r.list.discontinuities;
    s->segmenter.target = r.list.target;
    if (s->list.n > 0 && s->set.fragment >= 1000) /* hls_ts_floor: its name is taken */
        s->segmenter.floor_name = s->list.v[s->list.n - 1]->wall / (s->set.fragment / 1000);
    s->other_inits = s->list.n > 0;
    if (fits)
        return !r.over;
    while (s->list.n > 0) /* of another kind, or not ours: only the numbers go on */
        hls_segment_free(s, hls_pop(&s->list));
    s->segmenter.target = 0;
    return false;
}

/* ------------------------------------------------------------ what left the list */

static bool is_key_of_list(const struct hls_stream *s, const char *path)
{
    for (size_t i = 0; i < s->list.n; i++) {
        const struct hls_shared *key = s->list.v[i]->key;

        if (key && key->path && strcmp(key->path, path) == 0)
            return true;
    }
    return false;
}

bool hls_list_is_ours(const struct hls_stream *s)
{
    const char *text = s->container->file(&s->set);

    for (size_t i = 0; i < s->list.n; i++) {
        const struct hls_segment *seg = s->list.v[i];

        if (!hls_name_is(s, s->set.path, text, seg->seq, seg->path))
            return false;
    }
    return s->list.n > 0;
}

static void remove_number(struct hls_stream *s, const char *folder, const char *text, uint64_t seq,
                          const char *behind)
{
    char path[HLS_NAME_MAX];
    err_t err;

    if (!hls_name_is_number(text))
        return;
    err = hls_name(s, folder, text, seq, 0, path, sizeof(path) - strlen(behind));
    if (!err && !is_key_of_list(s, path)) {
        memcpy(path + strlen(path), behind, strlen(behind) + 1);
        hls_disk_remove(s, path);
    }
    err_free(&err);
}

static void remove_numbers(struct hls_stream *s, uint64_t from, uint64_t to, const char *behind)
{
    for (; from < to; from++) {
        remove_number(s, s->set.path, s->container->file(&s->set), from, behind);
        if (s->set.keys)
            remove_number(s, s->set.key_file_path, s->set.key_file, from, behind);
    }
}

void hls_remove_leftovers(struct hls_stream *s)
{
    uint64_t first, before = (s->list.n < LEFTOVERS_MAX ? s->list.n : LEFTOVERS_MAX) + LEFTOVERS;

    if ((!s->set.cleanup && !s->disposing) || !hls_list_is_ours(s))
        return;
    first = s->list.v[0]->seq;
    remove_numbers(s, first > before ? first - before : 0, first, "");
    remove_numbers(s, s->next_seq, s->next_seq + LEFTOVERS, "");
    remove_numbers(s, s->next_seq, s->next_seq + LEFTOVERS, ".tmp");
}

bool hls_recover_list(struct hls_stream *s)
{
    struct reading *r = must(calloc(1, sizeof(*r)));
    bool goes_on = false;
    err_t err;

    r->path = must_dup(s->m3u8_path);
    err = co_thread_run(CO_POOL_FILE, run, r, drop, CO_SECONDS(10));
    if (err) {
        log_end("HLS: the list of before is not read, a new one begins", &err);
        return false;
    }
    if (r->text)
        goes_on = take_list(s, r->text, r->size);
    s->segmenter.discontinuity = s->next_seq > 0;
    s->segmenter.promised = s->list.n > 0;
    drop(r);
    return goes_on;
}

void hls_recover(struct hls_stream *s)
{
    (void)hls_recover_list(s);
    if (s->next_seq > 0)
        log_trace("HLS of %s/%s goes on at segment %llu, with %zu of before", s->app, s->stream,
                  (unsigned long long)s->next_seq, s->list.n);
    hls_remove_leftovers(s);
}
