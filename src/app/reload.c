/* SPDX-License-Identifier: MIT */
/* reload.c - applies a new configuration to the running server. */
#include "app/reload.h"

#include "base/log.h"
#include "base/must.h"

#include <stdlib.h>
#include <string.h>

static const char *verdict(const struct conf_change *c)
{
    return c->reload == CONF_NEVER ? "needs a restart" : "applied";
}

/* Collects a line for the log. The changes are known before the reload has succeeded, so the lines
 * are only logged then. */
static void on_change(void *arg, const struct conf_change *c)
{
    struct reload_report *r = arg;
    char *line;

    if (c->kind == CONF_CHANGED)
        line = must_print("%s: \"%s\" to \"%s\": %s", c->path, c->old_text, c->new_text,
                          verdict(c));
    else
        line = must_print("%s: %s: %s", c->path, c->kind == CONF_ADDED ? "added" : "removed",
                          verdict(c));
    r->line = must(realloc(r->line, (r->lines + 1) * sizeof(*r->line)));
    r->line[r->lines++] = line;
    if (c->reload == CONF_NEVER)
        r->later++;
    else
        r->applied++;
}

static void log_done(const struct reload_report *r)
{
    for (size_t i = 0; i < r->lines; i++)
        log_trace("reload: %s", r->line[i]);
    log_trace("reload: done, %zu applied, %zu need a restart", r->applied, r->later);
}

static void forget(struct reload_report *r)
{
    for (size_t i = 0; i < r->lines; i++)
        free(r->line[i]);
    free(r->line);
    free(r->text);
    *r = (struct reload_report){ .count = r->count };
}

void reload_report_free(struct reload_report *r)
{
    forget(r);
}

static void log_failed(struct reload_report *r, err_t err)
{
    char text[1024];

    r->code = (int)err_code(err);
    r->text = strdup(err_text(err, text, sizeof(text)));
    log_warn("reload: failed, the old configuration is kept: %s", text);
}

static void on_warning(void *arg, const char *text)
{
    (void)arg;
    log_warn("reload: %s", text);
}

bool reload_now(struct server *s, const struct conf_source *src)
{
    struct reload_report *r = server_reload_report(s);
    const struct conf_changes to = { on_change, r };
    const struct conf_report report = { on_warning, NULL };
    struct conf *old = conf_ref(server_conf(s)), *next = NULL;
    bool done;
    err_t err;

    log_trace("reload: reading %s", src->path ? src->path : "the environment");
    forget(r);
    r->count++;
    r->state = RELOAD_PARSING;
    err = conf_reload(&next, old, src, &report, &to);
    r->state = RELOAD_APPLYING;
    if (!err)
        err = server_reload(s, next);
    if (err)
        log_failed(r, err);
    else
        log_done(r);
    done = !err;
    r->state = RELOAD_FINISHED;
    err_free(&err);
    conf_unref(next);
    conf_unref(old);
    return done;
}
