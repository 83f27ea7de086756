/* SPDX-License-Identifier: MIT */
/* iov.h - ranges of bytes that are sent together. */
#ifndef BASE_IOV_H
#define BASE_IOV_H

#include <stddef.h>
#include <sys/uio.h>

/* Returns the total number of bytes. */
static inline size_t iov_size(const struct iovec *iov, int count)
{
    size_t size = 0;

    for (int i = 0; i < count; i++)
        size += iov[i].iov_len;
    return size;
}

#endif
