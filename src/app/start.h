/* SPDX-License-Identifier: MIT */
/* start.h - the start of the process before the server exists: configuration, folder, limits and
 * the first log lines. */
#ifndef APP_START_H
#define APP_START_H

#include "app/options.h"
#include "base/err.h"
#include "conf/conf.h"

/* Location of the configuration and the warnings about it. */
struct start {
    char *path; /* absolute, to survive a change of folder; NULL: environment only */
    char *folder; /* the folder at the start, which relative includes refer to */
    struct conf_source src;
    char **odd; /* warnings of the configuration, kept until the log is open */
    size_t odd_count;
};

/* Collects the facts that the configuration is checked against, and raises the limit of descriptors
 * as far as the system allows. Returns ERR_CONF if there is neither a file nor an environment. */
err_t start_begin(struct start *s, const struct options *o) __attribute__((warn_unused_result));
void  start_end(struct start *s);
/* Loads the configuration and keeps its warnings. */
err_t start_load(struct start *s, struct conf **out) __attribute__((warn_unused_result));
/* Warns of configured folders and keys that do not exist. Call it before the change of folder. */
void  start_paths_check(struct start *s, const struct conf *c);
void  start_warn(struct start *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Formats an error of the start for the terminal: "FILE:LINE: ..." for a configuration, else with
 * the code and its name. */
const char *start_error_text(err_t err, char *buf, size_t size);
/* Reads files on a helper thread from now on, so that coroutines are not blocked. */
void  start_read_by_thread(struct start *s);
/* Changes to work_dir, opens the log, and logs the version, the configuration and its warnings. */
err_t start_log(struct start *s, const struct conf *c) __attribute__((warn_unused_result));

#endif
