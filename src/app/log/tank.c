/* SPDX-License-Identifier: MIT */
/* tank.c - where log lines end up. */
#include "app/log/tank.h"

#include "app/log/ring.h"
#include "base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    LINE_MAX_SIZE = 8192,
    STAMP_SIZE = 25,          /* "[2026-01-02 03:04:05.678]" */
    RETRY_SECONDS = 10,       /* between attempts to open a file that did not open */
    CLOSE_SECONDS = 2,
    CRASH_WAIT_MS = 500,      /* for a writer that is in the middle of a write */
    WRITER_STACK = 256 * 1024, /* thread-local data of others is in it, too */
};

struct log_tank {
    char *path; /* NULL: console */
    int fd;     /* -1: could not be opened */
    bool color;
    bool started;
    pthread_t writer;
    sem_t wake;
    atomic_bool asleep, stop;
    atomic_uint asked, reopened; /* how often to open the file anew, and which of these is done */
    atomic_bool busy;    /* somebody writes what waits */
    atomic_bool failing; /* the last write or open failed, and that was said */
    atomic_ulong lost;
    bool cut;            /* the last write ended inside a line; writer's own */
    time_t opened;       /* when opening was tried last, seconds of the monotonic clock */
    struct log_ring ring;
    char tinted[LINE_MAX_SIZE + 16];
};

static time_t seconds(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec;
}

/* One line on stderr per trouble, not per line that is lost in it. */
static void trouble(struct log_tank *t, const char *what)
{
    int sys = errno;

    if (!atomic_exchange(&t->failing, true)) {
        fprintf(stderr, "srs: cannot %s log %s: %s; lines are dropped until it works again\n",
                what, t->path ? t->path : "console", strerror(sys));
    }
}

static void open_file(struct log_tank *t)
{
    int fd = open(t->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);

    t->opened = seconds();
    if (fd < 0) {
        trouble(t, "open"); /* what is open stays: better an old file than none */
        return;
    }
    if (t->fd >= 0)
        (void)close(t->fd);
    t->fd = fd;
    t->cut = false;
    atomic_store(&t->failing, false);
}

static unsigned long count_lines(const struct iovec *iov, int count)
{
    unsigned long n = 0;

    for (int i = 0; i < count; i++) {
        const char *p = iov[i].iov_base, *end = p + iov[i].iov_len;

        for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
            n++;
    }
    return n;
}

/* Step over n bytes that are written. */
static void advance(struct iovec iov[2], size_t n)
{
    for (int i = 0; i < 2 && n > 0; i++) {
        size_t part = n < iov[i].iov_len ? n : iov[i].iov_len;

        iov[i].iov_base = (char *)iov[i].iov_base + part;
        iov[i].iov_len -= part;
        n -= part;
    }
}

/* Write all of it. False: it cannot be written, errno says why; iov is what is left. */
static bool write_all(struct log_tank *t, struct iovec iov[2])
{
    if (t->cut && write(t->fd, "\n", 1) == 1)
        t->cut = false; /* the rest of that line is lost, the next one is not */
    while (iov[0].iov_len + iov[1].iov_len > 0) {
        ssize_t n = writev(t->fd, iov, 2);

        if (n > 0) {
            advance(iov, (size_t)n);
            t->cut = true;
        } else if (n < 0 && errno == EAGAIN) {
            /* a console that another program made non-blocking */
            struct pollfd pfd = { .fd = t->fd, .events = POLLOUT };

            (void)poll(&pfd, 1, 100);
            if (atomic_load(&t->stop))
                return false;
        } else if (n == 0 || errno != EINTR) {
            return false;
        }
    }
    t->cut = false;
    return true;
}

static void write_or_count(struct log_tank *t, struct iovec iov[2])
{
    if (t->fd < 0) {
        atomic_fetch_add(&t->lost, count_lines(iov, 2));
    } else if (write_all(t, iov)) {
        atomic_store(&t->failing, false);
    } else {
        trouble(t, "write to");
        atomic_fetch_add(&t->lost, count_lines(iov, 2));
    }
}

static bool is_reopen_due(struct log_tank *t)
{
    return atomic_load(&t->asked) != atomic_load(&t->reopened);
}

static void open_if_asked(struct log_tank *t)
{
    unsigned asked = atomic_load(&t->asked);
    bool again = t->fd < 0 && seconds() - t->opened >= RETRY_SECONDS;

    if (t->path && (asked != atomic_load(&t->reopened) || again))
        open_file(t);
    atomic_store(&t->reopened, asked);
}

static void *writer(void *arg)
{
    struct log_tank *t = arg;
    struct iovec iov[2];
    size_t n;

    for (;;) {
        bool stop = atomic_load(&t->stop);

        open_if_asked(t);
        n = log_ring_peek(&t->ring, iov);
        if (n > 0) {
            while (atomic_exchange(&t->busy, true))
                (void)sched_yield(); /* a crash takes over; we will not come back from here */
            n = log_ring_peek(&t->ring, iov);
            write_or_count(t, iov);
            log_ring_take(&t->ring, n);
            atomic_store(&t->busy, false);
        } else if (stop) {
            return NULL;
        } else {
            /* Say that we sleep, then look once more: so no wake is missed. */
            atomic_store(&t->asleep, true);
            if (log_ring_peek(&t->ring, iov) == 0 && !atomic_load(&t->stop) &&
                !is_reopen_due(t))
                (void)sem_wait(&t->wake);
            atomic_store(&t->asleep, false);
        }
    }
}

static void wake(struct log_tank *t)
{
    if (atomic_exchange(&t->asleep, false))
        (void)sem_post(&t->wake);
}

struct log_tank *log_tank_open(const char *path, int fd, size_t buffer)
{
    struct log_tank *t = must(calloc(1, sizeof(*t)));
    void *room = must(malloc(buffer));

    log_ring_init(&t->ring, room, buffer);
    t->fd = path ? -1 : fd;
    t->color = !path && isatty(fd);
    (void)sem_init(&t->wake, 0, 0);
    if (path) {
        t->path = strdup(path);
        open_file(t);
    }
    return t;
}

err_t log_tank_start(struct log_tank *t)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int failed;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, WRITER_STACK);
    (void)sigfillset(&all); /* signals are for the main thread */
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(&t->writer, &attr, writer, t);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attr);
    errno = failed;
    if (failed)
        return err_sys(ERR_SYSTEM, "start the log writer");
    t->started = true;
    return NULL;
}

/* One line in one piece to where lines go. False: no room. */
static bool put(struct log_tank *t, const char *line, size_t size)
{
    struct iovec iov[2] = { { (void *)(uintptr_t)line, size }, { NULL, 0 } };

    if (t->started) {
        bool ok = log_ring_put(&t->ring, line, size);

        wake(t);
        return ok;
    }
    open_if_asked(t);
    write_or_count(t, iov);
    return true;
}

/* Say how many lines are missing where they are missing. */
static void log_lost(struct log_tank *t, const char *line, size_t size)
{
    unsigned long lost = atomic_exchange(&t->lost, 0);
    char note[160];
    int n;

    if (size < STAMP_SIZE)
        size = 0; /* not one of our lines: no time to take from it */
    n = snprintf(note, sizeof(note), "%.*s[WARN][%d][-][0] log: %lu lines before this were lost\n",
                 size ? STAMP_SIZE : 0, line, (int)getpid(), lost);
    if (!put(t, note, (size_t)n))
        atomic_fetch_add(&t->lost, lost);
}

/* The line in yellow or red; gives its new size. */
static size_t tint(struct log_tank *t, enum log_level level, const char *line, size_t size)
{
    bool nl = line[size - 1] == '\n';

    return (size_t)snprintf(t->tinted, sizeof(t->tinted), "\033[%dm%.*s\033[0m%s",
                            level == LOG_WARN ? 33 : 31, (int)(size - nl), line, nl ? "\n" : "");
}

void log_tank_put(struct log_tank *t, enum log_level level, const char *line, size_t size)
{
    int sys = errno;

    if (atomic_load(&t->lost) && !atomic_load(&t->failing))
        log_lost(t, line, size);
    if (t->color && level >= LOG_WARN && size > 0 && size <= LINE_MAX_SIZE) {
        size = tint(t, level, line, size);
        line = t->tinted;
    }
    if (!put(t, line, size))
        atomic_fetch_add(&t->lost, 1);
    errno = sys;
}

void log_tank_reopen(struct log_tank *t)
{
    atomic_fetch_add(&t->asked, 1);
    if (t->started)
        wake(t);
    else
        open_if_asked(t);
}

static void sleep_1ms(void)
{
    (void)nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

bool log_tank_flush(struct log_tank *t, int ms)
{
    struct iovec iov[2];

    while (t->started && (log_ring_peek(&t->ring, iov) > 0 || atomic_load(&t->busy) ||
                          is_reopen_due(t))) {
        if (ms-- <= 0)
            return false;
        sleep_1ms();
    }
    return true;
}

/* Not by the clock: it may be set meanwhile. */
static bool writer_ends(struct log_tank *t)
{
    for (int ms = CLOSE_SECONDS * 1000; pthread_tryjoin_np(t->writer, NULL) != 0; ms--) {
        if (ms <= 0)
            return false;
        sleep_1ms();
    }
    return true;
}

void log_tank_close(struct log_tank *t)
{
    if (!t)
        return;
    if (t->started) {
        atomic_store(&t->stop, true);
        (void)sem_post(&t->wake);
        if (!writer_ends(t))
            return; /* it hangs in a write: what it uses must stay */
    }
    if (t->path && t->fd >= 0)
        (void)close(t->fd);
    (void)sem_destroy(&t->wake);
    free(t->ring.buf);
    free(t->path);
    free(t);
}

void log_tank_crash(struct log_tank *t, const char *last_words, size_t size)
{
    struct iovec iov[2];

    for (int ms = 0; atomic_exchange(&t->busy, true) && ms < CRASH_WAIT_MS; ms++)
        sleep_1ms();
    if (t->fd < 0)
        return;
    (void)log_ring_peek(&t->ring, iov);
    for (int i = 0; i < 2; i++) {
        if (iov[i].iov_len > 0 && write(t->fd, iov[i].iov_base, iov[i].iov_len) < 0)
            return;
    }
    (void)!write(t->fd, last_words, size);
    /* busy stays set: nobody else writes these lines again */
}

unsigned long log_tank_lost(const struct log_tank *t)
{
    return atomic_load(&t->lost);
}
