/* SPDX-License-Identifier: MIT */
/* play_retransmit.c - retransmits packets that a player reports missing, from the log: under the
 * same number, or with an SSRC of their own, [RFC 4588]. */
#include "serve/rtc/play.h"

#include "base/be.h"
#include "base/must.h"

#include <stdlib.h>
#include <string.h>

enum {
    NUMBER = 2,
    HIGH_LOSS = 256 / 50, /* loss in 1/256 at which retransmits are lost, too */
};

#define LEAST CO_MS(20) /* minimum time between two retransmits of a packet, plus about a round
                         * trip */

static bool is_due(struct rtc_play *play, const struct rtc_play_track *t, uint16_t seq, co_usec now)
{
    uint16_t track = (uint16_t)(t - play->tracks);
    co_usec rtt = play->rtt - play->rtt / 4; /* it asks again after one round trip, and paths
                                              * vary */
    co_usec least = rtt > LEAST ? rtt : LEAST;
    uint32_t ms = (uint32_t)(now / 1000) | 1;
    struct rtc_recent *r;

    if (!play->recent)
        play->recent = must(calloc(RTC_RECENT, sizeof(*play->recent)));
    r = &play->recent[(seq + track * (RTC_RECENT / 2u)) % RTC_RECENT];
    if (r->ms && r->seq == seq && r->track == track && ms - r->ms < (uint32_t)(least / 1000))
        return false;
    *r = (struct rtc_recent){ .seq = seq, .track = track, .ms = ms };
    return true;
}

/* Builds an RTX packet: another SSRC, the original number in front of the payload. */
static size_t as_rtx(struct rtc_burst *b, struct rtc_play_track *t, const uint8_t *head,
                     const struct rtp_log_entry *e)
{
    uint8_t bytes[NUMBER + RTP_LOG_PAYLOAD_MAX], own[RTP_HEADER];

    memcpy(own, head, RTP_HEADER);
    memcpy(bytes, head + 2, NUMBER);
    if (e->size > 0)
        memcpy(bytes + NUMBER, e->data, e->size);
    own[0] &= (uint8_t)~0x10; /* without extensions */
    own[1] = (uint8_t)((head[1] & 0x80) | t->rtx_type);
    (void)be_put16(own + 2, t->rtx_next);
    (void)be_put32(own + 8, t->rtx_ssrc);
    return rtc_burst_add(b, own, RTP_HEADER, bytes, NUMBER + (size_t)e->size, t->rtx_next++);
}

static void send_again(struct rtc_burst *b, struct rtc_play *play, struct rtc_play_track *t,
                       const struct rtc_span *s, const struct rtp_log_entry *e)
{
    uint8_t head[RTC_HEAD_MAX];
    size_t size = rtc_play_head(t, s, e, head);

    if (t->rtx_type)
        size = as_rtx(b, t, head, e);
    else
        size = rtc_burst_add(b, head, size, e->data, e->size, (uint64_t)(e->number + s->delta));
    play->budget -= (int64_t)size;
    play->retransmitted++;
    b->peer->service->stat.retransmitted++;
}

/* With high loss, sends the packet twice: browsers that only play do not know the round trip time,
 * so they repeat the request for a lost retransmit after 100 ms, while the video stalls. */
static void retransmit(struct rtc_burst *b, struct rtc_play *play, struct rtc_play_track *t,
                   uint16_t seq, co_usec now)
{
    int64_t index = rtp_unwrap16(t->next, seq);
    const struct rtc_span *s = rtc_play_span(t, index);
    const struct rtp_log *log = rtc_wire_log(rtc_stream_wire(b->peer->base.stream));
    struct rtc_service_stat *stat = &b->peer->service->stat;
    struct rtp_log_entry e;
    uint64_t place;

    stat->asked++;
    if (index >= t->next || !s || play->budget <= 0 ||
        !rtp_log_find(log, (unsigned)(t - play->tracks), index - s->delta, &place) ||
        !rtp_log_get(log, place, &e) || place >= play->at || !is_due(play, t, seq, now)) {
        stat->requested_missing++;
        return;
    }
    send_again(b, play, t, s, &e);
    if (t->loss >= HIGH_LOSS && play->budget > 0)
        send_again(b, play, t, s, &e);
}

void rtc_play_nack(struct rtc_peer *p, struct rtcp_feedback *f, co_usec now)
{
    struct rtc_burst *b = p->service->streams.burst;
    struct rtc_play *play = p->play;
    uint16_t seq, more;

    rtc_burst_begin(b, p);
    while (rtcp_next_nack(f, &seq, &more)) {
        for (unsigned i = 0; i < RTP_LOG_TRACKS; i++) {
            struct rtc_play_track *t = &play->tracks[i];

            if (!t->on || t->ssrc != f->media)
                continue;
            play->nacks++;
            p->service->stat.nacks++;
            retransmit(b, play, t, seq, now);
            for (unsigned k = 0; k < 16; k++) {
                if (more >> k & 1)
                    retransmit(b, play, t, (uint16_t)(seq + k + 1), now);
            }
        }
    }
    rtc_burst_end(b);
    rtc_burst_send(b);
}
