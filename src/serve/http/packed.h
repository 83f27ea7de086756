/* SPDX-License-Identifier: MIT */
/* packed.h - texts of files, compressed once for all who ask.
 *
 * Kept in memory, bounded, by device, inode, size and time of the file: one that changed is another
 * one. One text at a time is compressed, by a helper thread; who asks meanwhile gets it as it is.
 */
#ifndef SERVE_HTTP_PACKED_H
#define SERVE_HTTP_PACKED_H

#include "base/ref.h"
#include "co/os/file.h"

struct http_packs; /* owned by the program */

struct http_packs *http_packs_new(size_t most); /* bytes that are kept at most */
void http_packs_free(struct http_packs *packs); /* NULL is fine */

struct http_packed { /* immutable once it is there */
    struct ref ref;
    struct http_packed *next;
    uint64_t device, inode;
    int64_t mtime_ns, of_size;
    uint8_t *data;
    size_t size; /* 0: it would not be smaller */
};

/* The compressed text of an open file, with a reference; *out is NULL where it is to be sent as it
 * is. Yields. */
err_t http_packed_get(struct http_packs *packs, const struct co_file *f, struct http_packed **out)
    __attribute__((warn_unused_result));
struct http_packed *http_packed_unref(struct http_packed *p); /* always NULL; NULL is fine */

#endif
