/* SPDX-License-Identifier: MIT */
/* conf_mem.h - configurations from memory: files, environment, and the resulting warnings. */
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

/* conf_load() reads the file "main". Both lists end with a NULL name; NULL means an empty list. */
struct mem {
    const char *main;
    size_t main_size; /* 0: its strlen() */
    const struct mem_pair *files, *env;
    char warnings[1024];
    size_t n_warnings;
};

err_t mem_read(void *arg, const char *path, char **text, size_t *size);
const char *mem_getenv(void *arg, const char *name);
void mem_warn(void *arg, const char *text);
struct conf_source mem_source(struct mem *m);
err_t mem_load(struct conf **out, struct mem *m);

/* Loads text that must be valid. */
struct conf *mem_conf(const char *text);

/* Asserts that the error contains these words, and frees it. */
void assert_err_says(err_t err, enum err_code code, const char *words);

/* An invalid text and its error. */
struct mem_bad {
    const char *text, *says;
};

void mem_assert_bad(const struct mem_bad *rows, size_t n);

/* A valid text and its warning; NULL: none. */
struct mem_warned {
    const char *text, *warning;
};

void mem_assert_warned(const struct mem_warned *rows, size_t n);

/* A variable and the equivalent file, which gets a vhost v if it has none. */
struct mem_variable {
    const char *name, *value, *same;
};

void mem_assert_environment(const struct mem_variable *rows, size_t n);

/* Changes that a reload reports, as lines "path:when old>new". */
struct mem_reload {
    const char *old, *new, *told;
};

void mem_assert_reloads(const struct mem_reload *rows, size_t n);

#endif
