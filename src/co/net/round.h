/* SPDX-License-Identifier: MIT */
/* round.h - guards the loop of a connection: each round must wait or make progress.
 *
 * A loop that does neither would block the thread and all its clients. So each loop calls this once
 * a round; a loop that spins ends its own connection.
 */
#ifndef CO_NET_ROUND_H
#define CO_NET_ROUND_H

#include "co/net/io.h"

struct co_round { /* zero it before use */
    uint64_t moved;
    unsigned waits, idle;
};

/* More than any loop that makes progress needs; few enough to have no visible effect. */
enum { CO_IDLE_ROUNDS = 1000 };

/* Call once a round. `moved` is a number that changes with progress, such as the bytes read and
 * written. Returns ERR_LOOP after many rounds without progress or waiting. Lets others run, like
 * co_yield_if_due(). */
__attribute__((warn_unused_result)) static inline err_t co_round(struct co_round *r, uint64_t moved)
{
    unsigned waits = co_waits();
    bool away = r->waits != waits; /* it has waited since the last round */

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

/* Same for loops whose only work is reading and writing. */
__attribute__((warn_unused_result)) static inline err_t co_round_io(struct co_round *r,
                                                                    const struct io *io)
{
    return co_round(r, io->bytes_in + io->bytes_out);
}

#endif
