/* SPDX-License-Identifier: MIT */
/* identity.c - the server's id. */
#include "app/identity.h"

#include "app/os/pid_file.h"
#include "base/random_id.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Accepts only characters that are safe in a URL and in a log line. */
static bool is_sane(const char *id)
{
    if (!*id)
        return false;
    for (; *id; id++) {
        if (!isalnum((unsigned char)*id) && !strchr("-_.:@", *id))
            return false;
    }
    return true;
}

static bool read_kept(const char *path, char out[IDENTITY_SIZE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, IDENTITY_SIZE - 1);

    if (fd >= 0)
        (void)close(fd);
    if (n <= 0)
        return false;
    out[n] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    return is_sane(out);
}

static void make(char out[IDENTITY_SIZE])
{
    enum { LETTERS = 7 };

    memcpy(out, "vid-", 4);
    random_id(out + 4, LETTERS);
}

/* Writes a temporary file and renames it, so a crash leaves either the old file or the new one. */
static err_t keep(const char *path, const char *id)
{
    char *tmp = pid_file_beside(path, ".tmp");
    size_t n = strlen(id);
    err_t err = NULL;
    int fd;

    fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, id, n) != (ssize_t)n || rename(tmp, path) < 0)
        err = err_sys(ERR_SYSTEM, "keep the server id in %s", path);
    if (fd >= 0)
        (void)close(fd);
    free(tmp);
    return err;
}

err_t identity_get(const char *configured, const char *pid_path, char out[IDENTITY_SIZE])
{
    char *path;
    err_t err = NULL;

    if (*configured) {
        (void)snprintf(out, IDENTITY_SIZE, "%s", configured);
        return NULL;
    }
    path = pid_file_beside(pid_path, ".id");
    if (!read_kept(path, out)) {
        make(out);
        err = keep(path, out);
    }
    free(path);
    return err;
}
