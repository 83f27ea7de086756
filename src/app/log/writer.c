/* SPDX-License-Identifier: MIT */
/* writer.c - writes log lines to a file or the console on its own thread. */
#include "app/log/writer.h"

#include "app/log/merge.h"
#include "app/log/last.h"
#include "base/must.h"

#include <assert.h>
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
    /* bytes: enough until the writer wakes; the ring absorbs slow disks */
    INLET = 128 * 1024,
    MORE = 256,               /* additional bytes of a line: colour, a note before it */
    STAMP_SIZE = 25,          /* "[2026-01-02 03:04:05.678]" */
    RETRY_SECONDS = 10,       /* between attempts to open a file that did not open */
    CLOSE_SECONDS = 2,
    CRASH_WAIT_MS = 500,      /* for a writer that is busy */
    CRASH_ROUNDS = 32,        /* rounds of draining while other threads still log */
    HOLD_TURNS = 10000,       /* spins while another thread merges lines */
    WRITER_STACK = 256 * 1024, /* also holds the thread-local data of libraries */
};

struct log_writer {
    char *path; /* NULL: console */
    int fd;     /* -1: the file could not be opened */
    bool color;
    bool started;
    pthread_t writer;
    sem_t wake;
    atomic_bool asleep, stop;
    atomic_uint requested, reopened; /* reopen requests, and how many of them are done */
    atomic_bool busy;    /* a thread is writing pending lines */
    atomic_bool failing; /* the last write or open failed and was reported */
    atomic_ulong lost;
    bool cut;            /* the last write ended inside a line; used by the writer only */
    time_t opened;       /* time of the last attempt to open, seconds of the monotonic clock */
    struct log_ring ring;
    struct log_last last; /* like the ring, used by the thread that puts lines in it */
    /* If several threads log (`shared`), lines go into inlets, and the thread that has set
     * `merging` moves them to the ring. Otherwise the only thread puts lines into the ring. */
    atomic_bool shared, merging;
    struct log_merge inlets;
    char line[LOG_LINE_MAX], tinted[LOG_LINE_MAX + 16];
};

static time_t seconds(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec;
}

/* Reports a problem on stderr once, not for each line that it loses. */
static void trouble(struct log_writer *t, const char *what)
{
    int sys = errno;

    if (!atomic_exchange(&t->failing, true)) {
        fprintf(stderr, "srs: cannot %s log %s: %s; lines are dropped until it works again\n",
                what, t->path ? t->path : "console", strerror(sys));
    }
}

static void open_file(struct log_writer *t)
{
    int fd = open(t->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);

    t->opened = seconds();
    if (fd < 0) {
        trouble(t, "open"); /* keeps the old file open: better than none */
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

/* Skips n written bytes. */
static void advance(struct iovec iov[2], size_t n)
{
    for (int i = 0; i < 2 && n > 0; i++) {
        size_t part = n < iov[i].iov_len ? n : iov[i].iov_len;

        iov[i].iov_base = (char *)iov[i].iov_base + part;
        iov[i].iov_len -= part;
        n -= part;
    }
}

/* Writes all bytes. Returns false with errno set if it cannot; iov is the rest. */
static bool write_all(struct log_writer *t, struct iovec iov[2])
{
    if (t->cut && write(t->fd, "\n", 1) == 1)
        t->cut = false; /* loses the rest of that line, but not the next line */
    while (iov[0].iov_len + iov[1].iov_len > 0) {
        ssize_t n = writev(t->fd, iov, 2);

        if (n > 0) {
            advance(iov, (size_t)n);
            t->cut = true;
        } else if (n < 0 && errno == EAGAIN) {
            /* another program has made the console non-blocking */
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

static void write_or_count(struct log_writer *t, struct iovec iov[2])
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

static bool is_reopen_due(struct log_writer *t)
{
    return atomic_load(&t->requested) != atomic_load(&t->reopened);
}

static void open_if_asked(struct log_writer *t)
{
    unsigned requested = atomic_load(&t->requested);
    bool again = t->fd < 0 && seconds() - t->opened >= RETRY_SECONDS;

    if (t->path && (requested != atomic_load(&t->reopened) || again))
        open_file(t);
    atomic_store(&t->reopened, requested);
}

static void wake(struct log_writer *t)
{
    if (atomic_exchange(&t->asleep, false))
        (void)sem_post(&t->wake);
}

/* Puts a whole line into the ring or the inlet. Returns false if there is no space. */
static bool put(struct log_writer *t, const char *line, size_t size)
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

/* Logs the number of lost lines at the place where they are missing. */
static void log_lost(struct log_writer *t, const char *line, size_t size)
{
    unsigned long lost = atomic_exchange(&t->lost, 0);
    char note[160];
    int n;

    if (size < STAMP_SIZE)
        size = 0; /* the line has no timestamp to copy */
    n = snprintf(note, sizeof(note), "%.*s[WARN][%d][-][0] log: %lu lines before this were lost\n",
                 size ? STAMP_SIZE : 0, line, (int)getpid(), lost);
    if (!put(t, note, (size_t)n))
        atomic_fetch_add(&t->lost, lost);
}

/* Colours the line yellow or red and returns its new size. */
static size_t tint(struct log_writer *t, enum log_level level, const char *line, size_t size)
{
    bool nl = line[size - 1] == '\n';

    return (size_t)snprintf(t->tinted, sizeof(t->tinted), "\033[%dm%.*s\033[0m%s",
                            level == LOG_WARN ? 33 : 31, (int)(size - nl), line, nl ? "\n" : "");
}

/* Delivers the next line to the ring. */
static void deliver(struct log_writer *t, enum log_level level, const char *line, size_t size)
{
    if (t->last.buf)
        log_last_put(&t->last, line, size);
    if (atomic_load(&t->lost) && !atomic_load(&t->failing))
        log_lost(t, line, size);
    if (t->color && level >= LOG_WARN && size > 0 && size <= LOG_LINE_MAX) {
        size = tint(t, level, line, size);
        line = t->tinted;
    }
    if (!put(t, line, size))
        atomic_fetch_add(&t->lost, 1);
}

/* Delivers the next line in a signal handler. */
static void deliver_in_crash(struct log_writer *t, enum log_level level, const char *line,
                             size_t size)
{
    (void)level;
    (void)log_ring_put(&t->ring, line, size);
}

typedef void deliver_fn(struct log_writer *t, enum log_level level, const char *line, size_t size);

/* Moves pending lines from the inlets to the ring, in order, as far as there is space. */
static void fill(struct log_writer *t, deliver_fn *fn)
{
    size_t most = t->ring.size; /* a bound, because other threads continue to log */
    struct log_inlet *from;
    struct log_head h;

    while (most > 0 && (from = log_merge_next(&t->inlets, &h))) {
        bool ever = h.size + MORE <= t->ring.size;

        if (ever && h.size + MORE > log_ring_room(&t->ring))
            return;
        log_inlet_take(from, &h, t->line);
        if (ever)
            fn(t, (enum log_level)h.level, t->line, h.size);
        else
            atomic_fetch_add(&t->lost, 1);
        most -= h.size < most ? h.size : most;
    }
}

static bool waits(struct log_writer *t)
{
    struct iovec iov[2];

    return log_ring_peek(&t->ring, iov) > 0 ||
           (atomic_load(&t->shared) && log_merge_waits(&t->inlets));
}

static bool hold_gathering(struct log_writer *t)
{
    int turns = 0;

    while (atomic_exchange(&t->merging, true)) {
        if (++turns > HOLD_TURNS)
            return false;
        (void)sched_yield();
    }
    return true;
}

static void collect(struct log_writer *t)
{
    if (!atomic_load(&t->shared) || !hold_gathering(t))
        return;
    fill(t, deliver);
    atomic_store(&t->merging, false);
}

static void *writer(void *arg)
{
    struct log_writer *t = arg;
    struct iovec iov[2];
    size_t n;

    for (;;) {
        bool stop = atomic_load(&t->stop);

        open_if_asked(t);
        collect(t);
        n = log_ring_peek(&t->ring, iov);
        if (n > 0) {
            while (atomic_exchange(&t->busy, true))
                (void)sched_yield(); /* a crash has taken over; this never returns */
            n = log_ring_peek(&t->ring, iov);
            write_or_count(t, iov);
            log_ring_take(&t->ring, n);
            atomic_store(&t->busy, false);
        } else if (stop) {
            return NULL;
        } else {
            /* Announces the sleep, then checks once more, so that no wakeup is missed. */
            atomic_store(&t->asleep, true);
            if (!waits(t) && !atomic_load(&t->stop) && !is_reopen_due(t))
                (void)sem_wait(&t->wake);
            atomic_store(&t->asleep, false);
        }
    }
}

struct log_writer *log_writer_open(const char *path, int fd, size_t buffer)
{
    struct log_writer *t = must(calloc(1, sizeof(*t)));
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

err_t log_writer_start(struct log_writer *t)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int failed;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, WRITER_STACK);
    (void)sigfillset(&all); /* only the main thread handles signals */
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

void log_writer_put(struct log_writer *t, enum log_level level, const char *line, size_t size)
{
    int sys = errno;

    deliver(t, level, line, size);
    errno = sys;
}

struct log_inlet *log_writer_join(struct log_writer *t)
{
    struct log_inlet *i;

    assert(t->started);
    i = log_merge_join(&t->inlets, INLET);
    atomic_store(&t->shared, true);
    return i;
}

void log_writer_leave(struct log_writer *t, struct log_inlet *i)
{
    log_inlet_leave(i);
    wake(t);
}

void log_writer_put_from(struct log_writer *t, struct log_inlet *i, int64_t made,
                       enum log_level level, const char *line, size_t size)
{
    int sys = errno;

    if (!i || !log_inlet_put(i, made, level, line, size))
        atomic_fetch_add(&t->lost, 1);
    wake(t);
    errno = sys;
}

void log_writer_keep(struct log_writer *t, size_t size)
{
    log_last_init(&t->last, size);
}

char *log_writer_last(struct log_writer *t, uint64_t after, size_t lines, uint64_t *end)
{
    bool shared = atomic_load(&t->shared);
    char *copy;

    if (shared && !hold_gathering(t)) {
        *end = after;
        return must(strdup(""));
    }
    if (shared)
        fill(t, deliver);
    *end = t->last.end;
    copy = log_last_copy(&t->last, after, lines);
    if (shared) {
        atomic_store(&t->merging, false);
        wake(t);
    }
    return copy;
}

void log_writer_reopen(struct log_writer *t)
{
    atomic_fetch_add(&t->requested, 1);
    if (t->started)
        wake(t);
    else
        open_if_asked(t);
}

static void sleep_1ms(void)
{
    (void)nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

bool log_writer_flush(struct log_writer *t, int ms)
{
    struct iovec iov[2];

    /* in the order of the data: from inlets to the ring, from there to the file */
    while (t->started && (log_merge_waits(&t->inlets) || atomic_load(&t->merging) ||
                          log_ring_peek(&t->ring, iov) > 0 || atomic_load(&t->busy) ||
                          is_reopen_due(t))) {
        if (ms-- <= 0)
            return false;
        sleep_1ms();
    }
    return true;
}

/* Waits for the writer to end. It counts steps, because the wall clock may be changed. */
static bool writer_ends(struct log_writer *t)
{
    for (int ms = CLOSE_SECONDS * 1000; pthread_tryjoin_np(t->writer, NULL) != 0; ms--) {
        if (ms <= 0)
            return false;
        sleep_1ms();
    }
    return true;
}

void log_writer_close(struct log_writer *t)
{
    if (!t)
        return;
    if (t->started) {
        atomic_store(&t->stop, true);
        (void)sem_post(&t->wake);
        if (!writer_ends(t))
            return; /* it hangs in a write and still uses this memory */
    }
    if (t->path && t->fd >= 0)
        (void)close(t->fd);
    (void)sem_destroy(&t->wake);
    log_merge_fini(&t->inlets);
    log_last_fini(&t->last);
    free(t->ring.buf);
    free(t->path);
    free(t);
}

/* Writes the content of the ring and removes it if `take` is set. Returns false on failure. */
static bool write_in_crash(struct log_writer *t, bool take)
{
    struct iovec iov[2];
    size_t n = log_ring_peek(&t->ring, iov);

    for (int i = 0; i < 2; i++) {
        if (iov[i].iov_len > 0 && write(t->fd, iov[i].iov_base, iov[i].iov_len) < 0)
            return false;
    }
    if (take)
        log_ring_take(&t->ring, n);
    return true;
}

static bool take_over(atomic_bool *flag)
{
    int ms = 0;

    while (atomic_exchange(flag, true)) {
        if (ms++ == CRASH_WAIT_MS)
            return false;
        sleep_1ms();
    }
    return true;
}

void log_writer_crash(struct log_writer *t, const char *last_words, size_t size)
{
    bool all = take_over(&t->busy) && atomic_load(&t->shared) && take_over(&t->merging), ok;

    if (t->fd < 0)
        return;
    ok = write_in_crash(t, all);
    for (int i = 0; all && ok && i < CRASH_ROUNDS && log_merge_waits(&t->inlets); i++) {
        fill(t, deliver_in_crash);
        ok = write_in_crash(t, all);
    }
    if (ok)
        (void)!write(t->fd, last_words, size);
    /* both flags stay set, so that no other thread writes these lines again */
}

unsigned long log_writer_lost(const struct log_writer *t)
{
    return atomic_load(&t->lost);
}
