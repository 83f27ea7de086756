/* SPDX-License-Identifier: MIT */
/* temp_dir.c - a folder of a test, which is removed with its content. */
#include "temp_dir.h"

char dir[32];

int dir_make(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof(dir), "/tmp/test.XXXXXX");
    return mkdtemp(dir) ? 0 : 1;
}

int dir_remove(void **state)
{
    char cmd[100];

    (void)snprintf(cmd, sizeof(cmd), "chmod -R u+rwx %s && rm -rf %s", dir, dir);
    return system(cmd) == 0 ? nothing_left(state) : 1;
}
