/* SPDX-License-Identifier: MIT */
/* stat_rtc.h - the line about WebRTC that comes every five seconds while there are sessions:
 *
 *   RTC: Server conns=12, rpkts=(410,rtp:300,stun:5,rtcp:100),
 *   spkts=(3400,rtp:3300,stun:4,rtcp:50), rtcp=(pli:1,twcc:30,rr:12), snk=(3,a:1,v:2,h:2),
 *   rnk=(12,20,h:11,m:9), loss=(r:49,s:0), fid=(id:5,addr:400)
 *
 * All but conns are per second. rpkts, spkts: datagrams that came and went, RTP of them, checks of
 * ICE and answers to these, and RTCP. rtcp: what publishers were told. snk: packets that they were
 * asked for again, of audio and video, and that came then; rnk: requests of players, the packets in
 * them, those that were sent again, and those that were not. loss: datagrams of all of the machine
 * that found no room in a socket's buffer; not loss of the network. fid: how datagrams found their
 * sessions, by our ufrag and by their address. Groups without news are left out.
 */
#ifndef APP_OS_STAT_RTC_H
#define APP_OS_STAT_RTC_H

#include "app/figures.h"

struct stat_rtc {
    struct rtc_service_stat seen;   /* when the last line was due */
    int64_t no_room[2];             /* received, sent; likewise */
    co_usec at;
};

/* Write the line of what was since the last call to buf, and give its length; 0: there is nothing
 * to tell. */
size_t stat_rtc_text(struct stat_rtc *s, const struct rtc_service_stat *now,
                     const int64_t no_room[2], co_usec at, char *buf, size_t size);
/* What the kernel had no room for, of /proc/net/snmp; zeros where it does not say. */
void stat_rtc_no_room(int64_t out[2]);

#endif
