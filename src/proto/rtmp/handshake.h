/* SPDX-License-Identifier: MIT */
/* handshake.h - the bytes before the first chunk [RTMP 5.2], simple and with digests.
 *
 * A client sends C0 C1, gets S0 S1 S2, sends C2. In the simple form C2 and S2 are echoes. The form
 * with digests ("complex": Flash, OBS, ffmpeg, librtmp use it) hides an HMAC-SHA256 in C1 at one of
 * two places and expects another in S1 and S2. A server answers in the form that the client chose.
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

/* Where the digest is in a C1 or S1. */
enum rtmp_scheme {
    RTMP_SCHEME_SIMPLE,       /* there is none */
    RTMP_SCHEME_KEY_FIRST,    /* "scheme 0": bytes 772..1535 are the digest's block */
    RTMP_SCHEME_DIGEST_FIRST, /* "scheme 1": bytes 8..771 are */
};

/* The server's answer, all RTMP_HANDSHAKE_S0S1S2 bytes. ERR_RTMP_PLAIN when C0 asks for encrypted
 * RTMP, ERR_RTMP_HANDSHAKE when it is no RTMP at all. *scheme may be NULL. */
err_t rtmp_handshake_s0s1s2(const uint8_t *c0c1, uint8_t *out, enum rtmp_scheme *scheme)
    __attribute__((warn_unused_result));

/* What a client opens with, RTMP_HANDSHAKE_C0C1 bytes; and what it answers to S1, 1536 bytes. */
err_t rtmp_handshake_c0c1(enum rtmp_scheme scheme, uint8_t *out)
    __attribute__((warn_unused_result));
err_t rtmp_handshake_c2(const uint8_t *s1, enum rtmp_scheme scheme, uint8_t *out)
    __attribute__((warn_unused_result));

/* For clients that want to know, and for tests: does S2 prove that the server read our C1? */
bool rtmp_handshake_s2_ok(const uint8_t *c1, const uint8_t *s2);
/* The scheme whose digest is right in this C1 (S1 with from_server). */
enum rtmp_scheme rtmp_handshake_scheme(const uint8_t *part, bool from_server);

/* The whole handshake over io, as its timeouts say. Both yield and hold a few KB of heap until
 * they return. The client's is simple, which every server takes. */
err_t rtmp_handshake_server(struct io *io) __attribute__((warn_unused_result));
err_t rtmp_handshake_client(struct io *io) __attribute__((warn_unused_result));

#endif
