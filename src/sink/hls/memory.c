/* SPDX-License-Identifier: MIT */
/* memory.c - files in memory, found by their path; and the players that wait for one. */
#include "sink/hls/stream.h"
#include "sink/hls/owner.h"

#include "base/must.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, WORKER = 56 /* bits of an entity tag that others do not reach */ };

struct hls_name {
    struct hls_name *next;
    struct hls_file *file;     /* NULL: it is still to come */
    struct hls_stream *stream; /* whose file it is */
    char path[];
};

struct hls_names {
    struct hls_name *buckets[BUCKETS];
};

struct hls_waiter { /* on the stack of the coroutine that waits */
    struct hls_waiter *next;
    struct co *co;
};

struct hls_names *hls_names_new(void)
{
    struct hls_names *n = must(calloc(1, sizeof(*n)));

    return n;
}

void hls_names_free(struct hls_names *n)
{
    free(n);
}

static struct hls_file *new_file(struct hls *h, const char *type)
{
    struct hls_file *f = must(calloc(1, sizeof(*f)));

    ref_init(&f->ref);
    f->type = type;
    f->modified = co_wall_ms();
    f->etag = ++h->etags + (uint64_t)f->modified * 1000 + ((uint64_t)h->env->worker << WORKER);
    return f;
}

struct hls_file *hls_file_new(struct hls *h, struct wr *take, const char *type)
{
    struct hls_file *f = new_file(h, type);

    wr_fit(take);
    f->size = take->len;
    f->data = take->buf;
    wr_init(take, take->limit);
    return f;
}

struct hls_file *hls_file_of(struct hls *h, struct blocks *take, const char *type)
{
    struct hls_file *f = new_file(h, type);

    blocks_fit(take);
    f->size = blocks_len(take);
    f->blocks = blocks_take(take);
    f->shop = shop_ref(h->shop);
    return f;
}

struct hls_file *hls_file_ref(struct hls_file *f)
{
    ref_get(&f->ref);
    return f;
}

static void free_packs(struct hls_file *f)
{
    for (size_t i = 0; i < sizeof(f->packs) / sizeof(f->packs[0]); i++) {
        if (f->packs[i]) {
            free(f->packs[i]->data);
            free(f->packs[i]->pieces);
        }
        free(f->packs[i]);
    }
}

struct hls_file *hls_file_unref(struct hls_file *f)
{
    if (f && ref_put(&f->ref)) {
        if (f->shop)
            shop_free_blocks(f->shop, &f->blocks);
        (void)shop_unref(f->shop);
        free(f->data);
        free_packs(f);
        free(f);
    }
    return NULL;
}

/* "./a//b/./c" is "a/b/c": the same file by whatever name. */
static void normalize(char *to, size_t size, const char *path)
{
    size_t n = 0;

    while (*path && n + 1 < size) {
        bool begin = n == 0 || to[n - 1] == '/';

        if (begin && path[0] == '.' && path[1] == '/')
            path += 2;
        else if (begin && n > 0 && *path == '/')
            path++;
        else
            to[n++] = *path++;
    }
    to[n] = '\0';
}

static struct hls_name **place(struct hls *h, const char *path)
{
    struct hls_name **at = &h->names->buckets[text_hash(path) % BUCKETS];

    while (*at && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    return at;
}

void hls_names_set(struct hls *h, const char *path, struct hls_file *f, struct hls_stream *s)
{
    char normal[HLS_NAME_MAX];
    struct hls_name **at, *n;
    size_t size;

    normalize(normal, sizeof(normal), path);
    at = place(h, normal);
    if (!*at) {
        size = strlen(normal) + 1;
        n = must(calloc(1, sizeof(*n) + size));
        memcpy(n->path, normal, size);
        *at = n;
        hls_owner_set(h->env, normal);
    }
    n = *at;
    if (f)
        (void)hls_file_ref(f);
    (void)hls_file_unref(n->file);
    n->file = f;
    n->stream = s;
}

/* Forget the path, if it is still this file's. */
void hls_names_drop(struct hls *h, const char *path, const struct hls_file *f)
{
    char normal[HLS_NAME_MAX];
    struct hls_name **at, *n;

    normalize(normal, sizeof(normal), path);
    at = place(h, normal);
    n = *at;
    if (!n || n->file != f)
        return;
    *at = n->next;
    hls_owner_clear(h->env, normal);
    (void)hls_file_unref(n->file);
    free(n);
}

static struct hls_name *find(struct hls *h, const char *path)
{
    char normal[HLS_NAME_MAX];

    if (strlen(path) >= sizeof(normal))
        return NULL;
    normalize(normal, sizeof(normal), path);
    return *place(h, normal);
}

int hls_names_owner(const struct hls *h, const char *path)
{
    char normal[HLS_NAME_MAX];

    if (!h->env->workers || strlen(path) >= sizeof(normal))
        return HLS_NO_OWNER;
    normalize(normal, sizeof(normal), path);
    return hls_owner_of(h->env, normal);
}

struct hls_file *hls_find(struct hls *h, const char *path)
{
    struct hls_name *n = find(h, path);

    return n && n->file ? hls_file_ref(n->file) : NULL;
}

struct hls_file *hls_find_update(struct hls *h, const char *path)
{
    struct hls_name *n = find(h, path);
    struct hls_file *update = NULL;

    if (n && n->file && n->file == n->stream->playlist)
        update = hls_list_update(n->stream);
    return update ? hls_file_ref(update) : hls_find(h, path);
}

bool hls_names_of_file(struct hls *h, const char *path, struct session_stream *out, bool *dash)
{
    const struct hls_name *n = find(h, path);
    struct stream_key *key;

    if (!n)
        return false;
    key = n->stream->key;
    *out = (struct session_stream){
        .key = key, .vhost = key->vhost, .app = key->app, .name = key->name,
        .param = "", .tc_url = "", .page_url = "", .ip = "",
    };
    *dash = n->stream->kind->is_dash;
    return true;
}

bool hls_names_of(struct hls *h, const char *path, struct session_stream *out)
{
    const struct hls_name *n = find(h, path);
    bool dash;

    return n && n->file && n->file == n->stream->playlist &&
           hls_names_of_file(h, path, out, &dash);
}

/* ------------------------------------------------------------ waiting */

void hls_wake(struct hls_stream *s)
{
    struct hls_waiter *w = s->parked;

    s->parked = NULL;
    while (w) {
        struct hls_waiter *next = w->next;

        co_unpark(w->co);
        w = next;
    }
}

/* Until the stream made something more. */
static err_t wait_more(struct hls_stream *s, co_usec end)
{
    struct hls_waiter w = { s->parked, co_self() }, **at;
    co_usec left = end - co_now();
    enum co_wake wake;

    if (left <= 0)
        return err_new(ERR_IO_TIMEOUT, "%s", s->m3u8_path);
    s->parked = &w;
    wake = co_park(left);
    for (at = &s->parked; *at && *at != &w; at = &(*at)->next)
        ;
    if (*at)
        *at = w.next;
    if (wake == CO_STOPPED)
        return co_check();
    return s->left ? err_new(ERR_STREAM_END, "%s", s->m3u8_path) : NULL;
}

/* [HLS] bis 6.2.5.2: a part behind the last one of a segment is the first one of the next. */
static bool is_behind(const struct hls_stream *s, uint64_t segment, int part)
{
    for (size_t i = s->list.n; i > 0 && part >= 0 && s->list.v[i - 1]->seq >= segment; i--) {
        const struct hls_segment *seg = s->list.v[i - 1];

        if (seg->seq == segment) /* whose parts may be forgotten */
            return seg->n_parts > 0 && (size_t)part >= seg->n_parts;
    }
    return false;
}

static bool has_it(const struct hls_stream *s, uint64_t segment, int part)
{
    uint64_t now = s->next_seq;

    if (segment < now && is_behind(s, segment, part)) {
        segment++;
        part = 0;
    }
    if (segment < now)
        return true;
    return segment == now && part >= 0 && s->now && (size_t)part < s->now->n_parts;
}

/* [HLS] bis 6.2.5.2: no player has a reason to ask for more than that. */
static bool is_far(const struct hls_stream *s, uint64_t segment, int part)
{
    size_t there = s->now && segment == s->next_seq ? s->now->n_parts : 0;

    if (segment > s->next_seq + 1)
        return true;
    return segment >= s->next_seq && s->segmenter.part_target > 0 && part >= 0 &&
           (size_t)part + 1 > there + m3u8_advance_parts(s->segmenter.part_target);
}

err_t hls_wait(struct hls *h, const char *path, uint64_t segment, int part, co_usec timeout)
{
    struct hls_name *n = find(h, path);
    co_usec end = co_now() + timeout;
    struct hls_stream *s;
    err_t err = NULL;
    bool live;

    if (!n || n->file != n->stream->playlist)
        return err_new(ERR_STREAM_END, "no playlist %s", path);
    s = hls_stream_ref(n->stream);
    live = s->live;
    if (is_far(s, segment, part))
        err = err_new(ERR_MALFORMED, "part %d of segment %llu of %s, which is at %llu", part,
                      (unsigned long long)segment, path, (unsigned long long)s->next_seq);
    while (!err && !has_it(s, segment, part) && s->live == live)
        err = wait_more(s, end);
    hls_stream_unref(s);
    return err;
}

err_t hls_wait_file(struct hls *h, const char *path, co_usec timeout)
{
    struct hls_name *n = find(h, path);
    co_usec end = co_now() + timeout;
    struct hls_stream *s;
    err_t err = NULL;

    if (!n)
        return err_new(ERR_STREAM_END, "no file %s", path);
    s = hls_stream_ref(n->stream);
    while (!err && n && !n->file) {
        err = wait_more(s, end);
        n = find(h, path);
    }
    if (!err && !n)
        err = err_new(ERR_STREAM_END, "no file %s", path);
    hls_stream_unref(s);
    return err;
}

bool hls_variant(struct hls *h, const char *path, struct hls_variant *out)
{
    struct hls_name *n = find(h, path);
    const struct hls_stream *s;
    int64_t duration = 0;
    size_t bytes = 0;
    char name[48];

    *out = (struct hls_variant){ 0 };
    if (!n || !n->file || n->file != n->stream->playlist)
        return false;
    s = n->stream;
    for (size_t i = 0; i < s->list.n; i++) {
        bytes += s->list.v[i]->bytes;
        duration += s->list.v[i]->duration;
    }
    if (duration > 0 && bytes > 0)
        out->bandwidth = (unsigned)((double)bytes * 8 * AV_CLOCK / (double)duration);
    for (int k = 0; k < 2; k++) {
        const struct mp4_track *t = k ? &s->mp4.audio.track : &s->mp4.video.track;

        if (!t->codec)
            continue;
        (void)mp4_track_name(t, name, sizeof(name));
        if (out->codecs[0])
            (void)strncat(out->codecs, ",", sizeof(out->codecs) - strlen(out->codecs) - 1);
        (void)strncat(out->codecs, name, sizeof(out->codecs) - strlen(out->codecs) - 1);
    }
    out->width = s->mp4.video.track.info.width;
    out->height = s->mp4.video.track.info.height;
    return true;
}
