/* SPDX-License-Identifier: MIT */
/* own.h - internal interface of proto/dtls. */
#ifndef PROTO_DTLS_OWN_H
#define PROTO_DTLS_OWN_H

#include "proto/dtls/dtls.h"

#include <openssl/ssl.h>

enum {
    DTLS_OUT_MAX = 64 * 1024, /* limit of pending output; more is dropped, as on any network */
    DTLS_REASSEMBLY_MAX = 32 * 1024, /* limit for all messages of a peer's handshake */
    DTLS_MESSAGES_MAX = 32,
    DTLS_EARLY_MAX = 8, /* encrypted records before the keys exist: each takes its own buffer */
    DTLS_RECORDS_A_SECOND = 100,
    DTLS_CHAIN_MAX = 16 * 1024,     /* limit of a peer's certificate chain, in bytes */
    DTLS_WHY_MAX = 112,
};

/* ---- identity.c */
SSL_CTX *dtls_identity_context(struct dtls_identity *id);
const BIO_METHOD *dtls_identity_bio(const struct dtls_identity *id);

/* ---- datagrams.c: the BIO below OpenSSL, where one write is one datagram */
struct dtls_datagrams {
    const uint8_t *in;  /* the received datagram; borrowed */
    size_t in_size;
    uint8_t *out;       /* datagrams, each after its size in 2 bytes; NULL: none */
    size_t out_at, out_end, out_cap;
};
BIO_METHOD *dtls_datagrams_method(void); /* the BIO's data is a struct dtls_datagrams */
bool dtls_datagrams_next(struct dtls_datagrams *g, const uint8_t **data, size_t *size);
void dtls_datagrams_put(struct dtls_datagrams *g, const uint8_t *data, size_t size);
void dtls_datagrams_fini(struct dtls_datagrams *g);

/* ---- guard.c: filters the input of OpenSSL, whose own limits are wide */
struct dtls_guard {
    co_usec second;
    unsigned records, early;
    size_t announced;                       /* total size of the messages */
    uint32_t lengths[DTLS_MESSAGES_MAX];    /* size plus 1, by message number; 0: not seen */
};
/* Starts zeroed. Returns false if the datagram must be dropped. */
bool dtls_guard_lets(struct dtls_guard *g, const uint8_t *data, size_t size, bool done,
                     co_usec now);

/* ---- established.c: after the handshake */
enum { DTLS_ESTABLISHED_KEYS = 2 * 16 + 2 * 4, DTLS_FINISHED = 12 + 12 };
struct dtls_established {
    bool client;
    uint8_t keys[DTLS_ESTABLISHED_KEYS];
    uint64_t number, clear_number;   /* next record number in epoch 1, and in epoch 0 */
    uint8_t finished[DTLS_FINISHED]; /* our last message, decrypted, if we are the server */
};
enum dtls_event { DTLS_EVENT_NONE, DTLS_EVENT_CLOSE, DTLS_EVENT_FATAL };
/* Takes over an SSL whose handshake is done. `flight` is what a server has just sent, framed as in
 * datagrams.c. Returns false if the SSL must be kept. */
bool dtls_established_begin(struct dtls_established *a, SSL *ssl, const uint8_t *flight,
                            size_t size);
void dtls_established_fini(struct dtls_established *a); /* works on a zeroed struct */
enum dtls_event dtls_established_input(struct dtls_established *a, struct dtls_datagrams *g,
                                 const uint8_t *data, size_t size);
/* Sends close_notify. */
void dtls_established_close(struct dtls_established *a, struct dtls_datagrams *g);

/* ---- fingerprint.c: in constant time */
bool dtls_fingerprint_is(const struct dtls_fingerprint *f, const X509 *certificate);
/* Writes the SHA-256 digest as text, "AB:CD:..". Returns false if memory allocation fails. */
enum { DTLS_FINGERPRINT_TEXT = 32 * 3 };
bool dtls_fingerprint_text(const X509 *certificate, char out[DTLS_FINGERPRINT_TEXT]);

/* ---- dtls.c: checks, before its signature is verified, that the certificate is the expected one
 * and its key is fast to verify with */
bool dtls_is_peer(SSL *ssl, const X509 *certificate);

#endif
