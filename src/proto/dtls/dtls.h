/* SPDX-License-Identifier: MIT */
/* dtls.h - DTLS 1.2 over datagrams, for the keys of SRTP: RFC 6347, RFC 5764. No I/O, no clock:
 *
 *     dtls_input(d, data, size, now);          what came from the peer's chosen address
 *     while (dtls_output(d, &data, &size)) ...  datagrams to send, in their order
 *     dtls_deadline(d): then dtls_tick(d, now)  flights are sent again
 *
 * Both ends are self-signed: the digest of the peer's certificate must be the one that its session
 * description says, else the connection fails.
 */
#ifndef PROTO_DTLS_DTLS_H
#define PROTO_DTLS_DTLS_H

#include "base/err.h"
#include "co/co.h"
#include "proto/srtp/srtp.h"

/* Our certificate and all that connections have in common; made again where it gets old.
 * References: each connection has one. They may be taken and given back by any thread, and
 * connections may be at different threads at different times. */
struct dtls_identity;
enum { DTLS_IDENTITY_WHY = 96 };
struct dtls_identity_opts {
    bool rsa;      /* 2048 bits, else P-256 */
    bool dtls1_0;  /* the operator allows DTLS 1.0 as well */
};
err_t dtls_identity_new(struct dtls_identity **out, const struct dtls_identity_opts *opts)
    __attribute__((warn_unused_result));
/* The same for any thread: NULL, and why not. An RSA key takes a tenth of a second. */
struct dtls_identity *dtls_identity_make(const struct dtls_identity_opts *opts,
                                         char why[DTLS_IDENTITY_WHY]);
struct dtls_identity *dtls_identity_ref(struct dtls_identity *id);
void dtls_identity_unref(struct dtls_identity *id); /* NULL is fine */
const char *dtls_identity_fingerprint(const struct dtls_identity *id); /* "AB:CD:..", SHA-256 */
/* When a new one should take its place, seconds since 1970. */
int64_t dtls_identity_ends(const struct dtls_identity *id);

enum dtls_digest { DTLS_SHA256, DTLS_SHA384, DTLS_SHA512 };
enum { DTLS_DIGEST_MAX = 64, DTLS_MTU = 1200, DTLS_DATAGRAM_MAX = 2048 };
struct dtls_fingerprint {
    enum dtls_digest kind;
    uint8_t v[DTLS_DIGEST_MAX];
};
/* "sha-256 AB:CD:..", as a=fingerprint has it. False: it is none, or of another kind. */
bool dtls_fingerprint_parse(struct dtls_fingerprint *f, const char *text, size_t size);

struct dtls; /* one connection; owned by who made it */
struct dtls_opts {
    bool client;   /* the active role: it begins at dtls_start() */
    struct dtls_fingerprint peer;
};
err_t dtls_new(struct dtls **out, struct dtls_identity *id, const struct dtls_opts *opts)
    __attribute__((warn_unused_result));
void dtls_free(struct dtls *d); /* wipes its keys; NULL is fine */

enum dtls_state {
    DTLS_WAITS,  /* nothing came, or (client) it has not begun */
    DTLS_SHAKES, DTLS_DONE,
    DTLS_CLOSED, /* the peer said close_notify */
    DTLS_FAILED, /* dtls_why() says why */
};
enum dtls_state dtls_state(const struct dtls *d);
const char *dtls_why(const struct dtls *d); /* "" unless it failed */
void dtls_start(struct dtls *d, co_usec now); /* again does nothing; of a server neither */
/* A step of a handshake takes 0.3 ms, and 4 ms with keys of the slowest kind that peers may have:
 * until DTLS_DONE it is not for a thread that others wait for. */
void dtls_input(struct dtls *d, const uint8_t *data, size_t size, co_usec now);
/* The next datagram; borrowed until the next call. False: no more. */
bool dtls_output(struct dtls *d, const uint8_t **data, size_t *size);
co_usec dtls_deadline(const struct dtls *d); /* CO_FOREVER: none */
void dtls_tick(struct dtls *d, co_usec now);
/* Of both directions, once it is DTLS_DONE. False: no profile was agreed on. Whoever takes them
 * wipes them (srtp_keys_wipe()). */
bool dtls_keys(struct dtls *d, struct srtp_keys *send, struct srtp_keys *receive);
const char *dtls_cipher(const struct dtls *d); /* "ECDHE-ECDSA-AES128-GCM-SHA256"; "" */
/* close_notify, to be taken by dtls_output(). */
void dtls_close(struct dtls *d);

#endif
