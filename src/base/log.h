/* SPDX-License-Identifier: MIT */
/* log.h - log lines, in the format of SRS:
 *
 *     [2026-01-02 03:04:05.678][INFO][pid][cid] text
 *     [2026-01-02 03:04:05.678][WARN][pid][cid][errno] text
 *
 * This module formats lines. The program sets their destination and the source of the cid once
 * (log_setup); without a setup, lines go to stderr with cid "-".
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/err.h"
#include "base/log_budget.h"

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_TRACE, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_NONE };

struct log_setup {
    enum log_level min;        /* lines below this level are not written */
    bool utc;                  /* UTC instead of local time */
    const char *(*cid)(void);  /* id of the running connection; "" for none */
    void (*write)(enum log_level level, const char *line, size_t size); /* the line includes '\n' */
    /* budget of the running connection; NULL, or a NULL result: no limit */
    struct log_budget *(*budget)(void);
};

/* Copies the setup, which takes effect with the next line. NULL members keep their defaults. Only
 * while a single thread writes lines. */
void log_init(const struct log_setup *setup);
bool log_enabled(enum log_level level);

/* If several threads write lines, each must call these at its start and end. The end reports the
 * thread's omitted lines. A single thread need not call them. */
void log_thread_begin(void);
void log_thread_end(void);
/* For setup.write: the time in the line, in microseconds of the wall clock. */
int64_t log_time(void);

/* Configuration of the lines that peers cause. */
struct log_rules {
    bool secrets;               /* show URL parameters and other secrets */
    struct log_rate one, all;   /* for one connection, and for all untrusted clients together */
    struct log_rate address;    /* for the clients of one address; all clients have 50 times that */
};

/* Copies the rules, for all threads, at any time. A shared budget whose rate changes starts full.
 * Before the first call secrets are shown and there are no limits. */
void log_rule(const struct log_rules *rules);
/* Returns the form of URL parameters ("?a=b" or "a=b") for a separate field of a log line. */
const char *log_param(const char *param);
/* Called at the end of a connection: adds its omitted lines to the total of all untrusted clients.
 * */
void log_forget(struct log_budget *b);
/* Reports this thread's omitted lines of untrusted clients and of addresses now, if any. */
void log_report_left_out(void);

/* A line is at most 8 KB, for untrusted clients 1 KB at the default level; longer text is cut.
 * Keeps errno. Control characters of the text become '?', secrets "***" (log_clean.h). A line over
 * a budget is counted and not written; errors of connections have one budget for all of them. */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes a line without a budget, although a peer may cause it: periodic statistics and actions of
 * the API. */
void log_always(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes a line at the default level whose text comes only from this program and the configuration
 * and has no secrets: URL parameters are shown. */
void log_public(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_trace(...) log_line(LOG_TRACE, __VA_ARGS__) /* shown by default */
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

/* Writes the last line of a connection or task: `what`, and the reason why it ended. The level
 * depends on the class of the error; internal errors have a trace. Frees *err. */
void log_end(const char *what, err_t *err);

#endif
