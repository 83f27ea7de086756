/* SPDX-License-Identifier: MIT */
/* quit.c - graceful quit. */
#include "app/quit.h"

#include "app/os/signals.h"
#include "base/log.h"
#include "co/co.h"

enum { LONGEST_STEP_SECONDS = 32, POLL_MS = 100 };

/* Returns true if a signal cut the wait short. */
static bool wait_or_hurry(co_usec t)
{
    return signals_wait_for(SIGNALS_FAST, t) != 0;
}

/* Waits until all connections have ended, and logs their number at growing intervals. Returns true
 * if a signal cut the wait short. */
static bool wait_for_clients(const struct server *s)
{
    int step = 1;
    co_usec logged_at = co_clock() - CO_SECONDS(step);
    unsigned n;

    while ((n = server_connections(s)) > 0) {
        if (co_clock() - logged_at >= CO_SECONDS(step)) {
            log_trace("graceful quit: %u connections are left", n);
            logged_at = co_clock();
            step = step < LONGEST_STEP_SECONDS ? step * 2 : LONGEST_STEP_SECONDS;
        }
        if (wait_or_hurry(CO_MS(POLL_MS)))
            return true;
    }
    return false;
}

void quit_gracefully(struct server *s)
{
    struct conf *c = conf_ref(server_conf(s));
    bool hurry;

    log_trace("graceful quit: listeners close in %lld ms, %u connections are there",
              us_to_ms(c->grace_start_wait), server_connections(s));
    hurry = wait_or_hurry(c->grace_start_wait);
    server_close_listeners(s);
    if (!hurry)
        hurry = wait_for_clients(s);
    if (!hurry) {
        log_trace("graceful quit: the last one left, %lld ms more", us_to_ms(c->grace_final_wait));
        hurry = wait_or_hurry(c->grace_final_wait);
    }
    if (hurry)
        log_trace("graceful quit: cut short, %u connections were left", server_connections(s));
    conf_unref(c);
}
