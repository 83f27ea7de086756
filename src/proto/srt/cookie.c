/* SPDX-License-Identifier: MIT */
/* cookie.c - what a listener knows a caller by that it kept nothing of: SipHash-2-4 of its address.
 *
 * A flood of inductions costs one of these each, so it is a hash made for short inputs.
 */
#include "proto/srt/handshake.h"

#include <string.h>

/* Never 0, which is a caller's that has none. */
uint32_t srt_cookie(const uint8_t key[SRT_COOKIE_KEY], const struct udp_addr *from, int64_t minute)
{
    uint8_t text[32] = { 0 };
    uint32_t cookie;

    memcpy(text, from->ip, sizeof(from->ip));
    memcpy(text + 16, &minute, sizeof(minute));
    memcpy(text + 24, &from->port, sizeof(from->port));
    cookie = (uint32_t)siphash(key, text, sizeof(text));
    return cookie != 0 ? cookie : 1;
}

bool srt_cookie_is_valid(const uint8_t key[SRT_COOKIE_KEY], const struct udp_addr *from,
                         int64_t minute, uint32_t cookie)
{
    return cookie == srt_cookie(key, from, minute) || cookie == srt_cookie(key, from, minute - 1);
}
