/* SPDX-License-Identifier: MIT */
/* look.c - what is to be done for players now and then: once a second, in one coroutine for all. */
#include "base/log.h"
#include "serve/rtc/play.h"
#include "session/place.h"


void rtc_play_count(struct rtc_peer *p)
{
    struct rtc_play *play = p->play;

    live_source_sent(p->base.src, p->base.out - play->counted, play->dropped);
    play->counted = p->base.out;
    play->dropped = 0;
}

static void log_skips(struct rtc_peer *p)
{
    struct rtc_play *play = p->play;

    if (play->skips == play->told_skips)
        return;
    log_warn("slow player: it goes on at a key frame; %llu times so far, packets=%llu, nacks=%llu, "
             "repeated=%llu", (unsigned long long)play->skips, (unsigned long long)p->sent,
             (unsigned long long)play->nacks, (unsigned long long)play->repeated);
    play->told_skips = play->skips;
}

static void tell_takes(struct rtc_peer *p)
{
    struct rtc_play *play = p->play;

    if (play->takes == play->told_takes)
        return;
    log_trace("RTC: by its line it gets pictures: %s (round trip %lld ms, lost=%u, left out=%llu "
              "packets)", rtc_line_name(play->takes), us_to_ms(play->rtt), play->tracks[0].lost,
              (unsigned long long)play->left_out);
    play->told_takes = play->takes;
}

static void log_sample(const struct rtc_peer *p, co_usec now)
{
    const struct session *s = &p->base;
    struct rtc_client_stat rtc = { 0 };

    rtc_play_stat(p, &rtc);
    log_always(LOG_TRACE, "%s time=%lld, packets=%llu, lost=%llu, nacks=%llu, repeated=%llu, "
               "plis=%llu, rtt=%lld ms, jitter=%lld ms, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT,
               sampled_name(SAMPLED_RTC_PLAY), us_to_ms(now - s->began_at),
               (unsigned long long)p->sent, (unsigned long long)rtc.lost,
               (unsigned long long)rtc.nacks, (unsigned long long)rtc.repeated,
               (unsigned long long)rtc.plis, us_to_ms(rtc.rtt), us_to_ms(rtc.jitter),
               KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps));
}

/* Why it is to end; NULL: it is not. */
static err_t check(struct session *s)
{
    bool changed;
    err_t err = session_play_check(s, &changed);

    if (!err && changed && !s->vhost->rtc.enabled)
        return err_new(ERR_RTC_DISABLED, "the configuration changed: rtc of %s is off",
                       s->vhost->name);
    return err;
}

void rtc_play_look(struct rtc_peer *p, co_usec now)
{
    err_t err;

    if (p->state != RTC_CONNECTED)
        return;
    err = check(&p->base);
    if (err) {
        rtc_peer_leave(p, err);
        return;
    }
    rtc_play_report(p, now);
    rtc_play_count(p);
    co_set_cid(p->cid);
    session_log_as_client(p->base.env, p->ip);
    log_skips(p);
    tell_takes(p);
    if (session_sample(&p->base, SAMPLED_RTC_PLAY, now))
        log_sample(p, now);
}
