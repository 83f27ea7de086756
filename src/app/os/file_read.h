/* SPDX-License-Identifier: MIT */
/* file_read.h - reads configuration files while the server runs. */
#ifndef APP_OS_FILE_READ_H
#define APP_OS_FILE_READ_H

#include "base/err.h"

#include <stddef.h>

/* For struct conf_source: reads the whole file as malloc'ed text on a helper thread, so that a
 * hanging network drive delays only the reload. A relative path is below `folder` (a const char *),
 * the folder at the start of the program, so that an include refers to the same file before and
 * after the change to work_dir. Yields. */
err_t file_read(void *folder, const char *path, char **text, size_t *size)
    __attribute__((warn_unused_result));

#endif
