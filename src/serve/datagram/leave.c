/* SPDX-License-Identifier: MIT */
/* leave.c - the end of clients that have no coroutine: one for all sees them out, in turn. */
#include "serve/datagram/datagram.h"

void datagram_leave(struct datagram_service *s, struct datagram_leaver *l)
{
    l->next = NULL;
    *s->leaving_end = l;
    s->leaving_end = &l->next;
    co_unpark(s->ender);
}

err_t datagram_leave_main(void *service)
{
    struct datagram_service *s = service;
    err_t err = NULL;

    while (!err) {
        struct datagram_leaver *l = s->leaving;

        if (l) {
            s->leaving = l->next;
            if (!s->leaving)
                s->leaving_end = &s->leaving;
            s->protocol->see_out(l);
            co_yield_if_due();
            continue;
        }
        (void)!co_park(CO_FOREVER);
        err = co_check();
    }
    err_free(&err);
    return NULL;
}
