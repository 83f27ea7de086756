/* SPDX-License-Identifier: MIT */
/* look.c - what is to be known of players now and then: once a second, in one coroutine for all. */
#include "base/log.h"
#include "serve/rtmfp/stream.h"
#include "session/place.h"

void rtmfp_play_count(struct rtmfp_netstream *n)
{
    struct rtmfp_play *play = &n->play;

    live_source_sent(n->base.src, n->base.out - play->counted,
                     play->abandoned - play->counted_lost);
    play->counted = n->base.out;
    play->counted_lost = play->abandoned;
}

static void log_skips(struct rtmfp_netstream *n)
{
    struct rtmfp_play *play = &n->play;

    if (play->skips == play->said_skips)
        return;
    log_warn("slow player: it goes on at a key frame; %u times so far, messages=%llu, "
             "abandoned=%llu", play->skips, (unsigned long long)play->sent,
             (unsigned long long)play->abandoned);
    play->said_skips = play->skips;
}

static void log_sample(const struct rtmfp_netstream *n, co_usec now)
{
    const struct session *s = &n->base;
    struct rtmfp_client_stat stat = { 0 };

    (void)s->detail->read(s, &stat);
    log_always(LOG_TRACE, "%s time=%lld, messages=%llu, lost=%llu, again=%llu, "
               "abandoned=%llu, waiting=%llu, rtt=%lld ms, okbps=" KBPS_FMT ", ikbps=" KBPS_FMT,
               sampled_name(SAMPLED_RTMFP_PLAY), us_to_ms(now - s->began_at),
               (unsigned long long)n->play.sent, (unsigned long long)stat.lost,
               (unsigned long long)stat.again,
               (unsigned long long)n->play.abandoned, (unsigned long long)stat.waiting,
               us_to_ms(stat.rtt),
               KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps));
}

/* Why it is to end; NULL: it is not. */
static err_t check(struct session *s)
{
    bool changed;
    err_t err = session_play_check(s, &changed);

    if (!err && changed && !s->vhost->rtmfp.enabled)
        return err_new(ERR_RTMFP_DISABLED, "the configuration changed: rtmfp of %s is off",
                       s->vhost->name);
    return err;
}

void rtmfp_play_look(struct rtmfp_netstream *n, co_usec now)
{
    char ip[UDP_TEXT];
    err_t err;

    if (n->doing != RTMFP_PLAYS)
        return;
    err = check(&n->base);
    if (err) {
        rtmfp_netstream_leave(n, err);
        return;
    }
    rtmfp_play_count(n);
    co_set_cid(n->cid);
    session_log_as_client(n->base.env, rtmfp_peer_ip(n->peer, ip));
    log_skips(n);
    if (!n->play.told_no_opus)
        n->play.told_no_opus = session_play_tell_no_opus(&n->base, SESSION_PLAY_NO_OPUS);
    if (session_sample(&n->base, SAMPLED_RTMFP_PLAY, now))
        log_sample(n, now);
}
