/* SPDX-License-Identifier: MIT */
/* identity.h - the server's id, which tools and callbacks use. */
#ifndef APP_IDENTITY_H
#define APP_IDENTITY_H

#include "base/err.h"

enum { IDENTITY_SIZE = 128 };

/* Finds the id: the configured one, else the one in the file next to the pid file, else a new one
 * ("vid-" and 7 letters or digits), which it saves there. If it cannot write the file it returns an
 * error, but `out` still holds an id for this run. */
err_t identity_get(const char *configured, const char *pid_path, char out[IDENTITY_SIZE])
    __attribute__((warn_unused_result));

#endif
