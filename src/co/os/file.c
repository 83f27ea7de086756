/* SPDX-License-Identifier: MIT */
/* file.c - reads and sends files without waiting for a disk. */
#include "co/os/file.h"

#include "base/err.h"
#include "base/must.h"
#include "co/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel does not support the call; do not try again. */
static atomic_bool no_openat2;

/* Calls openat2() with O_CLOEXEC: a descriptor, or -1 with errno. Any thread. */
static int open_at(int at, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC), .resolve = resolve };
    int fd;

    if (atomic_load(&no_openat2)) {
        errno = ENOSYS;
        return -1;
    }
    fd = (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
    if (fd < 0 && errno == ENOSYS)
        atomic_store(&no_openat2, true);
    return fd;
}

/* Converts an errno to an error for the caller; 0: NULL. */
static err_t open_error(int error, const char *path)
{
    errno = error;
    switch (error) {
    case 0:
        return NULL;
    case ENOENT:
    case ENOTDIR:
    case EACCES:
    case EPERM:
    case ELOOP:
    case EXDEV: /* it leaves the folder */
    case ENAMETOOLONG:
    case ENXIO:
        return err_sys(ERR_NO_FILE, "%.200s", path);
    default:
        return err_sys(ERR_SYSTEM, "open %.200s", path);
    }
}

/* ---- resolving a path, however it is written */

#define DISK_TIME CO_SECONDS(30)
#define BELOW (RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)

struct lookup {
    char *folder, *path;
    uint64_t cached;  /* RESOLVE_CACHED: EAGAIN if it is not in memory */
    int error;        /* errno */
    char out[PATH_MAX];
};

/* Stores the path of an open descriptor. */
static int path_of(struct lookup *a, int fd)
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

/* Stores the path of a name in an open folder. A name that is no link is appended unchanged, so
 * replacing the file meanwhile does not change the path. */
static int name_in(struct lookup *a, int folder, int dir, const char *name)
{
    struct stat st = { 0 };
    int fd = open_at(dir, name, O_PATH | O_NOFOLLOW, BELOW | a->cached), error = 0;
    size_t n;

    if (fd < 0 && errno != ENOENT)
        return errno;
    if (fd >= 0 && fstat(fd, &st) != 0)
        error = errno;
    if (fd >= 0)
        (void)close(fd);
    if (!error && S_ISLNK(st.st_mode)) {
        fd = open_at(folder, a->path, O_PATH, BELOW | a->cached);
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

static int resolve_in(struct lookup *a, int folder)
{
    char *slash = strrchr(a->path, '/');
    int dir, error;

    if (slash)
        *slash = '\0';
    dir = open_at(folder, slash && slash > a->path ? a->path : ".", O_PATH | O_DIRECTORY,
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

/* Without openat2: follows no link below the folder. */
static int resolve_old(struct lookup *a)
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

static void resolve(void *arg)
{
    struct lookup *a = arg;
    int folder = open_at(AT_FDCWD, a->folder, O_PATH | O_DIRECTORY, a->cached);

    a->error = folder < 0 ? errno : resolve_in(a, folder);
    if (folder >= 0)
        (void)close(folder);
    if (a->error == ENOSYS || a->error == EPERM)
        a->error = resolve_old(a);
}

static void lookup_free(void *arg)
{
    struct lookup *a = arg;

    free(a->folder);
    free(a->path);
    free(a);
}

err_t co_file_where(const char *folder, const char *path, char *out, size_t size)
{
    struct lookup *a = must(calloc(1, sizeof(*a)));
    err_t err = NULL;

    path += strspn(path, "/");
    a->folder = must_dup(folder);
    a->path = must_dup(path);
    a->cached = RESOLVE_CACHED;
    resolve(a);
    if (a->error == EAGAIN) {
        a->cached = 0;
        err = co_thread_run(CO_POOL_FILE, resolve, a, lookup_free, DISK_TIME);
        if (err)
            return err_wrap(err, "resolve %.200s", path);
    }
    if (!a->error && snprintf(out, size, "%s", a->out) >= (int)size)
        a->error = ENAMETOOLONG;
    err = open_error(a->error, path);
    lookup_free(a);
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

enum {
    WINDOW = 256 * 1024,     /* bytes checked and sent at a time */
    AHEAD = 2 * 1024 * 1024, /* bytes fetched when a window is not in memory */
    STEP = 64 * 1024,        /* one byte per STEP of a window is checked */
    COPY = 64 * 1024,        /* buffer for pipes that cannot send a file */
};

/* ---- opening */

struct opening {
    char *folder, *path;
    bool wait;   /* wait for the disk; otherwise EAGAIN if it is not in memory */
    int error;   /* errno */
    struct co_file file;
};

static void read_info(struct opening *o)
{
    struct stat st;

    if (fstat(o->file.fd, &st) < 0) {
        o->error = errno;
        return;
    }
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        o->error = ENOENT;
    /* Turn off the kernel's read-ahead: it would run during our check, in this thread, with the
     * size set for the device. Finding 8 MB of pages takes 30 ms, even without a disk. */
    (void)posix_fadvise(o->file.fd, 0, 0, POSIX_FADV_RANDOM);
    o->file.is_folder = S_ISDIR(st.st_mode);
    o->file.size = st.st_size;
    o->file.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    o->file.device = (uint64_t)st.st_dev;
    o->file.inode = (uint64_t)st.st_ino;
}

/* Opens the path without openat2 (before Linux 5.6, or if a sandbox forbids it): folder by folder,
 * without any symbolic link. Takes over `at`. */
static int walk(int at, const char *path)
{
    while (at >= 0) {
        size_t n = strcspn(path, "/");
        const char *next = path + n + strspn(path + n, "/");
        char name[256];
        int to;

        if (n >= sizeof(name) || (n == 2 && path[0] == '.' && path[1] == '.')) {
            (void)close(at);
            errno = ENOENT;
            return -1;
        }
        (void)snprintf(name, sizeof(name), "%.*s", n ? (int)n : 1, n ? path : ".");
        to = openat(at, name, *next ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
                                    : O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
        (void)close(at);
        if (!*next)
            return to;
        at = to;
        path = next;
    }
    return -1;
}

static void open_old(struct opening *o)
{
    if (!o->wait) { /* without openat2 we cannot know what is in memory */
        o->error = EAGAIN;
        return;
    }
    o->error = 0;
    o->file.fd = walk(open(o->folder, O_PATH | O_DIRECTORY | O_CLOEXEC), o->path);
    if (o->file.fd < 0)
        o->error = errno;
    else
        read_info(o);
}

static void open_new(struct opening *o)
{
    uint64_t cached = o->wait ? 0 : RESOLVE_CACHED;
    int folder = open_at(AT_FDCWD, o->folder, O_PATH | O_DIRECTORY, cached);

    o->error = folder < 0 ? errno : 0;
    if (folder < 0)
        return;
    o->file.fd = open_at(folder, o->path[0] ? o->path : ".", O_RDONLY | O_NONBLOCK | O_NOCTTY,
                            RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | cached);
    if (o->file.fd < 0)
        o->error = errno;
    else
        read_info(o);
    (void)close(folder);
}

static void open_it(void *arg)
{
    struct opening *o = arg;

    o->file.fd = -1;
    open_new(o);
    if (o->error == ENOSYS || o->error == EPERM)
        open_old(o);
    if (o->error && o->file.fd >= 0) {
        (void)close(o->file.fd);
        o->file.fd = -1;
    }
}

static void opening_free(void *arg)
{
    struct opening *o = arg;

    if (o->file.fd >= 0)
        (void)close(o->file.fd);
    free(o->folder);
    free(o->path);
    free(o);
}

static err_t wait_open(struct opening *o, const char *folder, const char *path,
                       enum co_pool pool, uint64_t queue)
{
    struct opening *job = must(calloc(1, sizeof(*job)));
    err_t err;

    job->folder = must_dup(folder);
    job->path = must_dup(path);
    job->wait = true;
    job->file.fd = -1;
    err = co_thread_run_queue(pool, queue, open_it, job, opening_free, DISK_TIME);
    if (err)
        return err;
    o->error = job->error;
    o->file = job->file;
    job->file.fd = -1;
    opening_free(job);
    return NULL;
}

err_t co_file_open(struct co_file *f, const char *folder, const char *path)
{
    return co_file_open_queue(f, folder, path, CO_POOL_FILE, 0);
}

err_t co_file_open_queue(struct co_file *f, const char *folder, const char *path,
                        enum co_pool pool, uint64_t queue)
{
    struct opening o = { .folder = (char *)(uintptr_t)folder, .path = (char *)(uintptr_t)path };

    while (*path == '/')
        path++;
    o.path = (char *)(uintptr_t)path;
    open_it(&o);
    if (o.error == EAGAIN) {
        err_t err = wait_open(&o, folder, path, pool, queue);

        if (err)
            return err_wrap(err, "open %.200s", path);
    }
    *f = o.file;
    return open_error(o.error, path);
}

void co_file_close(struct co_file *f)
{
    if (f->fd >= 0)
        (void)close(f->fd);
    f->fd = -1;
}

/* ---- which parts are in memory */

/* Returns whether the byte is in memory. EOPNOTSUPP and similar: the file system is memory, or
 * cannot report it; read it directly. */
static bool is_there(int fd, int64_t at)
{
    char c;
    struct iovec iov = { &c, 1 };

    return preadv2(fd, &iov, 1, at, RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

static bool all_there(int fd, int64_t at, size_t size)
{
    int64_t end = at + (int64_t)size;

    for (int64_t p = at; p < end; p += STEP) {
        if (!is_there(fd, p))
            return false;
    }
    return size == 0 || is_there(fd, end - 1);
}

struct fetching {
    int fd; /* a copy: the original may be closed before the disk answers */
    int64_t at;
    size_t size;
};

static void fetch(void *arg)
{
    struct fetching *j = arg;
    char *buf = malloc(COPY);
    ssize_t n = 1;

    (void)posix_fadvise(j->fd, j->at, AHEAD, POSIX_FADV_WILLNEED);
    for (size_t done = 0; buf && n > 0 && done < j->size; done += (size_t)n)
        n = pread(j->fd, buf, COPY, j->at + (int64_t)done);
    free(buf);
}

static void fetching_free(void *arg)
{
    struct fetching *j = arg;

    (void)close(j->fd);
    free(j);
}

static err_t make_there(const struct co_file *f, int64_t at, size_t size)
{
    struct fetching *j;
    err_t err;

    if (all_there(f->fd, at, size))
        return NULL;
    j = must(malloc(sizeof(*j)));
    *j = (struct fetching){ fcntl(f->fd, F_DUPFD_CLOEXEC, 0), at, size };
    if (j->fd < 0) {
        free(j);
        return err_sys(ERR_SYSTEM, "duplicate a descriptor");
    }
    err = co_thread_run(CO_POOL_FILE, fetch, j, fetching_free, DISK_TIME);
    if (!err)
        fetching_free(j);
    return err;
}

/* ---- reading and sending */

err_t co_file_read(const struct co_file *f, int64_t at, void *buf, size_t size)
{
    uint8_t *p = buf;

    while (size > 0) {
        size_t most = size < WINDOW ? size : WINDOW;
        struct iovec iov = { p, most };
        ssize_t n = preadv2(f->fd, &iov, 1, at, RWF_NOWAIT);

        if (n < 0) { /* some of it is not in memory, or the file system cannot report it */
            err_t err = make_there(f, at, most);

            if (err)
                return err;
            n = pread(f->fd, p, most, at);
        }
        if (n <= 0)
            return n < 0 ? err_sys(ERR_SYSTEM, "read a file")
                         : err_new(ERR_SYSTEM, "the file became shorter");
        p += n;
        at += n;
        size -= (size_t)n;
        co_yield_if_due();
    }
    return NULL;
}

static err_t wait_window(struct io *io)
{
    switch (io_wait(io, true, io->write_timeout)) {
    case CO_TIMEOUT:
        return err_new(ERR_IO_TIMEOUT, "peer took nothing for %lld ms",
                       us_to_ms(io->write_timeout));
    case CO_STOPPED:
        return err_wrap(co_stop_why(), "sending a file");
    case CO_WOKEN:
        break;
    }
    return NULL;
}

static err_t send_direct(const struct co_file *f, struct io *io, int64_t at, size_t size)
{
    while (size > 0) {
        size_t n = 0;
        err_t err = io_send_file(io, f->fd, at, size, &n);

        at += (int64_t)n;
        size -= n;
        if (!err && n == 0)
            err = wait_window(io);
        co_yield_if_due(); /* a peer that is as fast as we are never makes us wait */
        if (!err)
            err = co_check();
        if (err)
            return err;
    }
    return NULL;
}

static err_t send_copied(const struct co_file *f, struct io *io, int64_t at, size_t size)
{
    uint8_t *buf = must(malloc(COPY));
    err_t err = NULL;

    while (!err && size > 0) {
        size_t n = size < COPY ? size : COPY;

        err = co_file_read(f, at, buf, n);
        if (!err)
            err = io_write(io, buf, n);
        at += (int64_t)n;
        size -= n;
    }
    free(buf);
    return err;
}

err_t co_file_send(const struct co_file *f, struct io *io, int64_t at, int64_t size)
{
    while (size > 0) {
        size_t n = size < WINDOW ? (size_t)size : WINDOW;
        err_t err = make_there(f, at, n);

        if (!err)
            err = io_can_send_file(io) ? send_direct(f, io, at, n) : send_copied(f, io, at, n);
        if (err)
            return err;
        at += (int64_t)n;
        size -= (int64_t)n;
    }
    return NULL;
}
