/* SPDX-License-Identifier: MIT */
/* stat_rtc.c - the line about WebRTC. */
#include "app/os/stat_rtc.h"

#include "app/os/machine.h"
#include "app/os/stat_line.h"

#include <stdio.h>

struct line {
    char *buf;
    size_t size, n;
    co_usec span;
    const struct rtc_service_stat *now, *then;
};

#define RATE(l, field) stat_rate((l)->span, (l)->now->field, (l)->then->field)

static void put_packets(struct line *l)
{
    if (RATE(l, sockets.in) > 0)
        l->n = stat_add(l->buf, l->size, l->n, ", rpkts=(%llu,rtp:%llu,stun:%llu,rtcp:%llu)",
                        RATE(l, sockets.in), RATE(l, received),
                        RATE(l, checks), RATE(l, rtcp_in));
    if (RATE(l, sockets.out) > 0)
        l->n = stat_add(l->buf, l->size, l->n, ", spkts=(%llu,rtp:%llu,stun:%llu,rtcp:%llu)",
                        RATE(l, sockets.out), RATE(l, sent),
                        RATE(l, checks_answered), RATE(l, rtcp_out));
    if (RATE(l, plis_sent) + RATE(l, twcc_sent) + RATE(l, reports_sent) > 0)
        l->n = stat_add(l->buf, l->size, l->n, ", rtcp=(pli:%llu,twcc:%llu,rr:%llu)",
                        RATE(l, plis_sent), RATE(l, twcc_sent), RATE(l, reports_sent));
}

/* What we miss of publishers, and players of us. */
static void put_missing(struct line *l)
{
    unsigned long long sent = RATE(l, nacks_sent), sound = RATE(l, nacks_sent_sound);

    if (sent > 0)
        l->n = stat_add(l->buf, l->size, l->n, ", snk=(%llu,a:%llu,v:%llu,h:%llu)", sent, sound,
                        sent > sound ? sent - sound : 0, RATE(l, nacks_found));
    if (RATE(l, nacks) > 0)
        l->n = stat_add(l->buf, l->size, l->n, ", rnk=(%llu,%llu,h:%llu,m:%llu)", RATE(l, nacks),
                        RATE(l, asked), RATE(l, repeated), RATE(l, asked_missing));
}

size_t stat_rtc_text(struct stat_rtc *s, const struct rtc_service_stat *now,
                     const int64_t no_room[2], co_usec at, char *buf, size_t size)
{
    struct line l = { .buf = buf, .size = size, .span = at > s->at ? at - s->at : 1, .now = now,
                      .then = &s->seen };
    long long lost[2] = { no_room[0] - s->no_room[0], no_room[1] - s->no_room[1] };
    bool any = now->sessions > 0 || RATE(&l, sockets.in) + RATE(&l, sockets.out) > 0;

    l.n = stat_add(buf, size, 0, "RTC: Server conns=%llu", (unsigned long long)now->sessions);
    put_packets(&l);
    put_missing(&l);
    if (s->at > 0 && lost[0] + lost[1] > 0)
        l.n = stat_add(buf, size, l.n, ", loss=(r:%lld,s:%lld)", lost[0] * 1000000 / l.span,
                       lost[1] * 1000000 / l.span);
    if (RATE(&l, by_name) + RATE(&l, by_address) > 0)
        l.n = stat_add(buf, size, l.n, ", fid=(id:%llu,addr:%llu)", RATE(&l, by_name),
                       RATE(&l, by_address));
    *s = (struct stat_rtc){ *now, { no_room[0], no_room[1] }, at };
    return any ? l.n : 0;
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
