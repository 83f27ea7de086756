/* SPDX-License-Identifier: MIT */
/* pid_file.c - one server per pid file. */
#include "app/os/pid_file.h"

#include "base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static err_t locked_by_other(int fd, const char *path)
{
    struct flock who = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    if (fcntl(fd, F_GETLK, &who) == 0 && who.l_type != F_UNLCK)
        return err_new(ERR_PID_FILE, "%s is held by process %d: a server already runs here", path,
                       (int)who.l_pid);
    return err_new(ERR_PID_FILE, "%s is held by another process", path);
}

/* Returns true if the locked file still has that name: its previous owner may have removed it
 * between our open and our lock. */
static bool is_there(int fd, const char *path)
{
    struct stat ours, there;

    return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

static err_t open_locked(int *fd, const char *path)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    for (;;) {
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (*fd < 0)
            return err_sys(ERR_PID_FILE, "open %s", path);
        if (fcntl(*fd, F_SETLK, &lock) < 0) {
            bool taken = errno == EACCES || errno == EAGAIN;
            err_t err = taken ? locked_by_other(*fd, path) : err_sys(ERR_PID_FILE, "lock %s", path);

            (void)close(*fd);
            return err;
        }
        if (is_there(*fd, path))
            return NULL;
        (void)close(*fd);
    }
}

err_t pid_file_lock(struct pid_file *p, const char *path)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%d", (int)getpid());
    err_t err;

    *p = (struct pid_file){ .fd = -1 };
    err = open_locked(&p->fd, path);
    if (err)
        return err;
    if (ftruncate(p->fd, 0) < 0 || write(p->fd, text, (size_t)n) != n) {
        err = err_sys(ERR_PID_FILE, "write %s", path);
        (void)close(p->fd);
        p->fd = -1;
        return err;
    }
    p->path = realpath(path, NULL);
    return NULL;
}

void pid_file_unlock(struct pid_file *p)
{
    if (p->fd < 0)
        return;
    if (p->path)
        (void)unlink(p->path); /* still locked, so that the next process creates its own */
    (void)close(p->fd);
    free(p->path);
    *p = (struct pid_file){ .fd = -1 };
}

char *pid_file_beside(const char *path, const char *suffix)
{
    static const char own[] = ".pid";
    size_t n = strlen(path), skip = sizeof(own) - 1;

    if (n >= skip && strcmp(path + n - skip, own) == 0)
        n -= skip;
    return must_print("%.*s%s", (int)n, path, suffix);
}
