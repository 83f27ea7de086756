/* SPDX-License-Identifier: MIT */
/* round.c - find out that a loop goes round for nothing. */
#include "co/round.h"

/* More than any that gets on needs; fewer than anybody would notice. */
enum { IDLE_ROUNDS = 1000 };

err_t co_round(struct co_round *r, uint64_t moved)
{
    unsigned waits = co_waits();

    if (r->moved != moved || r->waits != waits) {
        *r = (struct co_round){ .moved = moved, .waits = waits };
        return NULL;
    }
    if (++r->idle < IDLE_ROUNDS)
        return NULL;
    return err_new(ERR_LOOP, "%u times, without waiting or getting on", r->idle);
}

err_t co_round_io(struct co_round *r, const struct io *io)
{
    return co_round(r, io->bytes_in + io->bytes_out);
}
