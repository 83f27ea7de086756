/* SPDX-License-Identifier: MIT */
/* mix.c - sorts the packets of a stream by time. */
#include "live/mix.h"

#include <string.h>

enum { BOTH = 10, ONE = 100 }; /* packets of both kinds, or of one kind, that it waits for */

void live_mix_push(struct live_mix *m, struct av_packet *pkt)
{
    unsigned at = m->count;

    (void)av_packet_ref(pkt);
    for (; at > 0 && m->queue[at - 1]->dts > pkt->dts; at--)
        m->queue[at] = m->queue[at - 1];
    m->queue[at] = pkt;
    m->count++;
    m->kinds[pkt->kind]++;
    m->bytes += pkt->size;
}

static bool ready(const struct live_mix *m)
{
    unsigned video = m->kinds[AV_VIDEO], audio = m->kinds[AV_AUDIO];

    return (video >= BOTH && audio >= BOTH) || video >= ONE || audio >= ONE ||
           m->count >= LIVE_MIX_SIZE - 1 || m->bytes >= LIVE_MIX_BYTES;
}

struct av_packet *live_mix_pop(struct live_mix *m, bool flush)
{
    struct av_packet *pkt;

    if (m->count == 0 || !(flush || ready(m)))
        return NULL;
    pkt = m->queue[0];
    m->count--;
    m->kinds[pkt->kind]--;
    m->bytes -= pkt->size;
    memmove(m->queue, m->queue + 1, m->count * sizeof(m->queue[0]));
    return pkt;
}
