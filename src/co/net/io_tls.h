/* SPDX-License-Identifier: MIT */
/* io_tls.h - struct io over TLS 1.2 and 1.3, on top of another pipe.
 *
 * Records are encrypted into memory and sent with one write, regardless of their number. Handshake
 * steps with an RSA key run on helper threads: a key of 4096 bits would block the coroutines for 3
 * ms. With an ECDSA key (0.02 ms) they run in place. The memory of records is freed between uses.
 */
#ifndef CO_NET_IO_TLS_H
#define CO_NET_IO_TLS_H

#include "co/net/io.h"

#include <stddef.h>

/* One certificate: PEM files of its chain and its key, and the host name that clients request
 * (SNI): "a.b", "*.b" for one level below, "" for all others. The first one is the default. */
struct io_tls_cert {
    const char *name, *cert, *key;
};

/* Handshake parameters. Clients of TLS 1.3 get AES-128-GCM if they support it. */
struct io_tls_rules {
    bool v12, v13;       /* protocol versions to accept */
    const char *ciphers; /* ciphers of TLS 1.2 in OpenSSL's notation, most preferred first */
    /* send session tickets, for cheaper handshakes later; librtmp treats a ticket as an error */
    bool tickets;
    bool library_records; /* OpenSSL also writes the records of TLS 1.3: more CPU and memory */
};

/* Certificates that may change while connections run. Connections of all threads may share one
 * server, and thus its ticket keys; the reference count is atomic. */
struct io_tls_server;

/* Reads the certificates on a helper thread. ERR_TLS: a file cannot be read, key and certificate do
 * not match, or a cipher is unknown; the text says which and why. Yields. */
err_t io_tls_server_new(struct io_tls_server **out, const struct io_tls_cert *certs, size_t n,
                        const struct io_tls_rules *rules) __attribute__((warn_unused_result));
/* Checks that OpenSSL knows each of these ciphers. ERR_TLS if not. Does not yield. */
err_t io_tls_check_ciphers(const char *ciphers) __attribute__((warn_unused_result));
/* Reads the files again if one of them changed; sets *changed. On error the old certificates stay,
 * and the files are not read again until they change. One coroutine of one thread at a time; all
 * threads get the new certificates. Yields. */
err_t io_tls_server_refresh(struct io_tls_server *s, bool *changed)
    __attribute__((warn_unused_result));
struct io_tls_server *io_tls_server_ref(struct io_tls_server *s); /* any thread, as unref */
struct io_tls_server *io_tls_server_unref(struct io_tls_server *s); /* always NULL; NULL is fine */

/* Description of a certificate that clients get now. */
struct io_tls_about {
    const char *name, *file;        /* as in struct io_tls_cert; owned by the server */
    char subject[160], issuer[160]; /* "CN=a.b,O=c" */
    char names[512];                /* "a.b *.b 10.0.0.1": its names, as many as fit */
    int64_t not_before, not_after;  /* seconds since 1970 */
    int64_t loaded_at;              /* milliseconds since 1970 */
    /* Why the current files were rejected; "": they were accepted. Owned by the server. Unlike the
     * other fields, valid only on the thread that refreshes. */
    const char *error;
};
/* Describes certificate i; returns false if there are fewer. Does not yield, and reads no file. */
bool io_tls_server_about(struct io_tls_server *s, size_t i, struct io_tls_about *out);

/* Which servers a client trusts. */
struct io_tls_trust {
    bool any;       /* any server */
    const char *ca; /* PEM file of certificate authorities; "" or NULL: the system's */
};

/* Does a handshake over *io, which becomes the TLS pipe on top of it (closing it closes both). On
 * error *io is unchanged and still the caller's. `timeout` covers the whole handshake. ERR_TLS, and
 * the errors of the pipe. Both yield. */
err_t io_tls_accept(struct io **io, struct io_tls_server *s, co_usec timeout)
    __attribute__((warn_unused_result));
err_t io_tls_connect(struct io **io, const char *host, const struct io_tls_trust *trust,
                     co_usec timeout) __attribute__((warn_unused_result));

const char *io_tls_version(const struct io *io); /* "TLSv1.3"; io must be a TLS pipe */

#endif
