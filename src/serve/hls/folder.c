/* SPDX-License-Identifier: MIT */
/* folder.c - the folders that HLS and DASH write to. */
#include "serve/hls/folder.h"

#include "base/must.h"
#include "co/os/file.h"
#include "serve/hls/session.h"
#include "session/player.h"
#include "sink/hls/worker.h"

#include <stdlib.h>
#include <string.h>

enum { YIELD_EVERY = 64 }; /* number of folders to open before yielding */

#define STALE CO_SECONDS(1) /* a folder may be removed and created again */

struct folder {
    const struct conf_vhost *vhost;
    const char *path;
    uint64_t device, inode;
};

struct hls_folders {
    struct ref ref;
    struct conf *conf; /* owns these strings; referenced */
    co_usec at;
    size_t n, cap;
    struct folder *v;
};

struct hls_folders *hls_folders_unref(struct hls_folders *f)
{
    if (f && ref_put(&f->ref)) {
        (void)conf_unref(f->conf);
        free(f->v);
        free(f);
    }
    return NULL;
}

/* ------------------------------------------------------------ collecting folders */

static bool has_guarded(const struct conf *c)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i];

        if ((v->hls.enabled || v->dash.enabled) && session_play_is_asked(v))
            return true;
    }
    return false;
}

/* A folder that does not exist has no files, and is skipped. */
static void add(struct hls_folders *f, const struct conf_vhost *v, const char *path)
{
    struct co_file file = { .fd = -1 };
    err_t err = co_file_open(&file, path, "");
    /* the folder may be unreadable */
    bool there = !err || co_folder_id(path, &file.device, &file.inode);

    f->v = must_room(f->v, f->n, &f->cap, sizeof(f->v[0]));
    if (there)
        f->v[f->n++] = (struct folder){ v, path, file.device, file.inode };
    err_free(&err);
    co_file_close(&file);
}

static void add_vhost(struct hls_folders *f, const struct conf_vhost *v)
{
    if (v->hls.enabled) {
        add(f, v, v->hls.path);
        if (strcmp(v->hls.key_file_path, v->hls.path) != 0)
            add(f, v, v->hls.key_file_path);
    }
    if (v->dash.enabled && (!v->hls.enabled || strcmp(v->dash.path, v->hls.path) != 0))
        add(f, v, v->dash.path);
}

static struct hls_folders *collect(struct conf *conf)
{
    struct hls_folders *f = must(calloc(1, sizeof(*f)));

    ref_init(&f->ref);
    f->conf = conf_ref(conf);
    f->at = co_now();
    for (size_t i = 0; i < conf->vhost.n; i++) {
        add_vhost(f, &conf->vhost.v[i]);
        if (i % YIELD_EVERY == YIELD_EVERY - 1)
            co_yield();
    }
    return f;
}

struct hls_folders *hls_folders_get(struct hls *h)
{
    struct hls_folders *f = h->sessions->folders;

    if (!f || f->conf != h->env->conf || co_now() - f->at > STALE) {
        f = has_guarded(h->env->conf) ? collect(h->env->conf) : NULL;
        (void)hls_folders_unref(h->sessions->folders);
        h->sessions->folders = f;
    }
    if (!f)
        return NULL;
    ref_get(&f->ref);
    return f;
}

/* ------------------------------------------------------------ matching paths */

struct hls_candidates hls_candidates(const struct hls_folders *f, const char *path)
{
    struct hls_candidates p = { .folders = f, .path = path };
    char folder[HLS_NAME_MAX * 4];

    for (size_t i = 0; path[i] && i < sizeof(folder) - 1 && p.n < HLS_DEPTH; i++) {
        struct hls_above *above = &p.above[p.n];

        folder[i] = path[i];
        folder[i + 1] = '\0';
        if (path[i] != '/' || !co_folder_id(folder, &above->device, &above->inode))
            continue;
        above->size = i + 1;
        p.n++;
    }
    return p;
}

/* Returns the path relative to this folder, or NULL if it is not below it. */
static const char *below(const struct hls_candidates *p, const struct folder *f)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->above[i].inode == f->inode && p->above[i].device == f->device)
            return p->path + p->above[i].size;
    }
    return NULL;
}

/* Matches the next template of the vhost; after the last one the extension, if no template
 * matched. */
static bool fits(struct hls_candidates *p, const struct folder *f, struct hls_candidate *out)
{
    const struct session_stream any = { .vhost = f->vhost->name };
    unsigned row = p->row++;

    out->of.text[0] = '\0';
    if (row == HLS_TEMPLATES) {
        out->of.sort = hls_sort_by_end(out->below);
        return !p->found && out->of.sort != HLS_FOREIGN;
    }
    if (!hls_template(f->vhost, row, &out->of) || strcmp(out->of.folder, f->path) != 0)
        return false;
    return hls_match(out->of.text, &any, out->below);
}

bool hls_candidate_next(struct hls_candidates *p, struct hls_candidate *out)
{
    for (; p->folder < p->folders->n; p->folder++) {
        const struct folder *f = &p->folders->v[p->folder];

        out->vhost = f->vhost;
        out->folder = f->path;
        out->below = below(p, f);
        while (out->below && p->row <= HLS_TEMPLATES) {
            if (fits(p, f, out)) {
                p->found = true;
                return true;
            }
        }
        p->row = 0;
        p->found = false;
    }
    return false;
}
