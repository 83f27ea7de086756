/* SPDX-License-Identifier: MIT */
/* folder.h - the folders that HLS and DASH write to, and the vhosts that can have written a file in
 * them.
 *
 * Folders are compared by device and inode, so another spelling, a link or a second web root does
 * not bypass the rules of a vhost. Two vhosts may share a folder.
 */
#ifndef SERVE_HLS_FOLDER_H
#define SERVE_HLS_FOLDER_H

#include "serve/hls/template.h"
#include "sink/hls/hls.h"

struct hls_folders; /* the folders of one configuration, cached for a moment; shared */

/* Returns the folders with a reference; NULL if no vhost with HLS or DASH authorizes its players.
 * Yields. */
struct hls_folders *hls_folders_get(struct hls *h);
struct hls_folders *hls_folders_unref(struct hls_folders *f); /* returns NULL; f may be NULL */

/* Iterates over the vhosts that can have written the file at this path (from co_file_where()):
 *
 *     struct hls_candidates p = hls_candidates(folders, path);
 *     while (hls_candidate_next(&p, &place)) ...
 *
 * Does not yield. The results are valid as long as `folders` and `path`.
 */
enum { HLS_DEPTH = 64 };
struct hls_candidates {
    const struct hls_folders *folders;
    const char *path;
    size_t n, folder;
    unsigned row;
    bool found;
    struct hls_above {
        uint64_t device, inode;
        size_t size; /* length of its path with the slash */
    } above[HLS_DEPTH];
};
struct hls_candidate {
    const struct conf_vhost *vhost;
    const char *folder, *below; /* the folder as the vhost names it, and the path below it */
    struct hls_template of;     /* the text is "" if only the extension matched */
};
struct hls_candidates hls_candidates(const struct hls_folders *f, const char *path);
bool hls_candidate_next(struct hls_candidates *p, struct hls_candidate *out);

#endif
