/* SPDX-License-Identifier: MIT */
/* diff.c - compares configurations, and keeps old values that need a restart to change. */
#include "conf/resolve.h"
#include "conf/value.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 512, TEXT_LIMIT = 64 * 1024 };

struct differ {
    const struct conf_changes *to;
    const char *vhost;        /* current vhost, or NULL */
    struct conf_arena *keep;  /* arena for old values that need a restart; NULL: keeps the new */
    size_t n;
};

static void report(struct differ *d, const struct conf_row *row, enum conf_change_kind kind,
                 const char *path, const char *old_text, const char *new_text)
{
    const struct conf_change change = {
        .kind = kind, .reload = row->reload, .path = path, .vhost = d->vhost,
        .old_text = old_text, .new_text = new_text,
    };

    d->n++;
    if (d->to && d->to->change)
        d->to->change(d->to->arg, &change);
}

/* Returns true for "rtsp://name:password@host" (a camera) or "rtmp://host/app/key" (a service). */
static bool has_secret(const struct conf_row *row, const char *text)
{
    const char *at = text, *host;

    for (; (at = strstr(at, "://")); at = host) {
        bool rtmp = row->kind == CONF_KIND_HOSTS && at - text >= 4 &&
                    (memcmp(at - 4, "rtmp", 4) == 0 || memcmp(at - 4, "tmps", 4) == 0);
        size_t n;

        host = at + strlen("://");
        n = strcspn(host, "/ @");
        if (host[n] == '@' || (rtmp && host[n] == '/'))
            return true;
    }
    return false;
}

static void diff_leaf(struct differ *d, const struct conf_row *row, const char *path,
                      const void *old, void *new)
{
    const char *old_text, *new_text;
    struct wr a, b;

    wr_init(&a, TEXT_LIMIT);
    wr_init(&b, TEXT_LIMIT);
    conf_value_text(&a, row, old);
    conf_value_text(&b, row, new);
    old_text = conf_text_end(&a);
    new_text = conf_text_end(&b);
    if (strcmp(old_text, new_text) != 0) {
        bool secret = row->flags & CONF_SECRET || has_secret(row, old_text) ||
                      has_secret(row, new_text);

        report(d, row, CONF_CHANGED, path, secret ? "***" : old_text, secret ? "***" : new_text);
        if (d->keep && row->reload == CONF_NEVER)
            conf_value_copy(d->keep, row, new, old);
    }
    wr_free(&a);
    wr_free(&b);
}

static void diff_block(struct differ *d, const struct conf_block *block, const char *path,
                       const char *old, char *new);

static const char *name_of(const char *item)
{
    const char *name;

    memcpy(&name, item, sizeof(name));
    return name;
}

/* Returns the item of `other` with the same name as item i of `in`, or NULL. If several items have
 * this name, or none (stream_caster), their order decides. */
static const char *counterpart(const struct conf_array *in, size_t i,
                               const struct conf_array *other, size_t size)
{
    const char *v = in->v, *o = other->v;
    const char *name = name_of(v + i * size);
    size_t nth = 0;

    for (size_t k = 0; k < i; k++)
        nth += strcmp(name_of(v + k * size), name) == 0;
    for (size_t k = 0; k < other->n; k++) {
        if (strcmp(name_of(o + k * size), name) == 0 && nth-- == 0)
            return o + k * size;
    }
    return NULL;
}

static void diff_item(struct differ *d, const struct conf_row *row, const char *path,
                      const char *old, char *new)
{
    char inner[PATH_SIZE];
    const char *name = name_of(new ? new : old);
    bool is_vhost = row->block == &conf_table_vhost;

    if (is_vhost)
        d->vhost = name;
    (void)snprintf(inner, sizeof(inner), "%.300s[%.100s]", path, name);
    if (old && new)
        diff_block(d, row->block, inner, old, new);
    else
        report(d, row, old ? CONF_REMOVED : CONF_ADDED, inner, old ? name : "", new ? name : "");
    if (is_vhost)
        d->vhost = NULL;
}

static void diff_items(struct differ *d, const struct conf_row *row, const char *path,
                       const void *old_field, void *new_field)
{
    struct conf_array old = conf_array_get(old_field), new = conf_array_get(new_field);
    size_t size = row->block->size, before = d->n;

    for (size_t i = 0; i < old.n; i++) {
        if (!counterpart(&old, i, &new, size))
            diff_item(d, row, path, (const char *)old.v + i * size, NULL);
    }
    for (size_t i = 0; i < new.n; i++)
        diff_item(d, row, path, counterpart(&new, i, &old, size), (char *)new.v + i * size);
    if (d->keep && row->reload == CONF_NEVER && d->n > before)
        conf_value_copy(d->keep, row, new_field, old_field);
}

static void diff_block(struct differ *d, const struct conf_block *block, const char *path,
                       const char *old, char *new)
{
    for (size_t i = 0; i < block->n; i++) {
        const struct conf_row *row = &block->rows[i];
        char inner[PATH_SIZE];

        (void)snprintf(inner, sizeof(inner), "%.400s%s%s", path, *path ? "." : "", row->name);
        if (row->kind == CONF_KIND_BLOCK)
            diff_block(d, row->block, inner, old + row->offset, new + row->offset);
        else if (row->kind == CONF_KIND_BLOCKS)
            diff_items(d, row, inner, old + row->offset, new + row->offset);
        else if (row->kind != CONF_KIND_OBSOLETE)
            diff_leaf(d, row, inner, old + row->offset, new + row->offset);
    }
}

size_t conf_diff(const struct conf *old, const struct conf *new, const struct conf_changes *to)
{
    struct differ d = { .to = to };

    /* does not write to new while d.keep is NULL */
    diff_block(&d, &conf_table_root, "", (const char *)old, (char *)new);
    return d.n;
}

err_t conf_reload(struct conf **out, const struct conf *old, const struct conf_source *src,
                  const struct conf_report *report, const struct conf_changes *to)
{
    struct differ d = { .to = to };
    err_t err = conf_load(out, src, report);

    if (err)
        return err;
    d.keep = (*out)->arena;
    diff_block(&d, &conf_table_root, "", (const char *)old, (char *)*out);
    conf_resolve(*out);
    return NULL;
}
