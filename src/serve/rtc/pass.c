/* SPDX-License-Identifier: MIT */
/* pass.c - messages between workers about which worker owns an address.
 *
 * A check names its worker. Once that worker has authenticated the check, it notifies the worker
 * that received it, which passes on everything from that address from then on.
 */
#include "base/container_of.h"
#include "serve/rtc/impl.h"

void rtc_on_message(struct datagram_endpoint *e, const struct udp_addr *peer, unsigned from,
              unsigned word)
{
    struct rtc_endpoint *own = container_of(e, struct rtc_endpoint, base);
    struct rtc_table *t = &own->service->table;

    if (word == RTC_NOT_MINE)
        rtc_table_forget(t, own, peer, from);
    else
        rtc_table_foreign(t, own, peer, from, word == RTC_PROVEN, co_now());
}

void rtc_pass(struct rtc_endpoint *e, unsigned worker, const struct udp_in *in, unsigned most)
{
    if (e->base.socket)
        datagram_pass(&e->base, worker, in, most);
    else
        e->service->stat.strangers++;
}

void rtc_pass_claim(struct rtc_service *s, unsigned worker, unsigned endpoint,
                    const struct udp_addr *from, enum rtc_claim claim)
{
    datagram_send_message(&s->base, worker, endpoint, from, claim);
}

void rtc_pass_drop(struct rtc_service *s, struct rtc_route *r)
{
    if (r->worker != s->base.env->worker)
        rtc_pass_claim(s, r->worker, r->endpoint->base.number, &r->from, RTC_NOT_MINE);
    rtc_table_drop(&s->table, r);
}
