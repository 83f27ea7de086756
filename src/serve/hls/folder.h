/* SPDX-License-Identifier: MIT */
/* folder.h - the folders that HLS and DASH write to, and whose a file in them is.
 *
 * Folders are compared by device and inode: no other spelling, no link and no second root of the
 * web server leads around them. Of a path it is known which vhosts could have written it; two
 * vhosts may share a folder.
 */
#ifndef SERVE_HLS_FOLDER_H
#define SERVE_HLS_FOLDER_H

#include "serve/hls/template.h"
#include "sink/hls/hls.h"

struct hls_folders; /* of one configuration, as they were a moment ago; shared */

/* NULL: no vhost with HLS or DASH asks its players. Yields. */
struct hls_folders *hls_folders_get(struct hls *h);
struct hls_folders *hls_folders_unref(struct hls_folders *f); /* always NULL; NULL is fine */

/* Walk over all vhosts that could have written the file at this path (of co_file_where()):
 *
 *     struct hls_places p = hls_places(folders, path);
 *     while (hls_place_next(&p, &place)) ...
 *
 * Does not yield; what it gives is valid as long as `folders` and `path`. */
enum { HLS_DEPTH = 64 };
struct hls_places {
    const struct hls_folders *folders;
    const char *path;
    size_t n, folder;
    unsigned row;
    bool found;
    struct hls_above {
        uint64_t device, inode;
        size_t size; /* of its path, with the slash */
    } above[HLS_DEPTH];
};
struct hls_place {
    const struct conf_vhost *vhost;
    const char *folder, *below; /* as the vhost calls the folder, and what comes behind it */
    struct hls_template of;     /* its text is "" where only the ending tells */
};
struct hls_places hls_places(const struct hls_folders *f, const char *path);
bool hls_place_next(struct hls_places *p, struct hls_place *out);

#endif
