/* SPDX-License-Identifier: MIT */
/* disk_file.c - file operations of jobs; runs on helper threads. */
#include "sink/store/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* READ_SECONDS: a reader has finished a file by then. */
enum { READ_SECONDS = 1, PIECES = 64 };

static bool failed(struct disk_job *job, const char *what)
{
    if (!job->error) {
        job->error = errno;
        job->what = what;
    }
    return false;
}

/* Creates all folders above the file. */
static bool make_folders(const char *path)
{
    char buf[PATH_MAX];
    size_t n = strlen(path);

    if (n >= sizeof(buf)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(buf, path, n + 1);
    for (char *p = strchr(buf + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        if (mkdir(buf, 0755) != 0 && errno != EEXIST)
            return false;
        *p = '/';
    }
    return true;
}

int disk_open(struct disk_job *job, const char *path, int flags)
{
    mode_t mode = job->mode ? job->mode : 0644;
    int fd = open(path, flags | O_CLOEXEC, mode);

    if (fd < 0 && errno == ENOENT && (flags & O_CREAT)) {
        if (!make_folders(path)) {
            (void)failed(job, "mkdir");
            return -1;
        }
        fd = open(path, flags | O_CLOEXEC, mode);
    }
    if (fd < 0)
        (void)failed(job, "open");
    return fd;
}

bool disk_write(struct disk_job *job, int fd, const void *data, size_t size)
{
    const char *p = data;

    while (size > 0) {
        ssize_t n = write(fd, p, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return failed(job, "write");
        p += n;
        size -= (size_t)n;
    }
    return true;
}

/* Collects pieces from position `at`, as many as one call accepts. */
static int collect(struct iovec iov[PIECES], const struct block *b, size_t at)
{
    int n = 0;

    for (; b && n < PIECES; b = b->next, at = 0)
        iov[n++] = (struct iovec){ (void *)(uintptr_t)(b->data + at), b->len - at };
    return n;
}

bool disk_write_blocks(struct disk_job *job, int fd, const struct block *b)
{
    struct iovec iov[PIECES];
    size_t at = 0;

    while (b) {
        ssize_t n;

        if (at == b->len) {
            b = b->next;
            at = 0;
            continue;
        }
        n = writev(fd, iov, collect(iov, b, at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return failed(job, "write");
        for (; b && at + (size_t)n >= b->len; b = b->next, at = 0)
            n -= (ssize_t)(b->len - at);
        at += b ? (size_t)n : 0;
    }
    return true;
}

/* Content in one piece or in blocks. */
struct content {
    const void *data;
    size_t size;
    const struct block *blocks;
};

/* Writes "path.tmp" and overwrites the old content in place. */
static bool write_tmp(struct disk_job *job, char tmp[PATH_MAX], const char *path,
                      const struct content *c)
{
    struct stat st;
    int fd;

    if (snprintf(tmp, PATH_MAX, "%s.tmp", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return failed(job, "open");
    }
    fd = disk_open(job, tmp, O_WRONLY | O_CREAT);
    if (fd < 0)
        return false;
    if (job->mode && fchmod(fd, job->mode) != 0) /* the file may have existed before */
        (void)failed(job, "fchmod");
    if (c->blocks)
        (void)disk_write_blocks(job, fd, c->blocks);
    else
        (void)disk_write(job, fd, c->data, c->size);
    if (!job->error && (fstat(fd, &st) != 0 || st.st_size > (off_t)c->size) &&
        ftruncate(fd, (off_t)c->size) != 0)
        (void)failed(job, "ftruncate");
    if (close(fd) != 0)
        (void)failed(job, "close");
    return !job->error;
}

static bool move(struct disk_job *job, const char *tmp, const char *path)
{
    if (!job->error && rename(tmp, path) != 0)
        (void)failed(job, "rename");
    if (job->error)
        (void)unlink(tmp);
    return !job->error;
}

bool disk_write_file(struct disk_job *job, const char *path, const void *data, size_t size)
{
    struct content c = { .data = data, .size = size };
    char tmp[PATH_MAX];

    (void)write_tmp(job, tmp, path, &c);
    return move(job, tmp, path);
}

bool disk_write_blocks_file(struct disk_job *job, const char *path, const struct block *first,
                            size_t size)
{
    struct content c = { .size = size, .blocks = first };
    char tmp[PATH_MAX];

    (void)write_tmp(job, tmp, path, &c);
    return move(job, tmp, path);
}

/* Returns true if a reader may still have "path.tmp" open: it opened it before `path` was last
 * written. */
static bool may_be_read(const char *path)
{
    struct timespec now;
    struct stat st;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return stat(path, &st) == 0 && now.tv_sec - st.st_mtim.tv_sec <= READ_SECONDS;
}

bool disk_swap_file(struct disk_job *job, const char *path, const void *data, size_t size)
{
    struct content c = { .data = data, .size = size };
    char tmp[PATH_MAX];

    if (may_be_read(path) && snprintf(tmp, PATH_MAX, "%s.tmp", path) < PATH_MAX)
        (void)unlink(tmp);
    if (write_tmp(job, tmp, path, &c) &&
        renameat2(AT_FDCWD, tmp, AT_FDCWD, path, RENAME_EXCHANGE) == 0)
        return true;
    return move(job, tmp, path); /* the first file, or the file system cannot exchange names */
}

bool disk_append_file(struct disk_job *job, const char *path, const void *data, size_t size)
{
    int fd = disk_open(job, path, O_WRONLY | O_APPEND | O_NOFOLLOW);

    if (fd < 0)
        return false;
    (void)disk_write(job, fd, data, size);
    if (close(fd) != 0)
        (void)failed(job, "close");
    return !job->error;
}

void disk_remove(const char *path, const char *root)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    (void)unlink(path);
    if (n <= strlen(root) || n >= sizeof(folder))
        return;
    memcpy(folder, path, n);
    folder[n] = '\0';
    (void)rmdir(folder); /* fails if it is not empty */
}

/* Returns true if only the server's user can have written the file. */
static bool is_ours(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

char *disk_read_file(struct disk_job *job, const char *path, size_t max, size_t *size)
{
    int fd = disk_open(job, path, O_RDONLY | O_NOFOLLOW);
    struct stat st;
    char *data = NULL;
    ssize_t n = 0;

    *size = 0;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > (off_t)max) {
        errno = EFBIG;
        (void)failed(job, "stat");
    } else if (!is_ours(&st)) {
        errno = EPERM;
        (void)failed(job, "owner");
    } else {
        data = malloc((size_t)st.st_size + 1);
    }
    while (data && *size < (size_t)st.st_size &&
           (n = read(fd, data + *size, (size_t)st.st_size - *size)) > 0)
        *size += (size_t)n;
    if (n < 0)
        (void)failed(job, "read");
    (void)close(fd);
    return data;
}
