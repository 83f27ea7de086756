/* SPDX-License-Identifier: MIT */
/* conf_full.c - a configuration that shows every directive, made from the tables. */
#include "conf_doc.h"
#include "conf/table.h"
#include "conf/value.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 96, VALUE_COLUMN = 28 };

static void indent(struct wr *w, int depth)
{
    conf_text(w, "%*s", depth * 4, "");
}

/* Text as comment lines, broken at spaces. */
static void comment(struct wr *w, int depth, const char *text)
{
    size_t room = (size_t)(WIDTH - depth * 4 - 2);

    while (*text) {
        size_t n = strlen(text);

        if (n > room) {
            for (n = room; n > 1 && text[n] != ' '; n--)
                ;
        }
        indent(w, depth);
        conf_text(w, "# %.*s\n", (int)n, text);
        text += n;
        text += strspn(text, " ");
    }
}

/* Writes the default and the environment variables of a directive as comment lines. */
static void notes(struct wr *w, int depth, const struct conf_row *row, const char *path,
                  bool no_env)
{
    const char *def = row->def_note ? row->def_note : row->def ? row->def : "none";
    char buf[128];
    const char *env = no_env ? "" : conf_row_env(row, path, buf, sizeof(buf));
    struct wr line;

    wr_init(&line, 1024);
    if (row->flags & CONF_NOT_APPLIED)
        conf_text(&line, "Not implemented yet: accepted without effect.");
    if (row->sample)
        conf_text(&line, "%sDefault: %s.", line.len ? " " : "", def);
    if (*env)
        conf_text(&line, "%sEnvironment: %s.", line.len ? " " : "", env);
    if (line.len)
        comment(w, depth, conf_text_end(&line));
    wr_free(&line);
}

static void leaf(struct wr *w, int depth, const struct conf_row *row)
{
    const char *value = row->sample ? row->sample : row->def ? row->def : "";
    int pad = VALUE_COLUMN - (int)strlen(row->name);

    indent(w, depth);
    if (row->kind == CONF_KIND_PAIRS) {
        conf_text(w, "%s {\n", row->name);
        indent(w, depth + 1);
        conf_text(w, "%s\n", value);
        indent(w, depth);
        conf_text(w, "}\n");
        return;
    }
    conf_text(w, "%s%*s", row->name, pad > 1 ? pad : 1, "");
    if (row->kind == CONF_KIND_STRING)
        conf_text_word(w, value, true);
    else
        conf_text(w, "%s", value);
    conf_text(w, ";\n");
}

static void rows(struct wr *w, int depth, const struct conf_block *block, const char *path,
                 bool no_env)
{
    for (size_t i = 0; i < block->n; i++) {
        const struct conf_row *row = &block->rows[i];
        bool inner_no_env = no_env || (row->flags & CONF_NO_ENV);
        char inner[128];

        if (row->kind == CONF_KIND_OBSOLETE)
            continue;
        if (i && (row->block || depth == 0))
            conf_text(w, "\n");
        comment(w, depth, row->help ? row->help : row->block->help);
        if (!row->block) {
            notes(w, depth, row, path, no_env);
            leaf(w, depth, row);
            continue;
        }
        if (row->flags & CONF_NOT_APPLIED)
            comment(w, depth, "Not implemented yet: accepted without effect.");
        if (row->kind == CONF_KIND_BLOCKS)
            comment(w, depth, "Repeatable.");
        indent(w, depth);
        conf_text(w, "%s%s%s {\n", row->name, row->sample ? " " : "",
                  row->sample ? row->sample : "");
        (void)snprintf(inner, sizeof(inner), "%s%s%s", path, *path ? "." : "", row->name);
        rows(w, depth + 1, row->block, inner, inner_no_env);
        indent(w, depth);
        conf_text(w, "}\n");
    }
}

void conf_doc_full(struct wr *w)
{
    comment(w, 0, "Every directive with its default, or with an example if it has none. "
                  "Generated from the program's tables, for reading only: the "
                  "server refuses to run with it.");
    conf_text(w, "\n");
    rows(w, 0, &conf_table_root, "", false);
}
