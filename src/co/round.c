/* SPDX-License-Identifier: MIT */
/* round.c - find out that a loop goes round for nothing. */
#include "co/round.h"

/* More than any that gets on needs; fewer than anybody would notice. */
enum { IDLE_ROUNDS = 1000 };

err_t co_round(struct co_round *r, uint64_t moved)
{
    unsigned waits = co_waits();

    if (r->waits != waits || r->moved != moved)
        r->idle = 0;
    else if (++r->idle >= IDLE_ROUNDS)
        return err_new(ERR_LOOP, "%u times, without waiting or getting on", r->idle);
    if (r->waits == waits) /* else it has just been away */
        co_breathe();
    r->waits = waits;
    r->moved = moved;
    return NULL;
}

err_t co_round_io(struct co_round *r, const struct io *io)
{
    return co_round(r, io->bytes_in + io->bytes_out);
}
