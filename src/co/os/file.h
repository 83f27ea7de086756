/* SPDX-License-Identifier: MIT */
/* file.h - reads and sends files without blocking the coroutine thread on a disk.
 *
 * Data in the kernel's page cache is used in place; a helper thread fetches the rest first. Nothing
 * outside the given folder can be opened.
 */
#ifndef CO_OS_FILE_H
#define CO_OS_FILE_H

#include "base/err.h"
#include "co/net/io.h"
#include "co/thread.h"

struct co_file {
    int fd;
    bool is_folder;
    int64_t size;
    int64_t mtime_ns; /* since 1970 */
    uint64_t device, inode;
};

/* Opens `path` below `folder`. The path cannot leave the folder: not by "..", not by a symbolic
 * link (links that stay inside are fine). ERR_NO_FILE: it does not exist, is not readable, or is
 * neither file nor folder; ERR_SYSTEM. Yields. */
err_t co_file_open(struct co_file *f, const char *folder, const char *path)
    __attribute__((warn_unused_result));
/* Same, but a thread of this pool and queue waits for the disk. */
err_t co_file_open_queue(struct co_file *f, const char *folder, const char *path,
                        enum co_pool pool, uint64_t queue) __attribute__((warn_unused_result));
void co_file_close(struct co_file *f);

/* Resolves `path` below `folder` to a path from the root, without links. The path itself need not
 * exist, its folder must. ERR_NO_FILE; ERR_SYSTEM. Yields. */
err_t co_file_where(const char *folder, const char *path, char *out, size_t size)
    __attribute__((warn_unused_result));
/* Returns the identity of the folder at this path. Use it on parents of what co_file_where()
 * returned: the kernel has them in memory, so no disk is read. */
bool co_folder_id(const char *path, uint64_t *device, uint64_t *inode);

/* Reads exactly size bytes from `at`. ERR_SYSTEM: the file is shorter. Yields. */
err_t co_file_read(const struct co_file *f, int64_t at, void *buf, size_t size)
    __attribute__((warn_unused_result));
/* Writes that part of the file to a pipe, all of it, straight from the page cache where the pipe
 * supports it. Yields. */
err_t co_file_send(const struct co_file *f, struct io *io, int64_t at, int64_t size)
    __attribute__((warn_unused_result));

#endif
