/* SPDX-License-Identifier: MIT */
/* keys.h - keys of a session out of what both sides said ([PROFILE] 4.6.4, 4.6.5). */
#ifndef PROTO_RTMFP_KEYS_H
#define PROTO_RTMFP_KEYS_H

#include "proto/rtmfp/crypt.h"
#include "proto/rtmfp/hmac.h"

enum rtmfp_side { RTMFP_OF_INITIATOR, RTMFP_OF_RESPONDER, RTMFP_SIDES };

/* What each side sends with. Wipe it when it is done with. */
struct rtmfp_keys {
    struct {
        uint8_t aes[RTMFP_KEY], mac[RTMFP_MAC_KEY];
        uint8_t nonce[RTMFP_HASH];
    } of[RTMFP_SIDES];
};

/* z: the secret, without zeros in front; the components as they were sent. */
void rtmfp_keys_derive(struct rtmfp_keys *out, struct rtmfp_bytes z, struct rtmfp_bytes skic,
                       struct rtmfp_bytes skrc);
/* Into that key of a direction; what was agreed on stays as it is. */
void rtmfp_keys_set(struct rtmfp_key *key, const struct rtmfp_keys *keys, enum rtmfp_side side);

#endif
