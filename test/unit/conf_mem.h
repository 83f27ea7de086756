/* SPDX-License-Identifier: MIT */
/* conf_mem.h - configurations out of memory: files, environment, and the warnings they gave. */
#ifndef CONF_MEM_H
#define CONF_MEM_H

#include "conf/conf.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mem_pair {
    const char *name, *text;
};

/* The file that conf_load() is given is "main". Both lists end with a NULL name; NULL is none. */
struct mem {
    const char *main;
    size_t main_size; /* 0: its strlen() */
    const struct mem_pair *files, *env;
    char warnings[1024];
    size_t n_warnings;
};

static inline err_t mem_read(void *arg, const char *path, char **text, size_t *size)
{
    const struct mem *m = arg;
    const char *found = strcmp(path, "main") == 0 ? m->main : NULL;

    for (const struct mem_pair *f = m->files; f && f->name && !found; f++) {
        if (strcmp(f->name, path) == 0)
            found = f->text;
    }
    if (!found)
        return err_new(ERR_CONF, "no file %s", path);
    *size = found == m->main && m->main_size ? m->main_size : strlen(found);
    *text = malloc(*size ? *size : 1); /* no zero behind it: a sanitizer sees an over-read */
    assert_non_null(*text);
    memcpy(*text, found, *size);
    return NULL;
}

static inline const char *mem_getenv(void *arg, const char *name)
{
    const struct mem *m = arg;

    for (const struct mem_pair *e = m->env; e && e->name; e++) {
        if (strcmp(e->name, name) == 0)
            return e->text;
    }
    return NULL;
}

static inline void mem_warn(void *arg, const char *text)
{
    struct mem *m = arg;
    size_t used = strlen(m->warnings);

    m->n_warnings++;
    (void)snprintf(m->warnings + used, sizeof(m->warnings) - used, "%s\n", text);
}

static inline struct conf_source mem_source(struct mem *m)
{
    return (struct conf_source){
        .path = m->main ? "main" : NULL, .read = mem_read, .getenv = mem_getenv, .arg = m,
    };
}

static inline err_t mem_load(struct conf **out, struct mem *m)
{
    const struct conf_source src = mem_source(m);
    const struct conf_report report = { .warn = mem_warn, .arg = m };

    m->n_warnings = 0;
    m->warnings[0] = '\0';
    return conf_load(out, &src, &report);
}

/* Load text that must be right. */
static inline struct conf *mem_conf(const char *text)
{
    struct mem m = { .main = text };
    struct conf *c = NULL;

    assert_ok(mem_load(&c, &m));
    assert_non_null(c);
    return c;
}

/* The text of an error holds these words. Frees it. */
static inline void assert_err_says(err_t err, enum err_code code, const char *words)
{
    char text[1024];

    (void)err_text(err, text, sizeof(text));
    if (err_code(err) != code || !strstr(text, words))
        fail_msg("wanted %d and \"%s\", got: %s", (int)code, words, text);
    err_free(&err);
}

#endif
