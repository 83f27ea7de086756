/* SPDX-License-Identifier: MIT */
/* packed.h - cache of compressed text files, shared by all clients.
 *
 * The cache is in memory and bounded. The key is device, inode, size and time of the file, so a
 * changed file is a new entry. A helper thread compresses one file at a time; meanwhile other
 * requests get their files uncompressed.
 */
#ifndef SERVE_HTTP_PACKED_H
#define SERVE_HTTP_PACKED_H

#include "base/ref.h"
#include "co/os/file.h"

struct http_packs; /* owned by the program */

struct http_packs *http_packs_new(size_t limit); /* limit in bytes */
void http_packs_free(struct http_packs *packs); /* NULL is allowed */

struct http_packed { /* immutable once in the cache */
    struct ref ref;
    struct http_packed *next;
    uint64_t device, inode;
    int64_t mtime_ns, of_size;
    uint8_t *data;
    size_t size; /* compression does not make it smaller */
};

/* Gets the compressed text of an open file, with a reference. *out is NULL if the file must be sent
 * uncompressed. Yields. */
err_t http_packed_get(struct http_packs *packs, const struct co_file *f, struct http_packed **out)
    __attribute__((warn_unused_result));
struct http_packed *http_packed_unref(struct http_packed *p); /* returns NULL; p may be NULL */

#endif
