/* SPDX-License-Identifier: MIT */
/* cookie.c - what a listener knows a caller by that it kept nothing of: SipHash-2-4 of its address.
 *
 * A flood of inductions costs one of these each, so it is a hash made for short inputs. "SipHash: a
 * fast short-input PRF", Aumasson and Bernstein, 2012.
 */
#include "proto/srt/handshake.h"

#include <string.h>

struct sip {
    uint64_t a, b, c, d;
};

static uint64_t turn(uint64_t v, int n)
{
    return v << n | v >> (64 - n);
}

static void round_of(struct sip *s)
{
    s->a += s->b;
    s->b = turn(s->b, 13) ^ s->a;
    s->a = turn(s->a, 32);
    s->c += s->d;
    s->d = turn(s->d, 16) ^ s->c;
    s->a += s->d;
    s->d = turn(s->d, 21) ^ s->a;
    s->c += s->b;
    s->b = turn(s->b, 17) ^ s->c;
    s->c = turn(s->c, 32);
}

static uint64_t word_of(const uint8_t *p)
{
    uint64_t v = 0;

    for (int i = 7; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

static void take(struct sip *s, uint64_t word)
{
    s->d ^= word;
    round_of(s);
    round_of(s);
    s->a ^= word;
}

static uint64_t siphash(const uint8_t key[16], const uint8_t *data, size_t words)
{
    uint64_t k0 = word_of(key), k1 = word_of(key + 8);
    struct sip s = { k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d),
                     k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) };

    for (size_t i = 0; i < words; i++)
        take(&s, word_of(data + 8 * i));
    take(&s, (uint64_t)(8 * words) << 56);
    s.c ^= 0xff;
    for (int i = 0; i < 4; i++)
        round_of(&s);
    return s.a ^ s.b ^ s.c ^ s.d;
}

/* Never 0, which is a caller's that has none. */
uint32_t srt_cookie(const uint8_t key[SRT_COOKIE_KEY], const struct udp_addr *from, int64_t minute)
{
    uint8_t text[32] = { 0 };
    uint32_t cookie;

    memcpy(text, from->ip, sizeof(from->ip));
    memcpy(text + 16, &minute, sizeof(minute));
    memcpy(text + 24, &from->port, sizeof(from->port));
    cookie = (uint32_t)siphash(key, text, sizeof(text) / 8);
    return cookie != 0 ? cookie : 1;
}

bool srt_cookie_is_valid(const uint8_t key[SRT_COOKIE_KEY], const struct udp_addr *from,
                         int64_t minute, uint32_t cookie)
{
    return cookie == srt_cookie(key, from, minute) || cookie == srt_cookie(key, from, minute - 1);
}
