/* SPDX-License-Identifier: MIT */
/* table.c - finds directives by name, and similar names for unknown ones. */
#include "conf/table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const struct conf_row *conf_table_find(const struct conf_block *b, const char *name, size_t size)
{
    for (size_t i = 0; i < b->n; i++) {
        if (strlen(b->rows[i].name) == size && memcmp(b->rows[i].name, name, size) == 0)
            return &b->rows[i];
    }
    return NULL;
}

bool conf_row_is_block(const struct conf_row *row)
{
    return row->kind == CONF_KIND_BLOCK || row->kind == CONF_KIND_BLOCKS ||
           row->kind == CONF_KIND_PAIRS;
}

bool conf_row_repeats(const struct conf_row *row)
{
    return row->kind == CONF_KIND_BLOCKS || row->kind == CONF_KIND_RULES ||
           row->kind == CONF_KIND_COMMANDS;
}

const char *conf_row_env(const struct conf_row *row, const char *path, char *buf, size_t size)
{
    if ((row->flags & CONF_NO_ENV) || conf_row_is_block(row) || row->kind == CONF_KIND_OBSOLETE)
        return "";
    if (row->env)
        return row->env;
    (void)snprintf(buf, size, "SRS_%s%s%s", path, *path ? "_" : "", row->name);
    for (char *p = buf; *p; p++)
        *p = *p == '.' ? '_' : (char)toupper((unsigned char)*p);
    return buf;
}

/* Levenshtein distance. */
int conf_table_distance(const char *a, const char *b)
{
    enum { MAX = 64 };
    int row[MAX + 1];
    int n = (int)strnlen(b, MAX), m = (int)strnlen(a, MAX);

    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; i <= m; i++) {
        int diagonal = row[0];

        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            int step = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

            diagonal = row[j];
            row[j] = change < step ? change : step;
        }
    }
    return row[n];
}

/* Blocks are nested at most four levels deep, so the tables bound this recursion. */
static void nearest_below(const struct conf_block *b, const char *path, const char *name,
                          int *least, char *buf, size_t size)
{
    for (size_t i = 0; i < b->n; i++) {
        int d = conf_table_distance(name, b->rows[i].name);

        if (d < *least) {
            *least = d;
            (void)snprintf(buf, size, "%s%s", path, b->rows[i].name);
        }
    }
    for (size_t i = 0; i < b->n; i++) {
        char inner[128];

        if (!b->rows[i].block)
            continue;
        (void)snprintf(inner, sizeof(inner), "%s%s.", path, b->rows[i].name);
        nearest_below(b->rows[i].block, inner, name, least, buf, size);
    }
}

const char *conf_table_nearest(const struct conf_block *b, const char *name, char *buf,
                               size_t size)
{
    int least = 1 << 20;

    buf[0] = '\0';
    nearest_below(b, "", name, &least, buf, size);
    if ((size_t)least > strlen(name) / 2)
        buf[0] = '\0';
    return buf;
}

static bool find_below(const struct conf_block *b, const char *path, const char *name, char *buf,
                       size_t size)
{
    if (conf_table_find(b, name, strlen(name))) {
        (void)snprintf(buf, size, "%s", path);
        return true;
    }
    for (size_t i = 0; i < b->n; i++) {
        char inner[128];

        if (!b->rows[i].block)
            continue;
        (void)snprintf(inner, sizeof(inner), "%s%s%s", path, *path ? "." : "", b->rows[i].name);
        if (find_below(b->rows[i].block, inner, name, buf, size))
            return true;
    }
    return false;
}

const char *conf_table_elsewhere(const char *name, char *buf, size_t size)
{
    if (!find_below(&conf_table_root, "", name, buf, size))
        return NULL;
    return *buf ? buf : "the file itself, outside of any block";
}
