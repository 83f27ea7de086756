/* SPDX-License-Identifier: MIT */
/* own.h - what the files of proto/dtls share. */
#ifndef PROTO_DTLS_OWN_H
#define PROTO_DTLS_OWN_H

#include "proto/dtls/dtls.h"

#include <openssl/ssl.h>

enum {
    DTLS_OUT_MAX = 64 * 1024,       /* that waits to be taken; more is lost, as on any network */
    DTLS_REASSEMBLY_MAX = 32 * 1024, /* of all messages of a peer's handshake */
    DTLS_MESSAGES_MAX = 32,
    DTLS_EARLY_MAX = 8,             /* encrypted records before there are keys: each is kept in a
                                     * buffer of its own */
    DTLS_RECORDS_A_SECOND = 100,
    DTLS_CHAIN_MAX = 16 * 1024,     /* bytes of a peer's certificates */
    DTLS_WHY_MAX = 112,
};

/* ---- identity.c */
SSL_CTX *dtls_identity_context(struct dtls_identity *id);
const BIO_METHOD *dtls_identity_bio(const struct dtls_identity *id);

/* ---- datagrams.c: below OpenSSL, where one write is one datagram */
struct dtls_datagrams {
    const uint8_t *in;  /* the one that came; borrowed */
    size_t in_size;
    uint8_t *out;       /* sizes of 2 bytes, each before its datagram; NULL: none */
    size_t out_at, out_end, out_cap;
};
BIO_METHOD *dtls_datagrams_method(void); /* the BIO's data are a struct dtls_datagrams */
bool dtls_datagrams_next(struct dtls_datagrams *g, const uint8_t **data, size_t *size);
void dtls_datagrams_put(struct dtls_datagrams *g, const uint8_t *data, size_t size);
void dtls_datagrams_fini(struct dtls_datagrams *g);

/* ---- guard.c: what is let through to OpenSSL, whose own bounds are wide */
struct dtls_guard {
    co_usec second;
    unsigned records, early;
    size_t announced;                       /* bytes of all messages */
    uint32_t lengths[DTLS_MESSAGES_MAX];    /* by number, and 1 more; 0: it was not seen */
};
/* Zeroed it has begun. False: the datagram is dropped. */
bool dtls_guard_lets(struct dtls_guard *g, const uint8_t *data, size_t size, bool done,
                     co_usec now);

/* ---- after.c: behind the handshake */
enum { DTLS_AFTER_KEYS = 2 * 16 + 2 * 4, DTLS_FINISHED = 12 + 12 };
struct dtls_after {
    bool client;
    uint8_t keys[DTLS_AFTER_KEYS];
    uint64_t number, clear_number;   /* of our next records: epoch 1, and epoch 0 */
    uint8_t finished[DTLS_FINISHED]; /* our last message, if we are the server: not encrypted */
};
enum dtls_heard { DTLS_HEARD_NOTHING, DTLS_HEARD_CLOSE, DTLS_HEARD_FATAL };
/* Takes all that is needed of an SSL whose handshake is done. `flight` is what a server just sent,
 * framed as in datagrams.c. False: the SSL has to stay. */
bool dtls_after_begin(struct dtls_after *a, SSL *ssl, const uint8_t *flight, size_t size);
void dtls_after_fini(struct dtls_after *a); /* all zero is fine */
enum dtls_heard dtls_after_input(struct dtls_after *a, struct dtls_datagrams *g,
                                 const uint8_t *data, size_t size);
void dtls_after_close(struct dtls_after *a, struct dtls_datagrams *g); /* close_notify */

/* ---- fingerprint.c: in constant time */
bool dtls_fingerprint_is(const struct dtls_fingerprint *f, const X509 *certificate);
/* SHA-256 as text: "AB:CD:.."; false: no memory. */
enum { DTLS_FINGERPRINT_TEXT = 32 * 3 };
bool dtls_fingerprint_text(const X509 *certificate, char out[DTLS_FINGERPRINT_TEXT]);

/* ---- dtls.c: is that certificate the one that was described, and its key one whose signature is
 * checked soon? Called before it is. */
bool dtls_is_peer(SSL *ssl, const X509 *certificate);

#endif
