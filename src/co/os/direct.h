/* SPDX-License-Identifier: MIT */
/* direct.h - reading past the kernel's memory of files (O_DIRECT), many reads at once.
 *
 * What is read once costs less so: no pages are found, filled, copied and thrown away for it. What
 * an idle processor pays for each read that it has to wait for is paid once for all that are asked
 * for together. On helper threads: it waits for the disk.
 */
#ifndef CO_OS_DIRECT_H
#define CO_OS_DIRECT_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { CO_DIRECT_ALIGN = 4096, CO_DIRECT_PIECES = 40 };

/* Another descriptor, of the file that is open for reading, for such reads. -1: its file system has
 * none. */
int co_direct_open(int fd);

struct co_direct_read {
    int fd;      /* by co_direct_open() */
    int64_t at;  /* CO_DIRECT_ALIGN divides it, and where memory begins, and its size */
    int n;       /* pieces of memory; 0: nothing is read */
    struct iovec v[CO_DIRECT_PIECES];
    ssize_t got; /* bytes, less at the end of the file; or -errno */
};

/* Read them all; each has its `got` then, and the kernel is done with its memory. */
void co_direct_read(struct co_direct_read *v, unsigned n);

#endif
