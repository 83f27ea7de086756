/* SPDX-License-Identifier: MIT */
/* expand.h - variables in paths and urls: "[app]/[stream]-[2006][01][02].flv". Pure.
 *
 * Times are written as the digits of one certain moment, each standing for its own field:
 * [2006] year, [01] month, [02] day, [15] hour, [04] minute, [05] second, [999] millisecond.
 * [timestamp] is milliseconds since 1970. Whatever else stands in brackets must be given by name,
 * and what is given by name comes first; what is not given stays as it is.
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
    int64_t msec; /* since 1970; below 0: times are left as they are */
    bool utc;     /* else local time */
    bool file;    /* a path: a value with a ".." part or a control character is refused */
};

/* Write the text with its variables replaced to buf. ERR_TOO_LARGE when it does not fit,
 * ERR_MALFORMED for a value that may not be in a path. */
err_t conf_expand(const char *text, const struct conf_expand *with, char *buf, size_t size)
    __attribute__((warn_unused_result));

/* Is it the path of recordings with a name for each file, or else a folder for them? */
bool conf_expand_is_file(const char *path);
/* The folder of all files of a path, before its first variable: of "a/b/[app]/x.flv" it is "a/b".
 * `file`: without a variable, it is that of a file. */
void conf_expand_folder(const char *path, bool file, char *out, size_t size);

#endif
