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

err_t mem_read(void *arg, const char *path, char **text, size_t *size);
const char *mem_getenv(void *arg, const char *name);
void mem_warn(void *arg, const char *text);
struct conf_source mem_source(struct mem *m);
err_t mem_load(struct conf **out, struct mem *m);

/* Load text that must be right. */
struct conf *mem_conf(const char *text);

/* The text of an error holds these words. Frees it. */
void assert_err_says(err_t err, enum err_code code, const char *words);

/* A text that is refused, and what is said of it. */
struct mem_bad {
    const char *text, *says;
};

void mem_assert_bad(const struct mem_bad *rows, size_t n);

/* A text that is right, and what is warned of; NULL: nothing. */
struct mem_warned {
    const char *text, *warning;
};

void mem_assert_warned(const struct mem_warned *rows, size_t n);

/* A variable, and the file that means the same, which gets a vhost v if it says of none. */
struct mem_variable {
    const char *name, *value, *same;
};

void mem_assert_environment(const struct mem_variable *rows, size_t n);

/* What a reload says of its changes: "path:when old>new" in lines. */
struct mem_reload {
    const char *old, *new, *told;
};

void mem_assert_reloads(const struct mem_reload *rows, size_t n);

#endif
