/* SPDX-License-Identifier: MIT */
/* term.h - how long a client may stay by the token that it showed: at_expiry of security.token.
 *
 * A time of the wall clock, which may be set while somebody is here: so it is looked at again and
 * again, every half minute at least.
 */
#ifndef SESSION_TERM_H
#define SESSION_TERM_H

#include "co/co.h"

struct serve_term { /* zeroed: it ends never */
    struct co_timer timer;
    struct co *co;
    int64_t ends; /* seconds since 1970; 0: never */
};

/* From now on the coroutine that calls is stopped with ERR_EXPIRED when its time is over. */
void session_term_begin(struct serve_term *t, int64_t ends);
void session_term_end(struct serve_term *t); /* no more */

/* Is it over at this moment? */
bool session_term_is_over(int64_t ends);
/* For who is not stopped but found out: ERR_EXPIRED. */
err_t session_term_error(void) __attribute__((warn_unused_result));

#endif
