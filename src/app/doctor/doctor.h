/* SPDX-License-Identifier: MIT */
/* doctor.h - checks whether the machine fits the configuration, and gives advice.
 *
 * The report has a row for each check: its result, and if it failed, the command or directive that
 * fixes it. Checks run on a helper thread, because they may block.
 */
#ifndef APP_DOCTOR_DOCTOR_H
#define APP_DOCTOR_DOCTOR_H

#include "base/err.h"
#include "base/jput.h"
#include "conf/conf.h"

#include <stdbool.h>
#include <stdio.h>

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL, DOCTOR_STATES };

struct doctor_row {
    enum doctor_state state;
    const char *check; /* a literal such as "port" */
    char *subject;     /* the checked item, such as "1935"; or "" */
    char *text;        /* the result */
    char *advice;      /* how to fix it; or "" */
};

/* Initially zero. */
struct doctor_report {
    struct doctor_row *v;
    size_t n;
    unsigned count[DOCTOR_STATES];
};

struct doctor_how {
    bool serving;     /* this process serves the configuration, so it uses its ports itself */
    const char *root; /* prefix of /proc and /sys, for tests. NULL: "" */
};

/* Runs all checks and adds their rows. Relative paths are relative to the current folder. Fails
 * with ERR_STOPPED or an error of co_thread_run(). Yields. */
err_t doctor_run(struct doctor_report *r, struct conf *c, const struct doctor_how *how)
    __attribute__((warn_unused_result));
/* Appends all rows of one report to another. */
void doctor_report_move(struct doctor_report *to, struct doctor_report *from);
void doctor_report_free(struct doctor_report *r);

/* Adds a row. Any thread may call it. */
void doctor_add(struct doctor_report *r, enum doctor_state state, const char *check,
                const char *subject, const char *text, ...)
    __attribute__((format(printf, 5, 6)));
/* Adds advice to the last row, unless its check passed. */
void doctor_advise(struct doctor_report *r, const char *text, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds advice to the last row although its check passed. */
void doctor_hint(struct doctor_report *r, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

void doctor_print(const struct doctor_report *r, FILE *to, bool colours);
/* Writes the report as members of the open object. */
void doctor_put(const struct doctor_report *r, struct jput *j);

#endif
