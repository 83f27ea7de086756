/* SPDX-License-Identifier: MIT */
/* start.h - what happens before there is a server: configuration, folder, limits, first lines. */
#ifndef APP_START_H
#define APP_START_H

#include "app/options.h"
#include "base/err.h"
#include "conf/conf.h"

/* Where the configuration is and how it was read. */
struct start {
    char *path; /* absolute, so that it is found after a change of folder; NULL: environment */
    char *folder; /* where the program was started: relative includes are there */
    struct conf_source src;
    char **odd; /* what the configuration warns of, until there is a log to say it in */
    size_t odd_count;
};

/* Find out what the configuration is checked against; the limit of descriptors is raised as far
 * as the system lets us. ERR_CONF: there is neither file nor environment to use. */
err_t start_begin(struct start *s, const struct options *o) __attribute__((warn_unused_result));
void  start_end(struct start *s);
/* Load it; warnings are kept. */
err_t start_load(struct start *s, struct conf **out) __attribute__((warn_unused_result));
/* Warn of folders and keys that it names and that are not there. Before the change of folder. */
void  start_paths_look(struct start *s, const struct conf *c);
void  start_warn(struct start *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What went wrong at the start, for the terminal: "FILE:LINE: ..." of a configuration; else with
 * the code and its name. */
const char *start_said(err_t err, char *buf, size_t size);
/* From here on read files without holding up coroutines: once they run. */
void  start_read_by_thread(struct start *s);
/* Change to work_dir, open the log, say who we are, what we read and what was odd in it. */
err_t start_log(struct start *s, const struct conf *c) __attribute__((warn_unused_result));

#endif
