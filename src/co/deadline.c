/* SPDX-License-Identifier: MIT */
/* deadline.c - a time by which a coroutine must be through with something. */
#include "co/deadline.h"

#include "co/inside.h"

static void on_passed(struct co_timer *t)
{
    struct co_deadline *d = (struct co_deadline *)(void *)t;
    struct co_deadline **at = &d->co->over;

    while (*at)
        at = &(*at)->next;
    *at = d;
    d->next = NULL;
    d->passed = true;
    d->co->stop = true;
    if (d->co->parked) /* else its next wait sees it: no wake is left for one after that */
        co_unpark(d->co);
}

void co_deadline_set_at(struct co_deadline *d, co_usec after, enum err_code code,
                        const char *text, const char *file, int line, const char *func)
{
    co_deadline_cancel(d);
    d->co = co_self();
    d->code = code;
    d->after = after;
    d->text = text;
    d->file = file;
    d->line = line;
    d->func = func;
    if (after > 0)
        co_timer_set(&d->timer, co_now() + after, on_passed);
}

void co_deadline_cancel(struct co_deadline *d)
{
    struct co_deadline **at;

    co_timer_cancel(&d->timer);
    if (!d->passed)
        return;
    at = &d->co->over;
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    d->passed = false;
    if (!d->co->over && !d->co->asked)
        d->co->stop = false;
}

err_t co_deadline_error(const struct co_deadline *d)
{
    return err_new_at(d->file, d->line, d->func, d->code, 0, "%s in %lld ms", d->text,
                      us_to_ms(d->after));
}
