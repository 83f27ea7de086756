/* SPDX-License-Identifier: MIT */
/* condition.h - state of something that should run all the time, such as a pull or a recording:
 * since when, and the last error.
 *
 * It stays CONDITION_FAILING through all attempts until it runs again, so `since` is the start of
 * the failure.
 */
#ifndef SESSION_CONDITION_H
#define SESSION_CONDITION_H

#include "base/err.h"
#include "co/co.h"

enum condition_state {
    CONDITION_STARTING, /* first attempt */
    CONDITION_WAITING,  /* nothing to do yet */
    CONDITION_RUNNING,
    CONDITION_FAILING,
};
enum { CONDITION_STATES = CONDITION_FAILING + 1, CONDITION_ERROR = 240 };

struct condition {
    enum condition_state state;
    co_usec since;     /* start of the state; co_clock() */
    unsigned failures; /* number of failures */
    co_usec failed_at; /* time of the last failure; 0: never */
    char error[CONDITION_ERROR]; /* text of the last error, or "" */
};

/* Enters a state, unless it is in it already. */
void condition_be(struct condition *c, enum condition_state state);
/* Records a failure; the caller keeps the error. */
void condition_failed(struct condition *c, err_t err);
/* Records a failure with a text. Neither function logs. */
void condition_failed_text(struct condition *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *condition_name(enum condition_state state); /* "running" */

#endif
