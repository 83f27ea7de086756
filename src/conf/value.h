/* SPDX-License-Identifier: MIT */
/* value.h - converts the words of a directive to its typed field, and back. */
#ifndef CONF_VALUE_H
#define CONF_VALUE_H

#include "base/wr.h"
#include "conf/arena.h"
#include "conf/table.h"

/* Context for setting a value. */
struct conf_ctx {
    struct conf_arena *arena;
    const struct conf_source *src;
    const struct conf_report *report;
    const char *where; /* "conf/srs.conf:12" or "SRS_LISTEN", for warnings */
};

/* Reports a warning: `where`, then the text. */
void conf_warn(const struct conf_ctx *ctx, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the environment variable, or NULL if it is not set or empty. */
const char *conf_env(const struct conf_source *src, const char *name);

/* Sets the field of a leaf (not BLOCK, BLOCKS, PAIRS, OBSOLETE) from the words of its lines. n is 1
 * unless the kind repeats. No word, or an empty one, means the default. */
err_t conf_value_set(const struct conf_ctx *ctx, const struct conf_row *row,
                     const struct conf_list *lines, size_t n, void *field)
    __attribute__((warn_unused_result));
/* Sets a field to the default of its row. */
err_t conf_value_default(const struct conf_ctx *ctx, const struct conf_row *row, void *field)
    __attribute__((warn_unused_result));

/* Appends the value in the syntax of the file; nothing if it is empty. */
void conf_value_text(struct wr *w, const struct conf_row *row, const void *field);
/* Copies a field of any kind except OBSOLETE, with everything it points to, into the arena. */
void conf_value_copy(struct conf_arena *a, const struct conf_row *row, void *to,
                     const void *from);

/* Appends text to w. */
void conf_text(struct wr *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends a word, after a space unless it is the first, with quotes if necessary. */
void conf_text_word(struct wr *w, const char *s, bool first);
/* Returns the text as a string. Nothing may be appended afterwards. */
const char *conf_text_end(struct wr *w);

/* Pointer and count of any { const struct x *v; size_t n; }. */
struct conf_array {
    const void *v;
    size_t n;
};
struct conf_array conf_array_get(const void *field);
void conf_array_set(void *field, const void *v, size_t n);

/* Splits at runs of spaces. */
struct conf_list conf_split(struct conf_arena *a, const char *text);

#endif
