/* SPDX-License-Identifier: MIT */
/* value.h - from the words of a directive to its typed field, and back. */
#ifndef CONF_VALUE_H
#define CONF_VALUE_H

#include "base/wr.h"
#include "conf/arena.h"
#include "conf/table.h"

/* What setting a value may need. */
struct conf_ctx {
    struct conf_arena *arena;
    const struct conf_source *src;
    const struct conf_report *report;
    const char *where; /* "conf/srs.conf:12" or "SRS_LISTEN", for warnings */
};

/* One line of a warning: `where`, then the text. */
void conf_warn(const struct conf_ctx *ctx, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* What the environment says for name; NULL when it is not set or empty. */
const char *conf_env(const struct conf_source *src, const char *name);

/* Set the field of a leaf (no BLOCK, BLOCKS, PAIRS, RELIC) from the words of its lines: n is 1
 * unless the kind repeats. No word, or an empty one, is the default. */
err_t conf_value_set(const struct conf_ctx *ctx, const struct conf_row *row,
                     const struct conf_list *lines, size_t n, void *field)
    __attribute__((warn_unused_result));
/* Set it to the default of its row. */
err_t conf_value_default(const struct conf_ctx *ctx, const struct conf_row *row, void *field)
    __attribute__((warn_unused_result));

/* Append the value as one would write it in the file; nothing when it is empty. */
void conf_value_text(struct wr *w, const struct conf_row *row, const void *field);
/* Copy a field of any kind but RELIC, with all it points to, into the arena. */
void conf_value_copy(struct conf_arena *a, const struct conf_row *row, void *to,
                     const void *from);

/* Append text to w. */
void conf_text(struct wr *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A word, after a space unless it is the first, quoted where the grammar wants it. */
void conf_text_word(struct wr *w, const char *s, bool first);
/* The text so far, as a string; nothing may be appended later. */
const char *conf_text_end(struct wr *w);

/* The pointer and count of any { const struct x *v; size_t n; }. */
struct conf_array {
    const void *v;
    size_t n;
};
struct conf_array conf_array_get(const void *field);
void conf_array_set(void *field, const void *v, size_t n);

/* Split at runs of spaces. */
struct conf_list conf_split(struct conf_arena *a, const char *text);

#endif
