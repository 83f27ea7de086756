/* SPDX-License-Identifier: MIT */
/* memory.c - files in memory by path, and players that wait for one. */
#include "sink/hls/format.h"
#include "sink/hls/info.h"
#include "sink/hls/store/owner.h"

#include "base/must.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, WORKER = 56 /* position of the worker's number in an entity tag */ };

struct hls_names {
    struct hls_name *buckets[BUCKETS];
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
    f->cache = block_cache_ref(h->cache);
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
        if (f->cache)
            block_cache_return(f->cache, &f->blocks);
        (void)block_cache_unref(f->cache);
        free(f->data);
        free_packs(f);
        free(f);
    }
    return NULL;
}

/* Normalizes a path: "./a//b/./c" becomes "a/b/c". */
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

void hls_names_set(const struct hls_info *info, const char *path, struct hls_file *f)
{
    struct hls *h = info->hls;
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
    n->info = info;
}

/* Removes the path if it still belongs to this file. */
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

struct hls_name *hls_names_get(struct hls *h, const char *path)
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
    struct hls_name *n = hls_names_get(h, path);

    return n && n->file ? hls_file_ref(n->file) : NULL;
}

bool hls_names_of_file(struct hls *h, const char *path, struct session_stream *out, bool *dash)
{
    const struct hls_name *n = hls_names_get(h, path);
    struct stream_key *key;

    if (!n)
        return false;
    key = n->info->key;
    *out = (struct session_stream){
        .key = key, .vhost = key->vhost, .app = key->app, .name = key->name,
        .param = "", .tc_url = "", .page_url = "", .ip = "",
    };
    *dash = n->info->format->is_dash;
    return true;
}

bool hls_names_of(struct hls *h, const char *path, struct session_stream *out)
{
    const struct hls_name *n = hls_names_get(h, path);
    bool dash;

    return n && n->file && n->file->playlist &&
           hls_names_of_file(h, path, out, &dash);
}
