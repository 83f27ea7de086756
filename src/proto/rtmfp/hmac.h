/* SPDX-License-Identifier: MIT */
/* hmac.h - HMAC-SHA256 (RFC 2104) of short texts: no memory, nothing of the library to look up. */
#ifndef PROTO_RTMFP_HMAC_H
#define PROTO_RTMFP_HMAC_H

#include "proto/rtmfp/vlu.h"

enum { RTMFP_HASH = 32 };

void rtmfp_hmac(struct rtmfp_bytes key, struct rtmfp_bytes text, uint8_t out[RTMFP_HASH]);
void rtmfp_sha256(struct rtmfp_bytes text, uint8_t out[RTMFP_HASH]);

#endif
