/* SPDX-License-Identifier: MIT */
/* jput.h - write JSON, member by member, into a buffer.
 *
 *     jput_open(&j, NULL, '{');
 *     jput_text(&j, "name", name);
 *     jput_open(&j, "list", '[');
 *     jput_int(&j, NULL, 1);
 *     jput_close(&j, ']');
 *     jput_close(&j, '}');
 *
 * A list of 10,000 leaves in pieces, without a tree of it in memory, and bytes of a peer that are
 * no UTF-8 become U+FFFD, so the text is valid whatever is in it. RFC 8259.
 */
#ifndef BASE_JPUT_H
#define BASE_JPUT_H

#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

struct jput {
    struct wr *w; /* may be emptied between two calls */
    bool comma;   /* something stands before the next member */
};

/* `key` is NULL in a list and for the outermost value. */
void jput_open(struct jput *j, const char *key, char bracket);
void jput_close(struct jput *j, char bracket);
void jput_text(struct jput *j, const char *key, const char *text); /* NULL: null */
void jput_bytes(struct jput *j, const char *key, const void *text, size_t size);
void jput_int(struct jput *j, const char *key, int64_t v);
void jput_uint(struct jput *j, const char *key, uint64_t v);
/* At most so many digits behind the point, without zeros at their end. */
void jput_real(struct jput *j, const char *key, double v, int digits);
void jput_bool(struct jput *j, const char *key, bool v);
void jput_null(struct jput *j, const char *key);

/* The members of a struct as rows: key, offset, what stands there. */
enum {
    JPUT_UINT,         /* uint64_t */
    JPUT_MILLI,        /* int64_t, thousandths of what is shown: with three digits, */
    JPUT_WHOLE,        /* or cut off */
    JPUT_BOOL,         /* uint64_t */
    JPUT_TEXT,         /* const char * */
    JPUT_CHARS,        /* char[8] or more */
    JPUT_OPTIONAL = 8, /* with one of the last two: left out if it is NULL or "" */
    JPUT_WITH = 16,    /* left out if the member above is */
};
struct jput_field {
    const char *key;
    uint16_t at, kind;
};
void jput_fields(struct jput *j, const struct jput_field *fields, size_t n, const void *of);

#endif
