/* SPDX-License-Identifier: MIT */
/* congestion.c - round trip times, timeouts, and the congestion window (RFC 7016, 3.5.2, 3.6.2.5,
 * Appendix A.2).
 */
#include "proto/rtmfp/congestion.h"

enum {
    ERTO_FIRST = 3000000, ERTO_MIN = 250000, ERTO_MAX = 10000000, MRTO_MORE = 200000,
    RTT_MAX = 60000000,
    PROBES = 2, PROBE_MORE = 20000, /* tolerance for timers and 4 ms clocks */
    AT_ONCE = 2,      /* packets of user data that the peer acknowledges immediately */
    ACKS_OF_BURST = 3 /* packets that one ack may cover, because some peers read a burst as one */
};

void rtmfp_congestion_init(struct rtmfp_congestion *c)
{
    *c = (struct rtmfp_congestion){
        .cwnd = RTMFP_CWND_INIT, .threshold = RTMFP_CWND_MAX, .erto = ERTO_FIRST,
    };
}

/* Same as TCP: section 3.5.2.2. */
void rtmfp_congestion_rtt(struct rtmfp_congestion *c, co_usec rtt)
{
    uint32_t r = rtt < 0 ? 0 : rtt > RTT_MAX ? RTT_MAX : (uint32_t)rtt;
    co_usec mrto;

    if (!c->has_rtt) {
        c->srtt = r;
        c->rttvar = r / 2;
        c->has_rtt = true;
    } else {
        uint32_t off = r > c->srtt ? r - c->srtt : c->srtt - r;

        c->rttvar = (uint32_t)((3 * (uint64_t)c->rttvar + off) / 4);
        c->srtt = (uint32_t)((7 * (uint64_t)c->srtt + r) / 8);
    }
    mrto = (co_usec)c->srtt + 4 * (co_usec)c->rttvar + MRTO_MORE;
    c->erto = mrto < ERTO_MIN ? ERTO_MIN : mrto > ERTO_MAX ? ERTO_MAX : mrto;
}

void rtmfp_congestion_sent(struct rtmfp_congestion *c, co_usec now)
{
    c->burst++;
    c->probing = false;
    c->sent_at = now;
}

static uint32_t at_least(uint32_t v, uint32_t least)
{
    return v < least ? least : v;
}

/* Reduces the window at most once per round trip: by an eighth for real-time data, by half
 * otherwise. Live media cannot shrink: a smaller window would only make them late, and the sender
 * abandons late ones anyway. */
static void reduce_window(struct rtmfp_congestion *c, uint32_t before, co_usec now)
{
    uint32_t to = c->critical ? before - before / 8 : before / 2;

    if (now < c->reduced_at + c->srtt)
        return;
    c->reduced_at = now;
    if (to > c->cwnd)
        to = c->cwnd;
    c->threshold = c->cwnd = at_least(to, c->critical ? RTMFP_CWND_LIVE : RTMFP_CWND_INIT);
    c->acked = 0;
}

/* Above the threshold the window grows by 768 bytes per round trip, or 384 for real-time data: 48
 * or 24 bytes for each sixteenth of the window that was acknowledged, within limits. */
static uint32_t growth(struct rtmfp_congestion *c, uint32_t acked)
{
    uint32_t step = at_least(c->cwnd / 16, 64), more = 0;

    if (c->cwnd < c->threshold)
        return acked;
    if (step > 4800)
        step = 4800;
    for (c->acked += acked; c->acked >= step; c->acked -= step)
        more += c->critical ? 24 : 48;
    return more;
}

void rtmfp_congestion_acked(struct rtmfp_congestion *c, const struct rtmfp_ack_summary *h,
                            co_usec now)
{
    uint32_t more, most = ACKS_OF_BURST * RTMFP_SEGMENT;

    if (h->any) {
        c->burst = c->probes = 0;
        c->probing = false;
    }
    if (h->lost) {
        reduce_window(c, h->before, now);
    } else if (h->acked > 0 && !h->gaps && h->before + RTMFP_SEGMENT >= c->cwnd) {
        /* grow only if the window is used */
        more = growth(c, h->acked);
        c->cwnd += more > most ? most : more;
        if (c->cwnd > RTMFP_CWND_MAX)
            c->cwnd = RTMFP_CWND_MAX;
    }
}

/* Two packets are acknowledged immediately. If no response arrives within a round trip, the packets
 * or the ack were lost, and a lost ack must not delay a burst by a full timeout. The same holds for
 * a single packet when the window has no room for the second. */
static co_usec patience(const struct rtmfp_congestion *c)
{
    co_usec soon = (co_usec)c->srtt + 4 * (co_usec)c->rttvar + PROBE_MORE;
    bool held_up = c->burst >= AT_ONCE || c->in_flight >= c->cwnd;

    return c->has_rtt && held_up && c->probes < PROBES && soon < c->erto ? soon : c->erto;
}

co_usec rtmfp_congestion_deadline(const struct rtmfp_congestion *c)
{
    return c->in_flight > 0 ? c->sent_at + patience(c) : CO_FOREVER;
}

bool rtmfp_congestion_probe(struct rtmfp_congestion *c, co_usec now)
{
    if (patience(c) >= c->erto)
        return false;
    c->probes++;
    c->probing = true;
    c->burst = RTMFP_BURST - 1;
    c->sent_at = now;
    return true;
}

void rtmfp_congestion_timeout(struct rtmfp_congestion *c, co_usec now)
{
    uint32_t least = c->critical ? RTMFP_CWND_LIVE : RTMFP_CWND_INIT;
    uint32_t before = c->cwnd - c->cwnd / 4;

    c->threshold = at_least(c->threshold < before ? c->threshold : before, least);
    c->cwnd = RTMFP_SEGMENT;
    c->acked = 0;
    c->burst = c->probes = 0;
    c->probing = false;
    c->erto = c->erto * 14142 / 10000;
    if (c->erto > ERTO_MAX)
        c->erto = ERTO_MAX;
    c->sent_at = now;
}
