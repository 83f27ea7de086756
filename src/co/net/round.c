/* SPDX-License-Identifier: MIT */
/* round.c - find out that a loop goes round for nothing. */
#include "co/net/round.h"

/* More than any that gets on needs; fewer than anybody would notice. */
enum { IDLE_ROUNDS = 1000 };

err_t co_round_on(struct co_round *r, uint64_t moved)
{
    if (r->moved != moved)
        r->idle = 0;
    else if (++r->idle >= IDLE_ROUNDS)
        return err_new(ERR_LOOP, "%u times, without waiting or getting on", r->idle);
    r->moved = moved;
    co_yield_if_due();
    return NULL;
}
