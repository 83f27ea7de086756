/* SPDX-License-Identifier: MIT */
/* pass.c - whose an address is, as workers tell each other.
 *
 * A check names its worker. When that one has authenticated it, it says so to the one that it came
 * by, which passes on all that comes from that address from then on.
 */
#include "base/container_of.h"
#include "serve/rtc/impl.h"

enum word { MINE, NOT_MINE };

void rtc_told(struct datagram_endpoint *e, const struct udp_addr *peer, unsigned from,
              unsigned word)
{
    struct rtc_endpoint *own = container_of(e, struct rtc_endpoint, base);
    struct rtc_table *t = &own->service->table;

    if (word == MINE)
        rtc_table_foreign(t, own, peer, from, co_now());
    else
        rtc_table_forget(t, own, peer, from);
}

static void pass(struct rtc_endpoint *e, unsigned worker, const struct udp_in *in, unsigned most)
{
    if (e->base.socket)
        datagram_pass(&e->base, worker, in, most);
    else
        e->service->stat.strangers++;
}

void rtc_pass(struct rtc_endpoint *e, unsigned worker, const struct udp_in *in)
{
    pass(e, worker, in, DATAGRAM_MAILS);
}

void rtc_pass_strange(struct rtc_endpoint *e, unsigned worker, const struct udp_in *in)
{
    pass(e, worker, in, RTC_MAILS_STRANGE);
}

void rtc_pass_mine(struct rtc_service *s, unsigned worker, unsigned endpoint,
                   const struct udp_addr *from, bool mine)
{
    datagram_tell(&s->base, worker, endpoint, from, mine ? MINE : NOT_MINE);
}

void rtc_pass_drop(struct rtc_service *s, struct rtc_route *r)
{
    if (r->worker != s->base.env->worker)
        rtc_pass_mine(s, r->worker, r->endpoint->base.number, &r->from, false);
    rtc_table_drop(&s->table, r);
}
