/* SPDX-License-Identifier: MIT */
/* handshake.h - the bytes before the first chunk [RTMP 5.2], simple and with digests.
 *
 * A client sends C0 C1, gets S0 S1 S2, and sends C2. In the simple form C2 and S2 are echoes. The
 * form with digests ("complex", used by Flash, OBS, FFmpeg, librtmp) has an HMAC-SHA256 in C1 at
 * one of two positions and requires others in S1 and S2. A server replies in the client's form.
 */
#ifndef PROTO_RTMP_HANDSHAKE_H
#define PROTO_RTMP_HANDSHAKE_H

#include "base/err.h"
#include "co/net/io.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    RTMP_HANDSHAKE_PART = 1536,                               /* C1, C2, S1, S2 */
    RTMP_HANDSHAKE_C0C1 = 1 + RTMP_HANDSHAKE_PART,
    RTMP_HANDSHAKE_S0S1S2 = 1 + 2 * RTMP_HANDSHAKE_PART,
};

/* Position of the digest in C1 or S1. */
enum rtmp_scheme {
    RTMP_SCHEME_SIMPLE,       /* no digest */
    RTMP_SCHEME_KEY_FIRST,    /* "scheme 0": the digest block is in bytes 772..1535 */
    RTMP_SCHEME_DIGEST_FIRST, /* "scheme 1": it is in bytes 8..771 */
};

/* Writes the server's response, RTMP_HANDSHAKE_S0S1S2 bytes. ERR_RTMP_PLAIN when C0 requests
 * encrypted RTMP, ERR_RTMP_HANDSHAKE when it is not RTMP. `scheme` may be NULL. */
err_t rtmp_handshake_s0s1s2(const uint8_t *c0c1, uint8_t *out, enum rtmp_scheme *scheme)
    __attribute__((warn_unused_result));

/* Write the client's C0 C1, RTMP_HANDSHAKE_C0C1 bytes, and its C2 in response to S1, 1536 bytes. */
err_t rtmp_handshake_c0c1(enum rtmp_scheme scheme, uint8_t *out)
    __attribute__((warn_unused_result));
err_t rtmp_handshake_c2(const uint8_t *s1, enum rtmp_scheme scheme, uint8_t *out)
    __attribute__((warn_unused_result));

/* For clients that check, and for tests: returns whether S2 proves that the server read our C1. */
bool rtmp_handshake_s2_ok(const uint8_t *c1, const uint8_t *s2);
/* Returns the scheme whose digest is correct in this C1 (in S1 if from_server). */
enum rtmp_scheme rtmp_handshake_scheme(const uint8_t *part, bool from_server);

/* Perform the whole handshake over io, within its timeouts. Both yield and hold a few KB of heap
 * until they return. The client uses the simple form, which all servers accept. */
err_t rtmp_handshake_server(struct io *io) __attribute__((warn_unused_result));
err_t rtmp_handshake_client(struct io *io) __attribute__((warn_unused_result));

#endif
