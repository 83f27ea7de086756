/* SPDX-License-Identifier: MIT */
/* autoreload.h - detects changes of the configuration file.
 *
 * It watches the folder, so it sees editors that rename a new file into place, and the links of
 * mounted configurations (Kubernetes replaces "..data", never the file itself).
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
    co_usec last; /* time of the last report */
};

err_t autoreload_open(struct autoreload *a, const char *path) __attribute__((warn_unused_result));
void  autoreload_close(struct autoreload *a);
/* Returns true if the file has changed since the last time this returned true: at most once in
 * 3 s, so an earlier change is reported later. Does not wait. */
bool  autoreload_due(struct autoreload *a, co_usec now);
/* Discards the changes so far, because the file is about to be read for another reason. */
void  autoreload_forget(struct autoreload *a);

#endif
