/* SPDX-License-Identifier: MIT */
/* log.c - log lines; every line of a connection carries its id. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 8192 };

static const char *const level_names[] = { "DEBUG", "TRACE", "INFO", "WARN", "ERROR", "NONE" };

static const enum log_level class_level[] = {
    [ERR_CLASS_PEER] = LOG_TRACE,  [ERR_CLASS_STOP] = LOG_TRACE, [ERR_CLASS_TIME] = LOG_WARN,
    [ERR_CLASS_PROTO] = LOG_WARN,  [ERR_CLASS_LIMIT] = LOG_WARN, [ERR_CLASS_DENIED] = LOG_WARN,
    [ERR_CLASS_SYS] = LOG_ERROR,
};

static const char *no_cid(void)
{
    return "-";
}

static void to_stderr(enum log_level level, const char *line, size_t size)
{
    (void)level;
    (void)fwrite(line, 1, size, stderr);
}

static struct log_setup setup = { LOG_TRACE, false, no_cid, to_stderr };

/* The line being made. Here and not on the stack, because coroutine stacks are small and each
 * page that one touches stays. Lines are made by one thread, and making one never yields. */
static char line[LINE_SIZE];

void log_init(const struct log_setup *s)
{
    setup = *s;
    if (!setup.cid)
        setup.cid = no_cid;
    if (!setup.write)
        setup.write = to_stderr;
}

bool log_enabled(enum log_level level)
{
    return level >= setup.min;
}

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

/* "[2026-01-02 03:04:05.678]" at the start of the line; gives its length. The date changes once
 * a second, so only then is it made again. */
static size_t stamp(void)
{
    static time_t last = -1;
    static bool last_utc;
    static char date[32];
    struct timeval now;
    struct tm tm;

    (void)gettimeofday(&now, NULL);
    if (now.tv_sec != last || last_utc != setup.utc) {
        last = now.tv_sec;
        last_utc = setup.utc;
        if (setup.utc)
            (void)gmtime_r(&last, &tm);
        else
            (void)localtime_r(&last, &tm);
        (void)strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
    }
    return (size_t)snprintf(line, sizeof(line), "[%s.%03d]", date, (int)(now.tv_usec / 1000));
}

void log_line(enum log_level level, const char *fmt, ...)
{
    int sys = errno;
    size_t n, room;
    va_list ap;
    int made;

    if (!log_enabled(level))
        return;
    n = stamp();
    n += (size_t)snprintf(line + n, sizeof(line) - n, "[%s][%d][%s]", level_names[level],
                          (int)getpid(), setup.cid());
    if (level >= LOG_WARN)
        n += (size_t)snprintf(line + n, sizeof(line) - n, "[%d]", sys);
    line[n++] = ' ';
    room = sizeof(line) - n - 1; /* for the '\n' */
    va_start(ap, fmt);
    made = vsnprintf(line + n, room, fmt, ap);
    va_end(ap);
    if (made > 0)
        n += (size_t)made < room ? (size_t)made : room - 1;
    line[n++] = '\n';
    setup.write(level, line, n);
    errno = sys;
}

void log_end(const char *what, err_t *err)
{
    enum log_level level = class_level[err_class(*err)];
    static char text[1024], frame[256]; /* see `line` above */

    if (!*err)
        return;
    log_line(level, "%s: %s", what, err_text(*err, text, sizeof(text)));
    for (int i = 0; level >= LOG_ERROR && err_frame(*err, i, frame, sizeof(frame)); i++)
        log_line(level, "  thread [%d][%s]: %s", (int)getpid(), setup.cid(), frame);
    err_free(err);
}
