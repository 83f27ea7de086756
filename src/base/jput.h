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

#endif
