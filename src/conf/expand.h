/* SPDX-License-Identifier: MIT */
/* expand.h - replaces variables in paths and URLs: "[app]/[stream]-[2006][01][02].flv". Pure.
 *
 * Time variables are the digits of a reference moment, as in Go: [2006] year, [01] month, [02] day,
 * [15] hour, [04] minute, [05] second, [999] millisecond. [timestamp] is milliseconds since 1970.
 * Variables passed by name take precedence. Unknown variables stay unchanged.
 */
#ifndef CONF_EXPAND_H
#define CONF_EXPAND_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf_variable {
    const char *name;  /* "stream", without brackets */
    const char *value;
};

struct conf_expand {
    const struct conf_variable *v;
    size_t n;
    int64_t msec; /* since 1970; below 0: time variables stay unchanged */
    bool utc;     /* false: local time */
    bool file;    /* a path: rejects values with a ".." part or a control character */
};

/* Writes the text with replaced variables to buf. Returns ERR_TOO_LARGE if it does not fit,
 * ERR_MALFORMED for a value that is not allowed in a path. */
err_t conf_expand(const char *text, const struct conf_expand *with, char *buf, size_t size)
    __attribute__((warn_unused_result));

/* Returns true if a path of recordings names a file, false if it names a folder. */
bool conf_expand_is_file(const char *path);
/* Writes the folder before the first variable of a path: "a/b" for "a/b/[app]/x.flv". `file`: a
 * path without variables names a file. */
void conf_expand_folder(const char *path, bool file, char *out, size_t size);

#endif
