/* SPDX-License-Identifier: MIT */
/* identity.h - the server's id: what tools and callbacks know it by. */
#ifndef APP_IDENTITY_H
#define APP_IDENTITY_H

#include "base/err.h"

enum { IDENTITY_SIZE = 128 };

/* The id: what the configuration says; else what is kept in the file beside the pid file; else a
 * new one ("vid-" and 7 letters or digits), which is kept there. A file that cannot be written is
 * an error, but out holds an id for this time all the same. */
err_t identity_get(const char *configured, const char *pid_path, char out[IDENTITY_SIZE])
    __attribute__((warn_unused_result));

#endif
