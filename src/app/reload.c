/* SPDX-License-Identifier: MIT */
/* reload.c - a new configuration into a server that runs. */
#include "app/reload.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

/* What changes is known before it is certain that it will: the lines wait for that. */
struct changes {
    char **line;
    size_t count, applied, later;
};

static const char *verdict(const struct conf_change *c)
{
    return c->reload == CONF_NEVER ? "needs a restart" : "applied";
}

static void on_change(void *arg, const struct conf_change *c)
{
    struct changes *all = arg;
    char *line = NULL;
    int n;

    if (c->kind == CONF_CHANGED)
        n = asprintf(&line, "reload: %s: \"%s\" to \"%s\": %s", c->path, c->old_text, c->new_text,
                     verdict(c));
    else
        n = asprintf(&line, "reload: %s: %s: %s", c->path,
                     c->kind == CONF_ADDED ? "added" : "removed", verdict(c));
    all->line = realloc(all->line, (all->count + 1) * sizeof(*all->line));
    if (n < 0 || !all->line)
        abort();
    all->line[all->count++] = line;
    if (c->reload == CONF_NEVER)
        all->later++;
    else
        all->applied++;
}

static void tell(const struct changes *all)
{
    for (size_t i = 0; i < all->count; i++)
        log_trace("%s", all->line[i]);
    log_trace("reload: done, %zu applied, %zu need a restart", all->applied, all->later);
}

static void forget(struct changes *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->line[i]);
    free(all->line);
}

static void on_warning(void *arg, const char *text)
{
    (void)arg;
    log_warn("reload: %s", text);
}

bool reload_now(struct server *s, const struct conf_source *src)
{
    struct changes all = { 0 };
    const struct conf_changes to = { on_change, &all };
    const struct conf_report report = { on_warning, NULL };
    struct conf *old = conf_ref(server_conf(s)), *next = NULL;
    err_t err;

    log_trace("reload: reading %s", src->path ? src->path : "the environment");
    err = conf_reload(&next, old, src, &report, &to);
    if (!err)
        err = server_reload(s, next);
    if (err) {
        char text[1024];

        log_warn("reload: failed, the old configuration is kept: %s",
                 err_text(err, text, sizeof(text)));
    } else {
        tell(&all);
    }
    forget(&all);
    conf_unref(next);
    conf_unref(old);
    if (!err)
        return true;
    err_free(&err);
    return false;
}
