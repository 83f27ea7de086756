/* SPDX-License-Identifier: MIT */
/* leave.c - the end of a session: of a publisher in its coroutine, of players in one for all. */
#include "base/container_of.h"
#include "base/log.h"
#include "serve/rtc/impl.h"
#include "session/place.h"

static void see_out(struct datagram_leaver *l);

void rtc_peer_leave(struct rtc_peer *p, err_t why)
{
    if (p->state == RTC_LEAVES) {
        err_free(&why);
        return;
    }
    if (p->base.co) {
        co_stop(p->base.co, why);
        return;
    }
    if (p->state == RTC_ASKS) { /* its coroutine is about to begin */
        err_free(&p->why);
        p->why = why;
        return;
    }
    rtc_peer_state(p, RTC_LEAVES);
    p->why = why;
    co_timer_cancel(&p->timer);
    datagram_leave(&p->service->base, &p->leaver, see_out);
}

/* close_notify: a browser's page knows at once. */
static void say_goodbye(struct rtc_peer *p)
{
    const uint8_t *data;
    size_t size;

    if (!p->dtls)
        return;
    dtls_close(p->dtls);
    while (dtls_output(p->dtls, &data, &size))
        rtc_peer_send(p, data, size);
}

static void tell(const struct rtc_peer *p)
{
    const struct srtp_in_stat *in = p->srtp_in ? srtp_in_stat(p->srtp_in) : NULL;

    log_trace("RTC: session %s of %s ends after %lld ms, bytes in=%llu, out=%llu, packets in=%llu, "
              "out=%llu, checks=%llu, refused=%llu, forged=%llu, replayed=%llu, address "
              "changes=%u", p->ufrag, p->base.names.name, us_to_ms(co_clock() - p->answered),
              (unsigned long long)p->base.in, (unsigned long long)p->base.out,
              (unsigned long long)p->received, (unsigned long long)p->sent,
              (unsigned long long)p->ice.checks, (unsigned long long)p->ice.refused,
              (unsigned long long)(in ? in->forged : 0),
              (unsigned long long)(in ? in->replayed : 0), p->address_changes);
}

void rtc_peer_gone(struct rtc_peer *p, err_t why)
{
    co_timer_cancel(&p->timer);
    say_goodbye(p);
    tell(p);
    session_log_end(&p->base, &why);
    rtc_peer_free(p);
}

static void see_out(struct datagram_leaver *l)
{
    struct rtc_peer *p = container_of(l, struct rtc_peer, leaver);
    err_t why = p->why;

    p->why = NULL;
    co_set_cid(p->cid);
    session_log_as_client(p->base.env, p->ip);
    rtc_play_end(p, why);
    rtc_peer_gone(p, why);
}
