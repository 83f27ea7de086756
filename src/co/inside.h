/* SPDX-License-Identifier: MIT */
/* inside.h - what a coroutine is made of; for co/ alone. */
#ifndef CO_INSIDE_H
#define CO_INSIDE_H

#include "co/co.h"

#include <st.h>

enum { CO_CID_SIZE = 8 };

struct co_deadline;

struct co {
    struct co *next, **prev; /* in the group */
    struct co_group *group;
    const char *name;
    co_fn *fn;
    void *arg;
    st_thread_t thread;
    struct co_timer timer; /* may be set longer than the wait lasts, see co_park() */
    co_usec deadline;      /* of the park, CO_FOREVER without */
    bool parked, woken, timed_out;
    bool stop;  /* its waits end; co_stop_hold() takes that back for a while */
    bool asked; /* by co_stop() */
    unsigned waits;
    unsigned yielded_at; /* of these, when it let others run last */
    char cid[CO_CID_SIZE + 1];
    struct log_budget lines;
    err_t why;                /* it was; NULL: ERR_STOPPED */
    struct co_deadline *over; /* those that passed, the first one first */
};

/* The coroutine that runs. A global name on purpose: debuggers and the watchdog look at it. */
extern _Thread_local struct co *co_current;

#endif
