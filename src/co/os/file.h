/* SPDX-License-Identifier: MIT */
/* file.h - files to be read and sent, without ever waiting for a disk on the coroutine thread.
 *
 * What is in the kernel's memory is used in place; what is not is fetched by a helper thread
 * first. Nothing outside of its folder can be opened.
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

/* Open what is at `path` below `folder`; no way leads out of there: not "..", not a symbolic
 * link (links that stay inside are fine). ERR_NO_FILE: it is not there, or may not be read, or is
 * neither file nor folder; ERR_SYSTEM. Yields. */
err_t co_file_open(struct co_file *f, const char *folder, const char *path)
    __attribute__((warn_unused_result));
/* The same, where a thread of that pool and lane waits for the disk. */
err_t co_file_open_lane(struct co_file *f, const char *folder, const char *path,
                        enum co_pool pool, uint64_t lane) __attribute__((warn_unused_result));
void co_file_close(struct co_file *f);

/* Where `path` below `folder` leads to: a path from the root, without links. What is there need not
 * be there, its folder must. ERR_NO_FILE; ERR_SYSTEM. Yields. */
err_t co_file_where(const char *folder, const char *path, char *out, size_t size)
    __attribute__((warn_unused_result));
/* Which folder is at this path. It is above what co_file_where() told, so the kernel knows it and
 * nothing waits for a disk. */
bool co_folder_id(const char *path, uint64_t *device, uint64_t *inode);

/* Exactly size bytes from `at`. ERR_SYSTEM: it is shorter. Yields. */
err_t co_file_read(const struct co_file *f, int64_t at, void *buf, size_t size)
    __attribute__((warn_unused_result));
/* Write that part of the file to a pipe, all of it, straight from the kernel's memory where the
 * pipe can. Yields. */
err_t co_file_send(const struct co_file *f, struct io *io, int64_t at, int64_t size)
    __attribute__((warn_unused_result));

#endif
