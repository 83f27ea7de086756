/* SPDX-License-Identifier: MIT */
/* job_spec.c - the description of a program to run: its kind and command line. */
#include "sink/program/job_spec.h"

#include "base/must.h"
#include "conf/expand.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {
    [JOB_EXEC] = "exec", [JOB_INGEST] = "ingest", [JOB_TRANSCODE] = "transcode",
};

/* Prefixes of log file names, the same as in SRS. */
static const char *const log_kinds[] = {
    [JOB_EXEC] = "exec", [JOB_INGEST] = "ffmpeg-ingest", [JOB_TRANSCODE] = "ffmpeg-encoder",
};

const char *job_kind_name(enum job_kind kind)
{
    return kinds[kind];
}

struct job_spec *job_spec_new(enum job_kind kind, const char *vhost, const char *stream,
                              const char *name)
{
    struct job_spec *w = must(calloc(1, sizeof(*w)));

    w->kind = kind;
    w->vhost = must_dup(vhost);
    w->stream = must_dup(stream);
    w->name = must_dup(name);
    return w;
}

void job_spec_free(struct job_spec *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n; i++)
        free(w->args[i].text);
    for (size_t i = 0; i < w->n_vars; i++)
        free(w->vars[i].value);
    free(w->args);
    free(w->vhost);
    free(w->stream);
    free(w->name);
    free(w->out);
    free(w->err);
    free(w->log);
    free(w);
}

void job_spec_var_from(struct job_spec *w, enum job_var_from from, const char *name,
                       const char *value)
{
    assert(w->n_vars < JOB_VARS_MAX);
    w->vars[w->n_vars++] = (struct job_var){ name, must_dup(value), from };
}

void job_spec_var(struct job_spec *w, const char *name, const char *value)
{
    job_spec_var_from(w, JOB_VAR_OURS, name, value);
}

static void add(struct job_spec *w, const char *text, bool vars)
{
    w->args = must(realloc(w->args, (w->n + 1) * sizeof(*w->args)));
    w->args[w->n++] = (struct job_arg){ .text = must_dup(text), .vars = vars };
}

void job_spec_add(struct job_spec *w, const char *text)
{
    add(w, text, false);
}

void job_spec_add_template(struct job_spec *w, const char *text)
{
    add(w, text, true);
}

void job_spec_add_option(struct job_spec *w, const char *name, const char *value)
{
    char option[256];

    (void)snprintf(option, sizeof(option), "-%s", name);
    add(w, option, false);
    if (*value)
        add(w, value, false);
}

void job_spec_add_free_option(struct job_spec *w, const char *name, const char *value)
{
    job_spec_add_option(w, name, value);
    w->args[w->n - 1].free = true;
}

void job_spec_log_in(struct job_spec *w, const char *folder)
{
    char *name;
    const char *of = *w->stream ? w->stream : w->vhost;

    if (!*folder || strcmp(folder, "/dev/null") == 0)
        return;
    name = must_print("%s-%s-%s.log", log_kinds[w->kind], of, w->name);
    for (char *p = name; *p; p++) {
        if (*p == '/' || (unsigned char)*p <= ' ')
            *p = *p == '/' ? '-' : '_';
    }
    w->log = must_print("%s/%.200s", folder, name);
    free(name);
}

/* ---- the command line */

err_t job_spec_expand(const struct job_spec *w, const char *text, int64_t msec, bool utc,
                      char **out)
{
    struct conf_variable vars[JOB_VARS_MAX];
    const struct conf_expand with = { .v = vars, .n = w->n_vars, .msec = msec, .utc = utc,
                                      .file = true };
    char *buf = must(malloc(JOB_ARG_MAX));
    err_t err;

    for (size_t i = 0; i < w->n_vars; i++)
        vars[i] = (struct conf_variable){ w->vars[i].name, w->vars[i].value };
    err = conf_expand(text, &with, buf, JOB_ARG_MAX);
    *out = err ? NULL : must_dup(buf);
    free(buf);
    return err;
}

/* Publishers choose stream names freely, so a value must not become an option. */
static err_t one(const struct job_spec *w, const struct job_arg *a, int64_t msec, bool utc,
                 char **out)
{
    err_t err;

    if (!a->vars) {
        *out = must_dup(a->text);
        return NULL;
    }
    err = job_spec_expand(w, a->text, msec, utc, out);
    if (!err && (*out)[0] == '-' && a->text[0] != '-') {
        err = err_new(ERR_MALFORMED, "\"%.60s\" would be an option", *out);
        free(*out);
        *out = NULL;
    }
    return err;
}

err_t job_spec_argv(const struct job_spec *w, int64_t msec, bool utc, char ***argv)
{
    char **v = must(calloc(w->n + 1, sizeof(*v)));
    err_t err = NULL;

    for (size_t i = 0; !err && i < w->n; i++)
        err = one(w, &w->args[i], msec, utc, &v[i]);
    if (err) {
        job_spec_argv_free(v);
        v = NULL;
    }
    *argv = v;
    return err;
}

void job_spec_argv_free(char **argv)
{
    for (char **a = argv; a && *a; a++)
        free(*a);
    free(argv);
}

/* ---- the environment */

struct env { /* environment of a program */
    char **v;
    size_t n;
};

/* Copies a variable of the server's environment. */
static void pass(struct env *e, const char *name)
{
    const char *value = getenv(name);

    if (value)
        e->v[e->n++] = must_print("%s=%s", name, value);
}

static void add_var(struct env *e, const struct job_var *v)
{
    char name[32];
    size_t n = 0;

    for (; v->name[n] && n + 1 < sizeof(name); n++)
        name[n] = (char)toupper((unsigned char)v->name[n]);
    name[n] = '\0';
    e->v[e->n++] = must_print("SRS_%s=%s", name, v->value);
}

char **job_spec_env(const struct job_spec *w, const struct conf_list *more)
{
    static const char *const usual[] = { "PATH", "HOME", "LANG", "TZ" };
    size_t count = sizeof(usual) / sizeof(usual[0]);
    struct env e = { must(calloc(count + more->n + JOB_VARS_MAX + 1, sizeof(char *))), 0 };

    for (size_t i = 0; i < count; i++)
        pass(&e, usual[i]);
    for (size_t i = 0; i < more->n; i++)
        pass(&e, more->v[i]);
    for (size_t i = 0; w && i < w->n_vars; i++)
        add_var(&e, &w->vars[i]);
    return e.v;
}

/* ---- comparing */

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_args(const struct job_spec *a, const struct job_spec *b)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct job_arg *x = &a->args[i], *y = &b->args[i];

        if (x->vars != y->vars || x->free != y->free || (!x->free && !same_text(x->text, y->text)))
            return false;
    }
    for (size_t i = 0; i < a->n_vars; i++) {
        if (!same_text(a->vars[i].name, b->vars[i].name) ||
            !same_text(a->vars[i].value, b->vars[i].value))
            return false;
    }
    return true;
}

bool job_spec_same(const struct job_spec *a, const struct job_spec *b)
{
    return a->kind == b->kind && a->n == b->n && a->n_vars == b->n_vars &&
           same_text(a->vhost, b->vhost) && same_text(a->stream, b->stream) &&
           same_text(a->name, b->name) && same_text(a->out, b->out) &&
           same_text(a->err, b->err) && same_args(a, b);
}

/* ---- lists */

void job_specs_add(struct job_specs *all, struct job_spec *w)
{
    all->v = must(realloc(all->v, (all->n + 1) * sizeof(struct job_spec *)));
    all->v[all->n++] = w;
}

void job_specs_free(struct job_specs *all)
{
    for (size_t i = 0; i < all->n; i++)
        job_spec_free(all->v[i]);
    free(all->v);
    *all = (struct job_specs){ 0 };
}
