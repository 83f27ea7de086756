/* SPDX-License-Identifier: MIT */
/* keys.c - keys of a session, [PROFILE] 4.6.4 and 4.6.5. */
#include "proto/rtmfp/keys.h"

#include <openssl/crypto.h>

/* Of the side whose component is `near`. */
static void derive(struct rtmfp_keys *out, enum rtmfp_side side, struct rtmfp_bytes z,
                   struct rtmfp_bytes near, struct rtmfp_bytes far)
{
    uint8_t mixed[RTMFP_HASH], key[RTMFP_HASH];

    rtmfp_hmac(far, near, mixed);
    rtmfp_hmac(z, rtmfp_bytes(mixed, sizeof(mixed)), key);
    memcpy(out->of[side].aes, key, RTMFP_KEY);
    rtmfp_hmac(z, rtmfp_bytes(key, sizeof(key)), out->of[side].mac);
    rtmfp_hmac(z, near, out->of[side].nonce);
    OPENSSL_cleanse(key, sizeof(key));
}

void rtmfp_keys_derive(struct rtmfp_keys *out, struct rtmfp_bytes z, struct rtmfp_bytes skic,
                       struct rtmfp_bytes skrc)
{
    derive(out, RTMFP_OF_INITIATOR, z, skic, skrc);
    derive(out, RTMFP_OF_RESPONDER, z, skrc, skic);
}

void rtmfp_keys_set(struct rtmfp_key *key, const struct rtmfp_keys *keys, enum rtmfp_side side)
{
    memcpy(key->aes, keys->of[side].aes, RTMFP_KEY);
    memcpy(key->mac, keys->of[side].mac, RTMFP_MAC_KEY);
}
