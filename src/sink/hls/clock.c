/* SPDX-License-Identifier: MIT */
/* clock.c - the wall clock shown to the players of a stream. */
#include "sink/hls/clock.h"

#include "co/co.h"

enum { STEP = 1000 }; /* ms; a smaller change of the clock is drift */

static int64_t offset(void)
{
    return co_wall_ms() - us_to_ms(co_clock());
}

void hls_clock_begin(struct hls_clock *c)
{
    *c = (struct hls_clock){ .offset = offset() };
}

int64_t hls_clock_now(struct hls_clock *c)
{
    int64_t now = offset(), back = c->offset - now;

    if (back > STEP)
        c->ahead += back;
    else if (back < -STEP)
        c->ahead = c->ahead > -back ? c->ahead + back : 0;
    c->offset = now;
    return us_to_ms(co_clock()) + now + c->ahead;
}
