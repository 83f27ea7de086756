/* SPDX-License-Identifier: MIT */
/* template.h - match the path of a file on disk with the templates of a vhost (hls_ts_file and so
 * on): which stream may have written it, and so which rules decide who may read it. Pure.
 */
#ifndef SERVE_HLS_TEMPLATE_H
#define SERVE_HLS_TEMPLATE_H

#include "conf/conf.h"
#include "session/env.h"

enum { HLS_MATCH_NAME = 256 };

enum hls_sort { /* of a file */
    HLS_FOREIGN,         /* none of ours */
    HLS_LIST, HLS_MPD,
    HLS_MEDIA, HLS_KEY,  /* of HLS: segments, parts, initializations; keys */
    HLS_DASH_MEDIA,
};

/* A name with variables, and the folder that it is in. */
struct hls_template {
    enum hls_sort sort;
    const char *folder;
    char text[1024];
};
enum { HLS_TEMPLATES = 11 };
/* The templates of a vhost, from 0 to HLS_TEMPLATES. False: it has no such one. */
bool hls_template(const struct conf_vhost *v, unsigned i, struct hls_template *out);

/* Could this template make this path (below its folder) for that stream? Of a name that is NULL any
 * will do, also one with slashes. */
bool hls_match(const char *text, const struct session_stream *names, const char *path);

/* For which app and stream did it make this path? False: none, or it cannot be told: names with
 * slashes, and templates with more than one name between two slashes. */
struct hls_matched {
    char app[HLS_MATCH_NAME], name[HLS_MATCH_NAME];
};
bool hls_match_names(const char *text, const char *vhost, const char *path,
                     struct hls_matched *out);

/* Does a template of this vhost, in its folder, make the whole path for that stream? */
bool hls_template_find(const struct conf_vhost *v, const struct session_stream *names,
                       const char *path, struct hls_template *out, const char **below);

/* By what it ends in, where no template says more. */
enum hls_sort hls_sort_by_end(const char *path);

#endif
