/* SPDX-License-Identifier: MIT */
/* dtls.h - DTLS 1.2 over datagrams, for the keys of SRTP: RFC 6347, RFC 5764. No I/O, no clock:
 *     dtls_input(d, data, size, now);          from the peer's chosen address
 *     while (dtls_output(d, &data, &size)) ...  datagrams to send, in order
 *     dtls_deadline(d): then dtls_tick(d, now)  retransmits flights
 * Both ends use self-signed certificates: the digest of the peer's certificate must be the one in
 * its session description, otherwise the connection fails.
 */
#ifndef PROTO_DTLS_DTLS_H
#define PROTO_DTLS_DTLS_H

#include "base/err.h"
#include "co/co.h"
#include "proto/srtp/srtp.h"

/* Our certificate and the context shared by all connections; replaced before it expires. Reference
 * counted: each connection holds a reference. Any thread may take and release references, and
 * connections may run on different threads at different times. */
struct dtls_identity;
enum { DTLS_IDENTITY_WHY = 96 };
struct dtls_identity_opts {
    bool rsa;      /* RSA with 2048 bits; otherwise P-256 */
    bool dtls1_0;  /* also allow DTLS 1.0 */
};
err_t dtls_identity_new(struct dtls_identity **out, const struct dtls_identity_opts *opts)
    __attribute__((warn_unused_result));
/* Same, for any thread: on failure returns NULL with the reason. An RSA key takes a tenth of a
 * second. */
struct dtls_identity *dtls_identity_make(const struct dtls_identity_opts *opts,
                                         char why[DTLS_IDENTITY_WHY]);
struct dtls_identity *dtls_identity_ref(struct dtls_identity *id);
void dtls_identity_unref(struct dtls_identity *id); /* NULL is allowed */
const char *dtls_identity_fingerprint(const struct dtls_identity *id); /* "AB:CD:..", SHA-256 */
/* Returns when it should be replaced, in seconds since 1970. */
int64_t dtls_identity_ends(const struct dtls_identity *id);

enum dtls_digest { DTLS_SHA256, DTLS_SHA384, DTLS_SHA512 };
enum { DTLS_DIGEST_MAX = 64, DTLS_MTU = 1200, DTLS_DATAGRAM_MAX = 2048 };
struct dtls_fingerprint {
    enum dtls_digest kind;
    uint8_t v[DTLS_DIGEST_MAX];
};
/* Parses "sha-256 AB:CD:..", as in a=fingerprint. Returns false if it is invalid or of an unknown
 * kind. */
bool dtls_fingerprint_parse(struct dtls_fingerprint *f, const char *text, size_t size);

struct dtls; /* one connection; owned by its creator */
struct dtls_opts {
    bool client;   /* the active role: it starts with dtls_start() */
    struct dtls_fingerprint peer;
};
err_t dtls_new(struct dtls **out, struct dtls_identity *id, const struct dtls_opts *opts)
    __attribute__((warn_unused_result));
void dtls_free(struct dtls *d); /* wipes its keys; NULL is allowed */

enum dtls_state {
    DTLS_WAITS,  /* nothing received, or (client) not started */
    DTLS_SHAKES, DTLS_DONE,
    DTLS_CLOSED, /* the peer sent close_notify */
    DTLS_FAILED, /* dtls_why() has the reason */
};
enum dtls_state dtls_state(const struct dtls *d);
const char *dtls_why(const struct dtls *d); /* "" unless it failed */
void dtls_start(struct dtls *d, co_usec now); /* no effect if already started, or on a server */
/* Handles a datagram. A handshake step takes 0.3 ms, or 4 ms with the slowest keys that peers may
 * use, so until DTLS_DONE it must not run on a thread that others wait for. */
void dtls_input(struct dtls *d, const uint8_t *data, size_t size, co_usec now);
/* Returns the next datagram, borrowed until the next call, or false if there is none. */
bool dtls_output(struct dtls *d, const uint8_t **data, size_t *size);
co_usec dtls_deadline(const struct dtls *d); /* CO_FOREVER: none */
void dtls_tick(struct dtls *d, co_usec now);
/* Returns the keys of both directions, once DTLS_DONE. Returns false if no profile was negotiated.
 * The caller wipes them (srtp_keys_wipe()). */
bool dtls_keys(struct dtls *d, struct srtp_keys *send, struct srtp_keys *receive);
const char *dtls_cipher(const struct dtls *d); /* "ECDHE-ECDSA-AES128-GCM-SHA256"; "" */
/* Sends close_notify; take it with dtls_output(). */
void dtls_close(struct dtls *d);

#endif
