/* SPDX-License-Identifier: MIT */
/* file_read.c - reads configuration files on a helper thread. */
#include "app/os/file_read.h"

#include "base/must.h"
#include "co/co.h"
#include "co/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SIZE = 4 << 20, TIMEOUT_SECONDS = 10, PIECE = 64 * 1024 };

struct job {
    char path[PATH_MAX];
    const char *failed; /* the failed step and its errno: */
    int sys;
    char *text;
    size_t size;
};

static void drop(void *arg)
{
    struct job *j = arg;

    free(j->text);
    free(j);
}

static void fail(struct job *j, const char *what)
{
    j->sys = errno;
    j->failed = what;
}

static void read_all(struct job *j, int fd)
{
    size_t room = 0;
    ssize_t n;

    do {
        if (room - j->size < PIECE) {
            char *more = realloc(j->text, room = j->size + PIECE + j->size / 2);

            if (!more) {
                fail(j, "hold");
                return;
            }
            j->text = more;
        }
        n = read(fd, j->text + j->size, room - j->size);
        if (n > 0)
            j->size += (size_t)n;
        if (j->size > MAX_SIZE) {
            errno = EFBIG;
            n = -1;
        }
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0)
        fail(j, "read");
}

/* On a helper thread. */
static void run(void *arg)
{
    struct job *j = arg;
    int fd = open(j->path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        fail(j, "open");
        return;
    }
    read_all(j, fd);
    (void)close(fd);
}

err_t file_read(void *folder, const char *path, char **text, size_t *size)
{
    struct job *j = must(calloc(1, sizeof(*j)));
    err_t err;
    int n;

    n = path[0] == '/' ? snprintf(j->path, sizeof(j->path), "%s", path)
                       : snprintf(j->path, sizeof(j->path), "%s/%s", (const char *)folder, path);
    if (n < 0 || (size_t)n >= sizeof(j->path)) {
        drop(j);
        return err_new(ERR_CONF, "the path %.60s is too long", path);
    }
    err = co_thread_run(CO_POOL_FILE, run, j, drop, CO_SECONDS(TIMEOUT_SECONDS));
    if (err)
        return err_wrap(err, "read %.100s", path); /* the helper thread owns j now */
    if (j->failed) {
        errno = j->sys;
        err = err_sys(ERR_CONF, "%s %.100s", j->failed, path);
    } else {
        *text = j->text;
        *size = j->size;
        j->text = NULL;
    }
    drop(j);
    return err;
}
