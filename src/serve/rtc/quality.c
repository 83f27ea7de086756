/* SPDX-License-Identifier: MIT */
/* quality.c - detects a path that is too slow for a player: high loss, or a round trip lengthened
 * by queues, for 2 s. Low loss is no sign: those packets are retransmitted. */
#include "serve/rtc/quality.h"

enum { LOST_BAD = 38, LOST_GOOD = 13 }; /* in 1/256: 15 %, 5 % */

enum { SENT_FEW = 10, SENT_MOST = 1 << 20 }; /* packets; a larger difference means a restart */

#define PART CO_MS(900)          /* interval of reports evaluated together */
#define PART_MOST CO_SECONDS(3)
#define PATIENCE CO_SECONDS(2)   /* how long a path must be bad */
#define HOLD_LEAST CO_SECONDS(4)
#define HOLD_MOST CO_SECONDS(60)
#define TRIAL CO_SECONDS(10)     /* a trial that fails this early is not repeated as soon */
#define WAITS_BAD CO_MS(300)     /* queueing delay above the usual round trip time */
#define WAITS_GOOD CO_MS(100)

/* The path may have changed, so the usual value rises slowly. */
static void learn(struct rtc_quality *l, co_usec rtt)
{
    if (rtt <= 0)
        return;
    if (l->least == 0 || rtt < l->least)
        l->least = rtt;
    else
        l->least += (rtt - l->least) / 64;
}

static void since(co_usec *at, bool is, co_usec now)
{
    if (!is)
        *at = 0;
    else if (*at == 0)
        *at = now;
}

static void take_less(struct rtc_quality *l, co_usec now)
{
    bool failed = l->tried != 0 && now - l->tried < TRIAL;

    l->hold = failed && l->hold > 0 ? l->hold * 2 : HOLD_LEAST;
    if (l->hold > HOLD_MOST)
        l->hold = HOLD_MOST;
    l->takes++;
    l->bad = now;
}

enum rtc_quality_takes rtc_quality_report(struct rtc_quality *l, unsigned lost, co_usec rtt,
                                          co_usec now)
{
    learn(l, rtt);
    since(&l->bad, lost >= LOST_BAD || rtt > 2 * l->least + WAITS_BAD, now);
    since(&l->good, lost < LOST_GOOD && rtt <= 2 * l->least + WAITS_GOOD, now);
    if (l->bad && now - l->bad >= PATIENCE && l->takes < RTC_QUALITY_KEYS) {
        take_less(l, now);
    } else if (l->good && now - l->good >= l->hold && l->takes > RTC_QUALITY_ALL) {
        l->takes--;
        l->tried = l->good = now;
    }
    return l->takes;
}

static void begin(struct rtc_quality *l, uint32_t highest, uint32_t lost, co_usec now)
{
    l->since = now;
    l->highest = highest;
    l->lost = lost;
}

enum rtc_quality_takes rtc_quality_input(struct rtc_quality *l, uint32_t highest, uint32_t lost,
                                        co_usec rtt, co_usec now)
{
    uint32_t sent = highest - l->highest, gone = lost > l->lost ? lost - l->lost : 0;
    co_usec span = now - l->since;

    if (l->since == 0 || sent > SENT_MOST) {
        begin(l, highest, lost, now);
        return l->takes;
    }
    if (span < PART || sent == 0 || (sent < SENT_FEW && span < PART_MOST))
        return l->takes;
    begin(l, highest, lost, now);
    return rtc_quality_report(l, gone < sent ? gone * 256 / sent : 256, rtt, now);
}

const char *rtc_quality_name(enum rtc_quality_takes takes)
{
    return takes == RTC_QUALITY_ALL ? "all" : takes == RTC_QUALITY_NEEDED ? "needed" : "keys";
}
