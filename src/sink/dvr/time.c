/* SPDX-License-Identifier: MIT */
/* time.c - the time of a recording, where it is not that of the stream: `play` may leave the
 * publisher's times as they are (time_jitter off, atc), and `dvr` may want them corrected. */
#include "sink/dvr/stream.h"

void dvr_time_begin(struct dvr_stream *s)
{
    const struct conf_vhost *vhost = conf_vhost_find(s->conf, s->key->vhost);
    bool full = s->set->time_jitter == CONF_JITTER_FULL;

    s->keep_time = s->set->time_jitter == CONF_JITTER_OFF;
    s->correct_time =
        full && vhost && session_live_settings(s->conf, vhost).jitter != LIVE_JITTER_FULL;
    live_clock_init(&s->clock, LIVE_JITTER_FULL);
}

const struct av_packet *dvr_time_apply(struct dvr_stream *s, const struct av_packet *pkt)
{
    struct av_packet *mine;

    if (!s->correct_time)
        return av_packet_ref(pkt);
    mine = av_packet_copy(pkt);
    if (mine)
        mine->dts = live_clock_correct(&s->clock, pkt, pkt->dts, co_now());
    return mine;
}
