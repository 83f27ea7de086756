/* SPDX-License-Identifier: MIT */
/* condition.c - state of something that should run all the time. */
#include "session/condition.h"

#include <stdarg.h>
#include <stdio.h>

void condition_be(struct condition *c, enum condition_state state)
{
    if (c->state == state && c->since)
        return;
    c->state = state;
    c->since = co_clock();
}

static void failed(struct condition *c)
{
    condition_be(c, CONDITION_FAILING);
    c->failed_at = co_clock();
    c->failures++;
}

void condition_failed(struct condition *c, err_t err)
{
    (void)err_message(err, c->error, sizeof(c->error));
    failed(c);
}

void condition_failed_text(struct condition *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(c->error, sizeof(c->error), format, args);
    va_end(args);
    failed(c);
}

const char *condition_name(enum condition_state state)
{
    static const char *const names[] = {
        [CONDITION_STARTING] = "starting", [CONDITION_WAITING] = "waiting",
        [CONDITION_RUNNING] = "running", [CONDITION_FAILING] = "failing",
    };

    return names[state];
}
