/* SPDX-License-Identifier: MIT */
/* tls_core.h - the state of one TLS connection without its pipe; for co/ alone.
 *
 * Encrypted bytes come from `in` and go to `out`, plain memory, so a step of the handshake may run
 * on a helper thread. While `below` is set (never on a helper thread), what is missing in `in` is
 * read from there.
 */
#ifndef CO_NET_TLS_CORE_H
#define CO_NET_TLS_CORE_H

#include "co/net/io_tls.h"
#include "co/net/tls_record.h"

#include <openssl/ssl.h>

struct tls_certs; /* contexts by host name; counted over threads */

enum {
    TLS_IN = 16 * 1024 + 512, TLS_TEXT = 160,
    TLS_OUT = 72 * 1024, /* shared: what is encrypted at once, and room for heads of records */
    TLS_TALK = TLS_QUIET,
};

enum tls_step { TLS_DONE, TLS_WANTS_INPUT, TLS_FAILED };

struct tls_core {
    SSL *ssl;                    /* or, once hands are shaken, */
    struct tls_records *records; /* in its place: see tls_take.h */
    struct tls_secrets *secrets; /* until then; NULL: the library keeps this connection */
    struct tls_certs *certs; /* of a server; a reference */
    struct io *below;
    uint8_t *in, *out;       /* NULL between uses */
    size_t in_at, in_end;
    size_t out_at, out_end, out_cap;
    uint8_t *plain;          /* of records: data in `in` that was not read yet */
    size_t plain_size;
    bool out_shared;         /* out is that of the thread, see tls_core_share_out() */
    err_t err;               /* of `below`, found in the middle of a step */
    unsigned talk;           /* messages of the protocol itself since the last byte of data */
    enum tls_step step;      /* of the handshake, as it ended */
    char text[TLS_TEXT];     /* why it failed */
};

/* The errors of a step are texts: it may run where no err_t can be made. */
struct tls_core *tls_core_new(SSL_CTX *ctx, struct tls_certs *certs, bool server);
void tls_core_free(void *core); /* frees what it has, not `below` */
/* One step of the handshake: sets step and, when it failed, text. Any thread. */
void tls_core_shake(void *core);
/* Once hands are shaken: a peer that goes on with it (new keys, another hello) is cut off after
 * some messages, by c->err. */
void tls_core_watch(struct tls_core *c);
/* What the library says of the last call that failed; "" if it says nothing. */
void tls_core_why(struct tls_core *c, int rc);

/* What is written from here on goes to memory that all connections of the thread share: it stays in
 * the caches of the processor. Nobody may yield before tls_core_own_out(). */
void tls_core_share_out(struct tls_core *c);
/* What was not sent moves to memory of its own. False: there is none. */
bool tls_core_own_out(struct tls_core *c);
/* Room for `need` bytes behind out_end; NULL: there is no memory. */
uint8_t *tls_core_out_room(struct tls_core *c, size_t need);
/* So many bytes of it were sent. */
void tls_core_sent(struct tls_core *c, size_t n);

/* Room behind in_end. Without any, *size is 0; NULL: there is no memory. */
uint8_t *tls_core_room(struct tls_core *c, size_t *size);

/* ---- certificates */

/* Read PEM files into contexts. Any thread, blocks. NULL: `text` says why. */
struct tls_certs *tls_certs_load(const char *const *names, const char *const *certs,
                                 const char *const *keys, size_t n,
                                 const struct io_tls_rules *rules, char text[TLS_TEXT]);
struct tls_certs *tls_certs_ref(struct tls_certs *t);
struct tls_certs *tls_certs_unref(struct tls_certs *t); /* any thread; always NULL */
SSL_CTX *tls_certs_first(struct tls_certs *t);
X509 *tls_certs_x509(const struct tls_certs *t, size_t i); /* lives as long as t */
/* What it says of itself. */
void tls_about(const X509 *x, struct io_tls_about *out);
bool tls_certs_slow(const struct tls_certs *t); /* one of the keys takes long to sign with */
/* A context for clients. Any thread, blocks. NULL: `text` says why. */
SSL_CTX *tls_client_context(bool any, const char *ca, char text[TLS_TEXT]);
/* What the library has to say, cut to the size of text, behind `what`. */
void tls_text(char text[TLS_TEXT], const char *what);

#endif
