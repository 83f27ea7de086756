/* SPDX-License-Identifier: MIT */
/* cookie.h - cookies of a responder ([RTMFP] 3.5.1.1.2): prove, without any state, that an
 * initiator receives at its address.
 *
 *     8: epoch of the key, kind, time in ms (6)  24: MAC of those  32: MAC of all that and address
 *
 * The key changes every 10 minutes; the previous key remains valid. All threads with the same
 * master key create and accept the same cookies.
 */
#ifndef PROTO_RTMFP_COOKIE_H
#define PROTO_RTMFP_COOKIE_H

#include "co/net/udp.h"
#include "proto/rtmfp/crypt.h"

enum { RTMFP_COOKIE = 64, RTMFP_MASTER = 32 };

enum rtmfp_cookie_kind { RTMFP_COOKIE_HELLO, RTMFP_COOKIE_CHANGED };

struct rtmfp_cookies {
    uint8_t master[RTMFP_MASTER];
    uint64_t epoch[2];               /* epochs of the keys, indexed by the last bit; 0: none */
    uint8_t key[2][RTMFP_HASH];
};
/* `master` is random and the same for the whole process. */
void rtmfp_cookies_init(struct rtmfp_cookies *c, const uint8_t master[RTMFP_MASTER]);

void rtmfp_cookie_make(struct rtmfp_cookies *c, uint8_t out[RTMFP_COOKIE],
                       enum rtmfp_cookie_kind kind, const struct udp_addr *from, co_usec now);

enum rtmfp_cookie_status {
    RTMFP_COOKIE_OURS,
    RTMFP_COOKIE_MOVED,   /* created by us, for another address */
    RTMFP_COOKIE_EXPIRED,
    RTMFP_COOKIE_FOREIGN,
};
enum rtmfp_cookie_status rtmfp_cookie_check(struct rtmfp_cookies *c, struct rtmfp_bytes cookie,
                                            const struct udp_addr *from, co_usec now);

#endif
