/* SPDX-License-Identifier: MIT */
/* stat_rtmfp.h - the line about RTMFP that comes every five seconds while there are sessions:
 *
 *   RTMFP: Server conns=20000,19990, streams=12,450, opens=(98,keys:99,0.42ms,wait:3),
 *   drops=(12,bad:3,room:1), again=40, abandoned=2, skips=1, pings=5, peers=(20,none:3)
 *
 * conns: sessions, those of them that said connect. streams: that are published, that are played.
 * The rest is per second. opens: sessions that were opened; handshakes that got keys, how long that
 * took, and how many wait now. drops: packets of handshakes that were not answered, packets that
 * no session takes, datagrams that found no room in the socket. again, abandoned: fragments that
 * were sent again, messages that were too late. skips: players that went on at a key frame. pings:
 * those without an answer. peers: that were introduced, that were asked for and are not here.
 * Groups without news are left out.
 */
#ifndef APP_OS_STAT_RTMFP_H
#define APP_OS_STAT_RTMFP_H

#include "app/figures.h"

struct stat_rtmfp {
    struct rtmfp_service_stat seen; /* when the last line was due */
    co_usec at;
};

/* Write the line of what was since the last call to buf, and give its length; 0: there is nothing
 * to tell. */
size_t stat_rtmfp_text(struct stat_rtmfp *s, const struct rtmfp_service_stat *now, co_usec at,
                       char *buf, size_t size);

#endif
