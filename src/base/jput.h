/* SPDX-License-Identifier: MIT */
/* jput.h - writes JSON, member by member, into a buffer.
 *
 *     jput_open(&j, NULL, '{');
 *     jput_text(&j, "name", name);
 *     jput_open(&j, "list", '[');
 *     jput_int(&j, NULL, 1);
 *     jput_close(&j, ']');
 *     jput_close(&j, '}');
 *
 * There is no tree in memory, so a list of 10,000 entries can be sent in pieces. Bytes that are not
 * UTF-8 become U+FFFD, so the output is always valid. RFC 8259.
 */
#ifndef BASE_JPUT_H
#define BASE_JPUT_H

#include "base/wr.h"

#include <stdbool.h>
#include <stdint.h>

struct jput {
    struct wr *w; /* may be emptied between two calls */
    bool comma;   /* the next member needs a comma before it */
};

/* `key` is NULL in a list and for the outermost value. */
void jput_open(struct jput *j, const char *key, char bracket);
void jput_close(struct jput *j, char bracket);
void jput_text(struct jput *j, const char *key, const char *text); /* NULL: null */
void jput_bytes(struct jput *j, const char *key, const void *text, size_t size);
void jput_int(struct jput *j, const char *key, int64_t v);
void jput_uint(struct jput *j, const char *key, uint64_t v);
/* Writes at most `digits` decimals, without trailing zeros. */
void jput_real(struct jput *j, const char *key, double v, int digits);
void jput_bool(struct jput *j, const char *key, bool v);
void jput_null(struct jput *j, const char *key);

/* The members of a struct as rows: key, offset, type. */
enum {
    JPUT_UINT,         /* uint64_t */
    JPUT_MILLI,        /* int64_t, thousandths of the shown value: with three decimals, */
    JPUT_WHOLE,        /* or without decimals */
    JPUT_BOOL,         /* uint64_t */
    JPUT_TEXT,         /* const char * */
    JPUT_CHARS,        /* char[8] or more */
    JPUT_OPTIONAL = 8, /* with one of the last two: omitted if NULL or "" */
    JPUT_WITH = 16,    /* omitted if the member above is */
};
struct jput_field {
    const char *key;
    uint16_t at, kind;
};
void jput_fields(struct jput *j, const struct jput_field *fields, size_t n, const void *of);

#endif
