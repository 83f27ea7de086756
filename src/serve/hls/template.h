/* SPDX-License-Identifier: MIT */
/* template.h - matches the path of a file on disk with the templates of a vhost (hls_ts_file and so
 * on).
 *
 * The result is the stream that can have written the file, and with it the rules for reading it.
 * Pure: no I/O, no state.
 */
#ifndef SERVE_HLS_TEMPLATE_H
#define SERVE_HLS_TEMPLATE_H

#include "conf/conf.h"
#include "session/env.h"

enum { HLS_MATCH_NAME = 256 };

enum hls_sort { /* kinds of files */
    HLS_FOREIGN,         /* not of HLS or DASH */
    HLS_LIST, HLS_MPD,
    HLS_MEDIA, HLS_KEY,  /* HLS: segments, parts, init segments; keys */
    HLS_DASH_MEDIA,
};

/* A name with variables, and the folder of its files. */
struct hls_template {
    enum hls_sort sort;
    const char *folder;
    char text[1024];
};
enum { HLS_TEMPLATES = 11 };
/* Gets template i of a vhost, 0 <= i < HLS_TEMPLATES. Returns false if the vhost does not have
 * it. */
bool hls_template(const struct conf_vhost *v, unsigned i, struct hls_template *out);

/* Returns true if the template can produce this path (below its folder) for that stream. A name
 * that is NULL matches anything, also slashes. */
bool hls_match(const char *text, const struct session_stream *names, const char *path);

/* Finds the app and stream for which the template produced this path. Returns false if there is
 * none or the result is ambiguous: names with slashes, and templates with more than one name
 * between two slashes. */
struct hls_matched {
    char app[HLS_MATCH_NAME], name[HLS_MATCH_NAME];
};
bool hls_match_names(const char *text, const char *vhost, const char *path,
                     struct hls_matched *out);

/* Finds the template of this vhost that, with its folder, produces the whole path for that
 * stream. */
bool hls_template_find(const struct conf_vhost *v, const struct session_stream *names,
                       const char *path, struct hls_template *out, const char **below);

/* Sort of a file by its extension, where no template matches. */
enum hls_sort hls_sort_by_end(const char *path);

#endif
