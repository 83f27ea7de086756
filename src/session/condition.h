/* SPDX-License-Identifier: MIT */
/* condition.h - how something is that should run all the time, such as a pull or a recording:
 * since when, and what went wrong last.
 *
 * One that fails stays CONDITION_FAILING through all its tries until it runs again, so `since`
 * tells how long it has not worked.
 */
#ifndef SESSION_CONDITION_H
#define SESSION_CONDITION_H

#include "base/err.h"
#include "co/co.h"

enum condition_state {
    CONDITION_STARTING, /* its first try */
    CONDITION_WAITING,  /* nothing to do yet */
    CONDITION_RUNNING,
    CONDITION_FAILING,
};
enum { CONDITION_STATES = CONDITION_FAILING + 1, CONDITION_ERROR = 240 };

struct condition {
    enum condition_state state;
    co_usec since;     /* it is in this state; co_clock() */
    unsigned failures; /* so far */
    co_usec failed_at; /* the last time; 0: never */
    char error[CONDITION_ERROR]; /* the last one, in words; "" */
};

/* In that state from now on, unless it is already. */
void condition_be(struct condition *c, enum condition_state state);
/* A failure. The error stays the caller's. */
void condition_failed(struct condition *c, err_t err);
/* The same with words of its own; neither logs anything. */
void condition_failed_text(struct condition *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *condition_name(enum condition_state state); /* "running" */

#endif
