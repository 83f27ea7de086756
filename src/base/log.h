/* SPDX-License-Identifier: MIT */
/* log.h - log lines in the shape that operators of such servers know:
 *
 *     [2026-01-02 03:04:05.678][INFO][pid][cid] text
 *     [2026-01-02 03:04:05.678][WARN][pid][cid][errno] text
 *
 * This file makes lines. Where they go, and whose cid they carry, is handed in
 * once by the program (log_setup); without it lines go to stderr with cid "-".
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/err.h"
#include "base/log_budget.h"

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_TRACE, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_NONE };

struct log_setup {
    enum log_level min;        /* lines below it are not made */
    bool utc;                  /* UTC instead of local time */
    const char *(*cid)(void);  /* id of the connection that runs now; "" for none */
    void (*write)(enum log_level level, const char *line, size_t size); /* with its '\n' */
    struct log_budget *(*budget)(void); /* of who runs now; NULL, or one of NULL: no limit */
};

/* Copied; takes effect with the next line. NULL members keep their defaults. While one thread makes
 * lines. */
void log_init(const struct log_setup *setup);
bool log_enabled(enum log_level level);

/* Where several threads make lines, each says that it does, and that it ends: then what was left
 * out of its lines is told. One that is alone need not. */
void log_thread_begin(void);
void log_thread_end(void);
/* For setup.write: when the line was made, as it says, in microseconds of the wall clock. */
int64_t log_made_at(void);

/* What the configuration says of the lines that peers cause. */
struct log_rules {
    bool secrets;               /* show parameters of addresses, and the like */
    struct log_rate one, all;   /* of one connection, and of all strangers together */
    struct log_rate address;    /* of the clients of one address; all clients have 50 times that */
};

/* Copied, for all threads, at any time; a shared budget whose rate changes begins full. Until then:
 * secrets, no limits. */
void log_rule(const struct log_rules *rules);
/* What of parameters ("?a=b" or "a=b") may be shown where they are a field of their own. */
const char *log_param(const char *param);
/* Their connection is over: what was left out of its lines is counted with those of all. */
void log_forget(struct log_budget *b);
/* Say now how many lines of strangers and of addresses were left out, if any, by this thread. */
void log_report_left_out(void);

/* At most 8 KB a line, of strangers 1 KB at the default level; longer text is cut. Keeps errno.
 * Control characters of the text become '?', secrets "***" (log_clean.h). A line over a budget is
 * counted and not written; errors of connections have one budget for all of them. */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The same for those lines that no budget may hold back though they are written for a peer:
 * statistics, which have a period of their own, and what the API was told to do. */
void log_always(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line at the default level whose text comes from this program and the configuration alone and
 * holds no secrets: parameters of addresses are shown. */
void log_public(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_trace(...) log_line(LOG_TRACE, __VA_ARGS__) /* what operators see by default */
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

/* The last line of a connection or task: "what" and why it ended, at a level that the
 * error's class sets, with its trace where the fault is ours. Frees *err. */
void log_end(const char *what, err_t *err);

#endif
