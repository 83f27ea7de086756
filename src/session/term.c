/* SPDX-License-Identifier: MIT */
/* term.c - end a client when its token ends. */
#include "session/term.h"

#include "base/container_of.h"

#define LOOK CO_SECONDS(30) /* the wall clock may have been set meanwhile */

static co_usec left(int64_t ends)
{
    int64_t ms = ends * 1000 - co_wall_ms();

    return ms > us_to_ms(LOOK) ? LOOK : CO_MS(ms);
}

bool session_term_is_over(int64_t ends)
{
    return ends > 0 && left(ends) <= 0;
}

static void on_look(struct co_timer *timer)
{
    struct serve_term *t = container_of(timer, struct serve_term, timer);

    if (!session_term_is_over(t->ends)) {
        co_timer_set(&t->timer, co_now() + left(t->ends), on_look);
        return;
    }
    co_stop(t->co, session_term_error());
}

void session_term_begin(struct serve_term *t, int64_t ends)
{
    *t = (struct serve_term){ .co = co_self(), .ends = ends };
    if (ends > 0)
        co_timer_set(&t->timer, co_now() + left(ends), on_look);
}

err_t session_term_error(void)
{
    return err_new(ERR_EXPIRED, "at_expiry end");
}

void session_term_end(struct serve_term *t)
{
    co_timer_cancel(&t->timer);
}
