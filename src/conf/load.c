/* SPDX-License-Identifier: MIT */
/* load.c - loads a snapshot from files and environment. */
#include "conf/build.h"

#include "base/must.h"
#include "conf/check.h"
#include "conf/legacy.h"
#include "conf/protocol.h"
#include "conf/resolve.h"
#include "conf/warn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static atomic_long live; /* number of snapshots; any worker may release the last reference */

static struct conf *new_conf(void)
{
    struct conf *c = must(calloc(1, sizeof(*c)));

    atomic_init(&c->refs, 1);
    c->arena = conf_arena_new();
    atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return c;
}

struct conf *conf_ref(struct conf *c)
{
    unsigned was = atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);

    assert(was > 0);
    (void)was;
    return c;
}

struct conf *conf_unref(struct conf *c)
{
    unsigned was = c ? atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) : 0;

    assert(!c || was > 0);
    if (was == 1) { /* reads by other workers happened before */
        conf_arena_free(c->arena);
        free(c);
        atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    }
    return NULL;
}

long conf_live(void)
{
    return atomic_load_explicit(&live, memory_order_relaxed);
}

static void warn_duplicates(const struct conf *c, struct conf_ctx *ctx)
{
    ctx->where = ctx->src->path ? ctx->src->path : "environment";
    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_vhost *v = &c->vhost.v[i], *found = conf_vhost_find(c, v->name);

        if (found && found != v && strcmp(found->name, v->name) == 0)
            conf_warn(ctx, "duplicate vhost \"%s\" is ignored", v->name);
    }
}

static void warn_affinity(const struct conf *c, struct conf_ctx *ctx)
{
    size_t masks = c->worker_cpu_affinity.n;

    ctx->where = ctx->src->path ? ctx->src->path : "environment";
    if (masks == 0 || strcmp(c->worker_cpu_affinity.v[0], "auto") == 0 || c->workers == CONF_AUTO)
        return;
    if (masks < (size_t)c->workers)
        conf_warn(ctx, "worker_cpu_affinity: all further workers use the last of %zu masks, "
                  "workers is %d", masks, c->workers);
    else if (masks > (size_t)c->workers)
        conf_warn(ctx, "worker_cpu_affinity has %zu masks, but workers is %d", masks, c->workers);
}

static void warn_https(const struct conf *c, struct conf_ctx *ctx)
{
    ctx->where = ctx->src->path ? ctx->src->path : "environment";
    if (c->http_api.https.enabled && !c->http_api.enabled)
        conf_warn(ctx, "http_api.https is on and has no effect: http_api is off");
    if (c->http_server.https.enabled && !c->http_server.enabled)
        conf_warn(ctx, "http_server.https is on and has no effect: http_server is off");
}

/* Disables vhosts with mode remote. Without edges they would accept players and have no streams. */
static void stop_edges(struct conf *c, struct conf_ctx *ctx)
{
    ctx->where = ctx->src->path ? ctx->src->path : "environment";
    for (size_t i = 0; i < c->vhost.n; i++) {
        struct conf_vhost *v = (struct conf_vhost *)(uintptr_t)&c->vhost.v[i];

        if (!v->enabled || v->cluster.mode != CONF_CLUSTER_REMOTE)
            continue;
        v->enabled = false;
        conf_warn(ctx, "vhost \"%s\" does not start: mode remote, an edge, is not implemented yet; "
                  "remove that line, and let an origin forward to it", v->name);
    }
}

static void warn_tokens(const struct conf *c, const struct conf_ctx *ctx)
{
    for (size_t i = 0; i < c->vhost.n; i++)
        conf_warn_token(&c->vhost.v[i], ctx);
}

static err_t fill(struct conf *c, struct conf_arena *scratch, const struct conf_source *src,
                  const struct conf_report *report)
{
    struct conf_ctx ctx = { .arena = c->arena, .src = src, .report = report, .where = "" };
    struct conf_node *root;
    err_t err = conf_tree_read(&root, scratch, src);

    if (err)
        return err;
    conf_legacy_rewrite(root, scratch);
    err = conf_build_names(root, &ctx);
    if (!err)
        err = conf_build(c, root, &ctx);
    if (err)
        return err;
    conf_resolve(c);
    stop_edges(c, &ctx);
    err = conf_check(c, src);
    if (err)
        return err_wrap(err, "%.80s", src->path ? src->path : "environment");
    warn_duplicates(c, &ctx);
    warn_affinity(c, &ctx);
    warn_https(c, &ctx);
    warn_tokens(c, &ctx);
    conf_protocols_warn(c, &ctx);
    conf_warn_no_effect(c, root, &ctx);
    return NULL;
}

err_t conf_load(struct conf **out, const struct conf_source *src, const struct conf_report *report)
{
    struct conf *c = new_conf();
    struct conf_arena *scratch = conf_arena_new();
    err_t err = fill(c, scratch, src, report);

    conf_arena_free(scratch);
    *out = err ? conf_unref(c) : c;
    return err;
}

const struct conf_vhost *conf_vhost_find(const struct conf *c, const char *name)
{
    const struct conf_vhost *other = NULL;

    for (size_t i = 0; i < c->vhost.n; i++) {
        if (strcmp(c->vhost.v[i].name, name) == 0)
            return &c->vhost.v[i];
        if (!other && strcmp(c->vhost.v[i].name, "__defaultVhost__") == 0)
            other = &c->vhost.v[i];
    }
    return other;
}
