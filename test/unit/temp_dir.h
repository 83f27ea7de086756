/* SPDX-License-Identifier: MIT */
/* temp_dir.h - a folder of a test's own, which goes with all that is in it. */
#ifndef TEMP_DIR_H
#define TEMP_DIR_H

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char dir[32]; /* its path, from dir_make() to dir_remove() */

static inline int dir_make(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof(dir), "/tmp/test.XXXXXX");
    return mkdtemp(dir) ? 0 : 1;
}

/* As a teardown: nothing else may be left either. */
static inline int dir_remove(void **state)
{
    char cmd[100];

    (void)snprintf(cmd, sizeof(cmd), "chmod -R u+rwx %s && rm -rf %s", dir, dir);
    return system(cmd) == 0 ? nothing_left(state) : 1;
}

#endif
