/* SPDX-License-Identifier: MIT */
/* stat_rtc.c - the line about WebRTC. */
#include "app/os/stat_rtc.h"

#include "app/os/machine.h"
#include "app/os/stat_line.h"

#include <stdio.h>

/* What grew, per second. */
static unsigned long long rate(co_usec span, uint64_t now, uint64_t then)
{
    return now > then ? (now - then) * 1000000 / (uint64_t)span : 0;
}

size_t stat_rtc_text(struct stat_rtc *s, const struct rtc_service_stat *now,
                     const int64_t no_room[2], co_usec at, char *buf, size_t size)
{
    const struct rtc_service_stat *then = &s->seen;
    const co_usec span = at > s->at ? at - s->at : 1;
    unsigned long long in = rate(span, now->in, then->in), out = rate(span, now->out, then->out);
    unsigned long long pli = rate(span, now->plis_sent, then->plis_sent);
    unsigned long long twcc = rate(span, now->twcc_sent, then->twcc_sent);
    unsigned long long snk = rate(span, now->nacks_sent, then->nacks_sent);
    unsigned long long rnk = rate(span, now->nacks, then->nacks);
    long long lost[2] = { no_room[0] - s->no_room[0], no_room[1] - s->no_room[1] };
    size_t n = stat_add(buf, size, 0, "RTC: Server conns=%llu", (unsigned long long)now->sessions);

    if (in > 0)
        n = stat_add(buf, size, n, ", rpkts=(%llu,rtp:%llu,stun:%llu)", in,
                rate(span, now->received, then->received), rate(span, now->checks, then->checks));
    if (out > 0)
        n = stat_add(buf, size, n, ", spkts=(%llu,rtp:%llu)", out,
                     rate(span, now->sent, then->sent));
    if (pli + twcc > 0)
        n = stat_add(buf, size, n, ", rtcp=(pli:%llu,twcc:%llu)", pli, twcc);
    if (snk > 0)
        n = stat_add(buf, size, n, ", snk=%llu", snk);
    if (rnk > 0)
        n = stat_add(buf, size, n, ", rnk=(%llu,h:%llu)", rnk,
                rate(span, now->repeated, then->repeated));
    if (s->at > 0 && lost[0] + lost[1] > 0)
        n = stat_add(buf, size, n, ", loss=(r:%lld,s:%lld)", lost[0] * 1000000 / span,
                lost[1] * 1000000 / span);
    *s = (struct stat_rtc){ *now, { no_room[0], no_room[1] }, at };
    return now->sessions > 0 || in + out > 0 ? n : 0;
}

void stat_rtc_no_room(int64_t out[2])
{
    char text[4096];

    out[0] = out[1] = 0;
    if (machine_file("/proc/self/net/snmp", text, sizeof(text)) == 0)
        return;
    out[0] = machine_counter(text, "Udp:", "RcvbufErrors");
    out[1] = machine_counter(text, "Udp:", "SndbufErrors");
}
