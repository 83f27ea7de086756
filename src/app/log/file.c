/* SPDX-License-Identifier: MIT */
/* file.c - the log of the process. */
#include "app/log/file.h"

#include "app/log/writer.h"
#include "base/log.h"
#include "co/co.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 512 * 1024, LAST = 256 * 1024, STAMP_SIZE = 25 };
enum { STAMP_WORDS = STAMP_SIZE / 8 + 1, CRASH_WAIT_MS = 2000 };

/* Lines per second that are allowed at once: for one connection, for all untrusted clients, and for
 * one address. They cover the first lines of a connection and the start of the server. */
enum { LINES_AT_ONCE = 30, STRANGERS_AT_ONCE = 200, ADDRESS_AT_ONCE = 1000 };

/* log_init() takes functions without an argument, since there is one log per process. Only written
 * while no other thread logs. */
static struct log_writer *writer;
static bool console;
static _Atomic uint64_t stamp[STAMP_WORDS]; /* time of the last line, for the crash line */
static atomic_bool several; /* several threads log, each with an inlet: */
static _Thread_local struct log_inlet *inlet;
static atomic_bool crashed;

/* The configuration has two levels of detail below the usual one; here they are one. */
static const enum log_level levels[] = {
    [CONF_LOG_VERBOSE] = LOG_DEBUG, [CONF_LOG_DETAIL] = LOG_DEBUG, [CONF_LOG_USUAL] = LOG_TRACE,
    [CONF_LOG_WARN] = LOG_WARN,     [CONF_LOG_ERROR] = LOG_ERROR,
};

static const char *cid(void)
{
    const char *own = co_cid();

    return *own ? own : "-";
}

/* Any thread may call this while a crashing thread reads it, so it is written word by word. */
static void keep_stamp(const char *line)
{
    uint64_t words[STAMP_WORDS] = { 0 };

    memcpy(words, line, STAMP_SIZE);
    for (int i = 0; i < STAMP_WORDS; i++)
        atomic_store_explicit(&stamp[i], words[i], memory_order_relaxed);
}

static void to_tank(enum log_level level, const char *line, size_t size)
{
    if (size > STAMP_SIZE)
        keep_stamp(line);
    if (atomic_load_explicit(&several, memory_order_relaxed))
        log_writer_put_from(writer, inlet, log_time(), level, line, size);
    else
        log_writer_put(writer, level, line, size);
}

void log_file_open(const struct conf *c)
{
    const struct log_setup setup = { levels[c->log_level], c->utc_time, cid, to_tank,
                                     co_log_budget };

    console = c->srs_log_tank == CONF_TANK_CONSOLE;
    writer = log_writer_open(console ? NULL : c->srs_log_file, STDOUT_FILENO, BUFFER);
    log_writer_keep(writer, LAST);
    log_init(&setup);
    log_file_rule(c);
}

void log_file_rule(const struct conf *c)
{
    const struct log_rules rules = {
        .secrets = c->log_secrets,
        .one = { c->limits.log_lines, LINES_AT_ONCE },
        .all = { c->limits.log_untrusted, STRANGERS_AT_ONCE },
        .address = { c->limits.log_address, ADDRESS_AT_ONCE },
    };

    log_rule(&rules);
}

bool log_file_is_open(void)
{
    return writer != NULL;
}

bool log_file_is_console(void)
{
    return writer && console;
}

err_t log_file_start(void)
{
    return log_writer_start(writer);
}

void log_file_join(void)
{
    log_thread_begin();
    if (!writer)
        return;
    inlet = log_writer_join(writer);
    atomic_store(&several, true);
}

void log_file_leave(void)
{
    log_thread_end();
    if (writer)
        log_writer_leave(writer, inlet);
    inlet = NULL;
}

char *log_file_last(uint64_t after, size_t lines, uint64_t *end)
{
    return log_writer_last(writer, after, lines, end);
}

void log_file_reopen(void)
{
    if (writer)
        log_writer_reopen(writer);
}

void log_file_close(void)
{
    const struct log_setup none = { LOG_TRACE, false, cid, NULL, NULL };
    struct log_writer *t = writer;

    log_init(&none);
    writer = NULL;
    inlet = NULL;
    atomic_store(&several, false);
    log_writer_close(t);
}

static size_t add(char *to, size_t n, size_t size, const char *s)
{
    while (*s && n + 1 < size)
        to[n++] = *s++;
    to[n] = '\0';
    return n;
}

static size_t add_number(char *to, size_t n, size_t size, unsigned long v)
{
    char digits[24], *p = digits + sizeof(digits) - 1;

    *p = '\0';
    do {
        *--p = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    return add(to, n, size, p);
}

static size_t add_stamp(char *to, size_t size)
{
    uint64_t text[STAMP_WORDS];

    for (int i = 0; i < STAMP_WORDS; i++)
        text[i] = atomic_load_explicit(&stamp[i], memory_order_relaxed);
    return add(to, 0, size, (const char *)text);
}

/* Waits for another thread that has crashed: it ends the process after it has logged the reason. */
static void let_it_die(void)
{
    for (int ms = 0; ms < CRASH_WAIT_MS; ms++)
        (void)nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
}

void log_file_crash(const char *words)
{
    static char line[4096]; /* static, because the stack may have overflowed */
    size_t n;

    if (atomic_exchange(&crashed, true)) {
        let_it_die();
        return;
    }
    n = add_stamp(line, sizeof(line));
    n = add(line, n, sizeof(line), "[ERROR][");
    n = add_number(line, n, sizeof(line), (unsigned long)getpid());
    n = add(line, n, sizeof(line), "][");
    n = add(line, n, sizeof(line), cid());
    n = add(line, n, sizeof(line), "][0] ");
    n = add(line, n, sizeof(line) - 1, words);
    n = add(line, n, sizeof(line), "\n");
    (void)!write(STDERR_FILENO, line, n);
    if (writer)
        log_writer_crash(writer, line, n);
}
