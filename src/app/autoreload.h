/* SPDX-License-Identifier: MIT */
/* autoreload.h - notice that the configuration file was changed.
 *
 * Its folder is watched, so an editor that renames a new file into place is seen, and so are the
 * links of mounted configurations ("..data" is replaced, the file itself never is).
 */
#ifndef APP_AUTORELOAD_H
#define APP_AUTORELOAD_H

#include "base/err.h"
#include "co/co.h"

#include <stdbool.h>

struct autoreload {
    int fd; /* -1: off */
    char name[256];
    bool changed;
    co_usec last; /* when it was told last */
};

err_t autoreload_open(struct autoreload *a, const char *path) __attribute__((warn_unused_result));
void  autoreload_close(struct autoreload *a);
/* Was it changed since this was true last? True at most once in 3 s; a change that comes earlier
 * is told later. Never waits. */
bool  autoreload_due(struct autoreload *a, co_usec now);
/* The file is about to be read anyway: what was changed so far is no reason to read it again. */
void  autoreload_forget(struct autoreload *a);

#endif
