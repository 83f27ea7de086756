/* SPDX-License-Identifier: MIT */
/* tls_core.h - the state of one TLS connection without its pipe; private to co/.
 *
 * Encrypted bytes are read from `in` and written to `out`, both plain memory, so a step of the
 * handshake can run on a helper thread. While `below` is set (never on a helper thread), missing
 * input is read from there.
 */
#ifndef CO_NET_TLS_CORE_H
#define CO_NET_TLS_CORE_H

#include "co/net/io_tls.h"
#include "co/net/tls_record.h"

#include <openssl/ssl.h>

struct tls_certs; /* contexts by host name; atomic reference count */

enum {
    TLS_IN = 16 * 1024 + 512, TLS_TEXT = 160,
    /* shared buffer: one batch of encrypted data, and room for record headers */
    TLS_OUT = 72 * 1024,
    TLS_TALK = TLS_QUIET,
};

enum tls_step { TLS_DONE, TLS_WANTS_INPUT, TLS_FAILED };

struct tls_core {
    SSL *ssl;                    /* NULL once `records` has replaced it */
    struct tls_records *records; /* replaces ssl after a takeover: see tls_takeover.h */
    /* secrets of the handshake; NULL: the library keeps this connection */
    struct tls_secrets *secrets;
    struct tls_certs *certs; /* the server's certificates; counted reference */
    struct io *below;
    uint8_t *in, *out;       /* NULL between uses */
    size_t in_at, in_end;
    size_t out_at, out_end, out_cap;
    uint8_t *plain;          /* decrypted data in `in` that was not read yet (records only) */
    size_t plain_size;
    bool out_shared;         /* out is the buffer of the thread, see tls_core_share_out() */
    err_t err;               /* error of `below` during a step */
    unsigned talk;           /* protocol messages (not data) since the last byte of data */
    enum tls_step step;      /* result of the last step of the handshake */
    char text[TLS_TEXT];     /* reason of the failure */
};

/* Errors of a step are texts, because a helper thread must not create an err_t. */
struct tls_core *tls_core_new(SSL_CTX *ctx, struct tls_certs *certs, bool server);
void tls_core_free(void *core); /* does not free `below` */
/* Runs one step of the handshake: sets step and, on failure, text. Any thread. */
void tls_core_shake(void *core);
/* After the handshake: limits further handshake messages (new keys, another hello). A peer that
 * sends too many is cut off with c->err. */
void tls_core_watch(struct tls_core *c);
/* Stores the library's reason for the last failed call; "" if there is none. */
void tls_core_why(struct tls_core *c, int rc);

/* Directs further output to a buffer that all connections of the thread share: it stays in the
 * processor's caches. No yield is allowed before tls_core_own_out(). */
void tls_core_share_out(struct tls_core *c);
/* Moves unsent output to the connection's own memory. Returns false if out of memory. */
bool tls_core_own_out(struct tls_core *c);
/* Returns room for `need` bytes at out_end; NULL if out of memory. */
uint8_t *tls_core_out_room(struct tls_core *c, size_t need);
/* Removes n sent bytes from the output. */
void tls_core_sent(struct tls_core *c, size_t n);

/* Returns the free space at in_end. *size is 0 if there is none; returns NULL if out of memory. */
uint8_t *tls_core_room(struct tls_core *c, size_t *size);

/* ---- certificates */

/* Reads PEM files into contexts. Any thread, blocks. Returns NULL on failure; `text` has the
 * reason. */
struct tls_certs *tls_certs_load(const char *const *names, const char *const *certs,
                                 const char *const *keys, size_t n,
                                 const struct io_tls_rules *rules, char text[TLS_TEXT]);
struct tls_certs *tls_certs_ref(struct tls_certs *t);
struct tls_certs *tls_certs_unref(struct tls_certs *t); /* any thread; always NULL */
SSL_CTX *tls_certs_first(struct tls_certs *t);
X509 *tls_certs_x509(const struct tls_certs *t, size_t i); /* lives as long as t */
/* Fills in the description of a certificate. */
void tls_about(const X509 *x, struct io_tls_about *out);
bool tls_certs_slow(const struct tls_certs *t); /* one of the keys signs slowly */
/* Creates a context for clients. Any thread, blocks. Returns NULL on failure; `text` has the
 * reason. */
SSL_CTX *tls_client_context(bool any, const char *ca, char text[TLS_TEXT]);
/* Writes `what` and the library's error message, cut to the size of text. */
void tls_text(char text[TLS_TEXT], const char *what);

#endif
