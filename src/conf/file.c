/* SPDX-License-Identifier: MIT */
/* file.c - reads a configuration file from disk. */
#include "conf/tree.h"

#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

err_t conf_read_file(void *arg, const char *path, char **text, size_t *size)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    err_t err = NULL;
    char *buf;

    (void)arg;
    *text = NULL;
    *size = 0;
    if (!f)
        return err_sys(ERR_CONF, "open %.100s", path);
    buf = must(malloc(CONF_TREE_BYTES + 1));
    if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode))
        err = err_new(ERR_CONF, "%.100s is a folder", path);
    if (!err)
        *size = fread(buf, 1, CONF_TREE_BYTES + 1, f);
    if (!err && ferror(f))
        err = err_sys(ERR_CONF, "read %.100s", path);
    if (!err && *size > CONF_TREE_BYTES)
        err = err_new(ERR_CONF, "%.100s has more than %d bytes", path, CONF_TREE_BYTES);
    fclose(f);
    if (err) {
        free(buf);
        *size = 0;
        return err;
    }
    *text = buf;
    return NULL;
}
