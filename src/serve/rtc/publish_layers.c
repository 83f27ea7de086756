/* SPDX-License-Identifier: MIT */
/* publish_layers.c - simulcast, RFC 8853: a publisher sends its video in several sizes, and the
 * server uses the largest that arrives. Bit rates tell which one that is: offers list the layers in
 * either order, and an encoder starts with small ones. */
#include "base/log.h"
#include "serve/rtc/publish_impl.h"

#define WINDOW CO_SECONDS(1)

/* Measures the bit rate over whole seconds. */
static void measure(struct publish_source *s, size_t size, co_usec now)
{
    if (now - s->since >= WINDOW) {
        s->rate = s->since ? (unsigned)((co_usec)s->bytes * CO_SECONDS(1) / (now - s->since)) : 0;
        s->bytes = 0;
        s->since = now;
    }
    s->bytes += (unsigned)size;
}

static const struct publish_source *current(const struct rtc_publish *pub,
                                            const struct publish_track *t)
{
    for (unsigned i = 0; i < pub->n_sources; i++) {
        if (pub->sources[i].ssrc == t->ssrc && pub->sources[i].track == t)
            return &pub->sources[i];
    }
    return NULL;
}

/* Returns true if it has a clearly higher rate, or the current layer has stopped, as the largest do
 * on a slow path. */
static bool is_better(const struct publish_source *s, const struct publish_source *now_taken,
                      co_usec now)
{
    if (!now_taken || now - now_taken->received_at >= RTP_SSRC_SILENCE)
        return true;
    return now_taken->rate > 0 && s->rate > now_taken->rate + now_taken->rate / 4;
}

static void change(struct rtc_publish *pub, struct publish_track *t,
                   const struct publish_source *s, const struct publish_source *was)
{
    log_trace("RTC: simulcast layer %s replaces %s, %u kbit/s instead of %u",
              t->sdp->rids[s->layer], t->sdp->rids[t->layer], s->rate / 125,
              was ? was->rate / 125 : 0);
    t->layer = s->layer;
    t->over = true; /* another source may replace it at once */
    if (t->taken)
        rtp_intake_over(pub->intake, t->number);
}

bool publish_is_layer(struct rtc_peer *p, struct publish_source *s, const struct rtp_packet *packet,
                      co_usec now)
{
    struct publish_track *t = s->track;
    const struct publish_source *taken;

    if (t->sdp->n_rids < 2)
        return true;
    if (s->is_rtx)
        return s->layer == t->layer;
    measure(s, packet->payload_size, now);
    if (!t->started)
        t->layer = s->layer;
    if (s->layer == t->layer)
        return true;
    taken = current(p->publish, t);
    if (packet->type != t->sdp->type || !is_better(s, taken, now))
        return false;
    if (!rtc_key_begins(t->sdp->codec, packet->payload, packet->payload_size)) {
        publish_request_layer_key(p, t, s, now);
        return false;
    }
    change(p->publish, t, s, taken);
    return true;
}
