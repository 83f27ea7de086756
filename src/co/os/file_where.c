/* SPDX-License-Identifier: MIT */
/* file_where.c - where a path leads to, whatever it is spelled like. */
#include "base/must.h"
#include "co/os/file.h"
#include "co/os/file_open.h"
#include "co/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DISK_TIME CO_SECONDS(30)
#define BELOW (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)

struct asking {
    char *folder, *path;
    uint64_t cached;  /* RESOLVE_CACHED: what is not in memory is EAGAIN */
    int error;        /* errno */
    char out[PATH_MAX];
};

/* The path of what is open. */
static int path_of(struct asking *a, int fd)
{
    char link[40];
    ssize_t n;

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    n = readlink(link, a->out, sizeof(a->out) - 1);
    if (n < 0)
        return errno;
    a->out[n] = '\0';
    return a->out[0] == '/' ? 0 : ENOENT;
}

/* A name that is no link stays as it is, so a file that is replaced meanwhile is no other one. */
static int name_in(struct asking *a, int folder, int dir, const char *name)
{
    struct stat st = { 0 };
    int fd = co_open_at(dir, name, O_PATH | O_NOFOLLOW, BELOW | a->cached), error = 0;
    size_t n;

    if (fd < 0 && errno != ENOENT)
        return errno;
    if (fd >= 0 && fstat(fd, &st) != 0)
        error = errno;
    if (fd >= 0)
        (void)close(fd);
    if (!error && S_ISLNK(st.st_mode)) {
        fd = co_open_at(folder, a->path, O_PATH, BELOW | a->cached);
        error = fd < 0 ? errno : path_of(a, fd);
        if (fd >= 0)
            (void)close(fd);
        return error;
    }
    if (!error)
        error = path_of(a, dir);
    n = strlen(a->out);
    if (!error && n + strlen(name) + 2 > sizeof(a->out))
        error = ENAMETOOLONG;
    if (!error)
        (void)snprintf(a->out + n, sizeof(a->out) - n, "%s%s", n > 1 ? "/" : "", name);
    return error;
}

static int look_in(struct asking *a, int folder)
{
    char *slash = strrchr(a->path, '/');
    int dir, error;

    if (slash)
        *slash = '\0';
    dir = co_open_at(folder, slash && slash > a->path ? a->path : ".", O_PATH | O_DIRECTORY,
                     BELOW | a->cached);
    error = dir < 0 ? errno : 0;
    if (slash)
        *slash = '/';
    if (error)
        return error;
    error = name_in(a, folder, dir, slash ? slash + 1 : a->path);
    (void)close(dir);
    return error;
}

/* Where there is no openat2, no link is followed below the folder (file.c). */
static int look_old(struct asking *a)
{
    int fd, error;
    size_t n;

    if (a->cached)
        return EAGAIN;
    fd = open(a->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    error = fd < 0 ? errno : path_of(a, fd);
    if (fd >= 0)
        (void)close(fd);
    n = strlen(a->out);
    if (!error && n + strlen(a->path) + 2 > sizeof(a->out))
        error = ENAMETOOLONG;
    if (!error)
        (void)snprintf(a->out + n, sizeof(a->out) - n, "%s%s", n > 1 ? "/" : "", a->path);
    return error;
}

static void look(void *arg)
{
    struct asking *a = arg;
    int folder = co_open_at(AT_FDCWD, a->folder, O_PATH | O_DIRECTORY, a->cached);

    a->error = folder < 0 ? errno : look_in(a, folder);
    if (folder >= 0)
        (void)close(folder);
    if (a->error == ENOSYS || a->error == EPERM)
        a->error = look_old(a);
}

static void asking_free(void *arg)
{
    struct asking *a = arg;

    free(a->folder);
    free(a->path);
    free(a);
}

err_t co_file_where(const char *folder, const char *path, char *out, size_t size)
{
    struct asking *a = must(calloc(1, sizeof(*a)));
    err_t err = NULL;

    path += strspn(path, "/");
    a->folder = must_dup(folder);
    a->path = must_dup(path);
    a->cached = RESOLVE_CACHED;
    look(a);
    if (a->error == EAGAIN) {
        a->cached = 0;
        err = co_thread_run(CO_POOL_FILE, look, a, asking_free, DISK_TIME);
        if (err)
            return err_wrap(err, "look for %.200s", path);
    }
    if (!a->error && snprintf(out, size, "%s", a->out) >= (int)size)
        a->error = ENAMETOOLONG;
    err = co_open_error(a->error, path);
    asking_free(a);
    return err;
}

bool co_folder_id(const char *path, uint64_t *device, uint64_t *inode)
{
    struct statx st;

    if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) != 0 ||
        !S_ISDIR(st.stx_mode))
        return false;
    *device = (uint64_t)makedev(st.stx_dev_major, st.stx_dev_minor);
    *inode = st.stx_ino;
    return true;
}
