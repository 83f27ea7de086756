/* SPDX-License-Identifier: MIT */
/* doctor.h - does the machine suit the configuration, and what should be changed?
 *
 * A row for each thing that was checked: how it is, and when it is not well, the command or the
 * directive that makes it so. All that may block is done on a helper thread.
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
    const char *check; /* a literal: "port" */
    char *subject;     /* which of them: "1935"; or "" */
    char *text;        /* how it is */
    char *advice;      /* what to do; "": nothing */
};

/* Zero to begin with. */
struct doctor_report {
    struct doctor_row *v;
    size_t n;
    unsigned count[DOCTOR_STATES];
};

struct doctor_how {
    bool serving;     /* this process serves this configuration: its ports are its own */
    const char *root; /* before /proc and /sys: tests have their own. NULL: "" */
};

/* Check everything, add the rows. Relative paths are as this process sees them. ERR_STOPPED, and
 * what co_thread_run says. Yields. */
err_t doctor_run(struct doctor_report *r, struct conf *c, const struct doctor_how *how)
    __attribute__((warn_unused_result));
/* All rows of one behind those of another. */
void doctor_report_move(struct doctor_report *to, struct doctor_report *from);
void doctor_report_free(struct doctor_report *r);

/* One more row. Any thread. */
void doctor_add(struct doctor_report *r, enum doctor_state state, const char *check,
                const char *subject, const char *text, ...)
    __attribute__((format(printf, 5, 6)));
/* What to do about the last one, unless it is well. */
void doctor_advise(struct doctor_report *r, const char *text, ...)
    __attribute__((format(printf, 2, 3)));
/* What could be done, though it is well. */
void doctor_hint(struct doctor_report *r, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

void doctor_print(const struct doctor_report *r, FILE *to, bool colours);
/* As members of the object that is open. */
void doctor_put(const struct doctor_report *r, struct jput *j);

#endif
