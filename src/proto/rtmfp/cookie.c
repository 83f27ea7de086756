/* SPDX-License-Identifier: MIT */
/* cookie.c - cookies of a responder, [RTMFP] 3.5.1.1.2 and 3.5.1.2. */
#include "proto/rtmfp/cookie.h"

#include <openssl/crypto.h>

#define EPOCH CO_SECONDS(600)
#define VALID CO_SECONDS(120)
enum { HEAD = 8, FIRST = 24, SECOND = RTMFP_HASH, ADDRESS = 18 };

void rtmfp_cookies_init(struct rtmfp_cookies *c, const uint8_t master[RTMFP_MASTER])
{
    *c = (struct rtmfp_cookies){ .epoch = { 0 } };
    memcpy(c->master, master, RTMFP_MASTER);
}

/* Starts at 1, so that 0 means none. */
static uint64_t epoch_at(co_usec now)
{
    return (uint64_t)(now / EPOCH) + 1;
}

static struct rtmfp_bytes key_of(struct rtmfp_cookies *c, uint64_t epoch)
{
    unsigned i = epoch & 1;
    uint8_t text[8];
    struct wr w = rtmfp_wr(text, sizeof(text));

    if (c->epoch[i] != epoch) {
        wr_be(&w, epoch, sizeof(text));
        rtmfp_hmac(rtmfp_bytes(c->master, RTMFP_MASTER), rtmfp_bytes(text, sizeof(text)),
                   c->key[i]);
        c->epoch[i] = epoch;
    }
    return rtmfp_bytes(c->key[i], RTMFP_HASH);
}

static void mac_of_head(struct rtmfp_bytes key, const uint8_t *cookie, uint8_t mac[RTMFP_HASH])
{
    rtmfp_hmac(key, rtmfp_bytes(cookie, HEAD), mac);
}

static void mac_of_all(struct rtmfp_bytes key, const uint8_t *cookie, const struct udp_addr *from,
                       uint8_t mac[RTMFP_HASH])
{
    uint8_t text[HEAD + FIRST + ADDRESS];
    struct wr w = rtmfp_wr(text, sizeof(text));

    wr_bytes(&w, cookie, HEAD + FIRST);
    wr_bytes(&w, from->ip, sizeof(from->ip));
    wr_u16(&w, from->port);
    rtmfp_hmac(key, rtmfp_bytes(text, w.len), mac);
}

void rtmfp_cookie_make(struct rtmfp_cookies *c, uint8_t out[RTMFP_COOKIE],
                       enum rtmfp_cookie_kind kind, const struct udp_addr *from, co_usec now)
{
    uint64_t epoch = epoch_at(now);
    struct rtmfp_bytes key = key_of(c, epoch);
    struct wr w = rtmfp_wr(out, HEAD);
    uint8_t mac[RTMFP_HASH];

    wr_u8(&w, (uint8_t)epoch);
    wr_u8(&w, (uint8_t)kind);
    wr_be(&w, (uint64_t)(now / CO_MS(1)), 6);
    mac_of_head(key, out, mac);
    memcpy(out + HEAD, mac, FIRST);
    mac_of_all(key, out, from, out + HEAD + FIRST);
}

enum rtmfp_cookie_status rtmfp_cookie_check(struct rtmfp_cookies *c, struct rtmfp_bytes cookie,
                                            const struct udp_addr *from, co_usec now)
{
    uint64_t epoch = epoch_at(now);
    struct rd r = rtmfp_rd(cookie);
    uint8_t epoch_byte = rd_u8(&r), mac[RTMFP_HASH];
    struct rtmfp_bytes key;
    co_usec created;

    if (cookie.n != RTMFP_COOKIE ||
        (epoch_byte != (uint8_t)epoch && epoch_byte != (uint8_t)(epoch - 1)))
        return RTMFP_COOKIE_FOREIGN;
    key = key_of(c, epoch_byte == (uint8_t)epoch ? epoch : epoch - 1);
    mac_of_head(key, cookie.p, mac);
    if (CRYPTO_memcmp(mac, cookie.p + HEAD, FIRST) != 0)
        return RTMFP_COOKIE_FOREIGN;
    (void)rd_u8(&r);
    created = (co_usec)rd_be(&r, 6) * CO_MS(1);
    if (now - created > VALID)
        return RTMFP_COOKIE_EXPIRED;
    mac_of_all(key, cookie.p, from, mac);
    return CRYPTO_memcmp(mac, cookie.p + HEAD + FIRST, SECOND) == 0 ? RTMFP_COOKIE_OURS
                                                                    : RTMFP_COOKIE_MOVED;
}
