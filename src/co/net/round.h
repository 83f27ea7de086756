/* SPDX-License-Identifier: MIT */
/* round.h - the loop of a conversation: each round it waits, or it moves something.
 *
 * A loop that does neither would hold the thread for ever, and with it everybody. So each asks
 * here once a round; one that goes round for nothing ends its own connection.
 */
#ifndef CO_NET_ROUND_H
#define CO_NET_ROUND_H

#include "co/net/io.h"

struct co_round { /* zeroed at first */
    uint64_t moved;
    unsigned waits, idle;
};

/* More than any that gets on needs; fewer than anybody would notice. */
enum { CO_IDLE_ROUNDS = 1000 };

/* `moved` is a number that changes when the loop got on: bytes read and written, say. ERR_LOOP when
 * it went round many times and neither got on nor waited. Lets others run, as
 * co_yield_if_due() does. */
__attribute__((warn_unused_result)) static inline err_t co_round(struct co_round *r, uint64_t moved)
{
    unsigned waits = co_waits();
    bool away = r->waits != waits; /* it has just been */

    if (away || r->moved != moved)
        r->idle = 0;
    else if (++r->idle >= CO_IDLE_ROUNDS)
        return err_new(ERR_LOOP, "%u times, without waiting or getting on", r->idle);
    r->waits = waits;
    r->moved = moved;
    if (!away)
        co_yield_if_due();
    return NULL;
}

/* The same, where to read and to write is all that there is to do. */
__attribute__((warn_unused_result)) static inline err_t co_round_io(struct co_round *r,
                                                                    const struct io *io)
{
    return co_round(r, io->bytes_in + io->bytes_out);
}

#endif
