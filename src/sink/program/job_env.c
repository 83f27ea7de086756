/* SPDX-License-Identifier: MIT */
/* job_env.c - the environment of a program that we start. */
#include "base/must.h"
#include "sink/program/job_want.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct env {
    char **v;
    size_t n;
};

/* NAME=value, of ours. */
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

char **job_want_env(const struct job_want *w, const struct conf_list *more)
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
