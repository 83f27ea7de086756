/* SPDX-License-Identifier: MIT */
/* file_open.h - opening without waiting for a disk, for file*.c. */
#ifndef CO_OS_FILE_OPEN_H
#define CO_OS_FILE_OPEN_H

#include "base/err.h"

#include <stdint.h>

/* openat2(), with O_CLOEXEC: a descriptor, or -1 with errno. Any thread. */
int co_open_at(int at, const char *path, int flags, uint64_t resolve);
/* What an errno of it says to who asked for the path; 0: NULL. */
err_t co_open_error(int error, const char *path) __attribute__((warn_unused_result));

#endif
