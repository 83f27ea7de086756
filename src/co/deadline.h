/* SPDX-License-Identifier: MIT */
/* deadline.h - a time by which a coroutine must be through with something, and the error if not.
 *
 *     struct co_deadline d = { 0 };
 *
 *     co_deadline_set(&d, timeout, ERR_IO_TIMEOUT, "no handshake");
 *     err = shake_hands(c);       one read or a hundred, each with a timeout of its own
 *     co_deadline_cancel(&d);     always, before d goes and before the coroutine ends
 *
 * When it passes, the coroutine is stopped as by co_stop(): its waits end, and they and co_check()
 * give "no handshake in 5000 ms". Cancelled, it stops nobody: one that passed takes its stop along,
 * so what was ready by a hair is ready, and who was told may go on with something else. Stops of
 * others stay. Nothing is allocated until somebody asks for the error.
 */
#ifndef CO_DEADLINE_H
#define CO_DEADLINE_H

#include "co/co.h"

struct co_deadline { /* zeroed: not set */
    struct co_timer timer;
    struct co *co;
    struct co_deadline *next; /* of those that passed */
    bool passed;
    enum err_code code;
    co_usec after;
    const char *text;
    const char *file, *func; /* where it was set, for the trace */
    int line;
};

/* For the coroutine that calls, from now on; `text` must stay valid (a literal). One that is set is
 * cancelled first. 0 or CO_FOREVER: no deadline. */
#define co_deadline_set(d, after, code, text) \
    co_deadline_set_at(d, after, code, text, __FILE__, __LINE__, __func__)
void co_deadline_set_at(struct co_deadline *d, co_usec after, enum err_code code,
                        const char *text, const char *file, int line, const char *func);
void co_deadline_cancel(struct co_deadline *d); /* nothing happens if it is not set */
static inline bool co_deadline_passed(const struct co_deadline *d)
{
    return d->passed;
}

/* For co/: the error of one that passed. */
err_t co_deadline_error(const struct co_deadline *d) __attribute__((warn_unused_result));

#endif
