/* SPDX-License-Identifier: MIT */
/* disk_count.c - counts the disk usage below a folder; runs on helper threads. */
#include "sink/store/disk_count.h"

#include "base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct disk_count *disk_count_new(const char *root, const char *const *ends, bool count)
{
    struct disk_count *c = must(calloc(1, sizeof(*c)));

    c->root = must_dup(root);
    c->ends = ends;
    c->count = count;
    return c;
}

void disk_count_free(void *count)
{
    struct disk_count *c = count;

    while (c->depth > 0)
        (void)closedir(c->open[--c->depth]);
    free(c->root);
    free(c);
}

static void push(struct disk_count *c, int fd)
{
    DIR *d = fd >= 0 && c->depth < DISK_COUNT_DEPTH ? fdopendir(fd) : NULL;

    if (d)
        c->open[c->depth++] = d;
    else if (fd >= 0)
        (void)close(fd);
}

/* Opens the nearest existing parent if the folder does not exist yet. */
static int open_near(const char *root)
{
    char *path = strdup(root), *slash;
    int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    while (path && fd < 0 && (slash = strrchr(path, '/')) && slash > path) {
        *slash = '\0';
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    free(path);
    return fd >= 0 ? fd : open(*root == '/' ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void look(struct disk_count *c)
{
    struct statvfs v;
    struct stat st;
    int fd = open_near(c->root);

    if (fd < 0 || fstat(fd, &st) != 0 || fstatvfs(fd, &v) != 0) {
        c->error = errno;
    } else {
        c->device = st.st_dev;
        c->free = (int64_t)(v.f_bavail * v.f_frsize);
        c->size = (int64_t)(v.f_blocks * v.f_frsize);
    }
    if (fd >= 0)
        (void)close(fd);
}

static bool counts(const struct disk_count *c, const char *name)
{
    size_t n = strlen(name);

    for (const char *const *end = c->ends; *end; end++) {
        size_t k = strlen(*end);

        if (n >= k && strcmp(name + n - k, *end) == 0)
            return true;
    }
    return false;
}

static void one(struct disk_count *c, DIR *d, const char *name)
{
    struct stat st;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        fstatat(dirfd(d), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (S_ISDIR(st.st_mode))
        push(c, openat(dirfd(d), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    else if (S_ISREG(st.st_mode) && counts(c, name))
        c->bytes += st.st_size;
}

void disk_count_step(void *count)
{
    struct disk_count *c = count;

    if (c->size == 0 && c->depth == 0) {
        look(c);
        if (c->count)
            push(c, open(c->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
    for (int i = 0; i < DISK_COUNT_STEP && c->depth > 0; i++) {
        DIR *d = c->open[c->depth - 1];
        const struct dirent *e = readdir(d);

        if (e)
            one(c, d, e->d_name);
        else
            (void)closedir(c->open[--c->depth]);
    }
    c->done = c->depth == 0;
}
