/* SPDX-License-Identifier: MIT */
/* io_tls.h - struct io over TLS 1.2 and 1.3, on top of another pipe.
 *
 * Records are encrypted into memory and sent by one write, however many they are. The handshake's
 * steps with an RSA key run on helper threads: one of 4096 bits would hold the coroutines for 3 ms.
 * With an ECDSA key (0.02 ms) they run in place. Memory of records is given back between uses.
 */
#ifndef CO_NET_IO_TLS_H
#define CO_NET_IO_TLS_H

#include "co/net/io.h"

#include <stddef.h>

/* One certificate: PEM files of its chain and its key, and the host name that clients ask for
 * (SNI): "a.b", "*.b" for one level below, "" for all others. The first one is the default. */
struct io_tls_cert {
    const char *name, *cert, *key;
};

/* How hands are shaken. Clients of TLS 1.3 get AES-128-GCM if they have it. */
struct io_tls_rules {
    bool v12, v13;       /* versions that are spoken */
    const char *ciphers; /* of TLS 1.2, as OpenSSL writes them; ours are preferred in this order */
    bool tickets;        /* clients get one to shake hands for less the next time; librtmp takes
                          * it for an error */
    bool library_records; /* OpenSSL also makes the records of TLS 1.3: more CPU and memory */
};

/* Certificates that may change while connections run. Connections of all threads may share one, and
 * so the keys of its tickets; it is counted over threads. */
struct io_tls_server;

/* Read the certificates, on a helper thread. ERR_TLS: a file cannot be read, key and certificate do
 * not belong together, or a cipher is none; the text says which and why. Yields. */
err_t io_tls_server_new(struct io_tls_server **out, const struct io_tls_cert *certs, size_t n,
                        const struct io_tls_rules *rules) __attribute__((warn_unused_result));
/* Is each of these ciphers one that OpenSSL has? ERR_TLS. Does not yield. */
err_t io_tls_check_ciphers(const char *ciphers) __attribute__((warn_unused_result));
/* Read the same files again if one of them changed; *changed tells. On error what was read before
 * stays, and the same files are not tried again until they change. One coroutine at a time, of one
 * thread; all get what it read. Yields. */
err_t io_tls_server_refresh(struct io_tls_server *s, bool *changed)
    __attribute__((warn_unused_result));
struct io_tls_server *io_tls_server_ref(struct io_tls_server *s); /* any thread, as unref */
struct io_tls_server *io_tls_server_unref(struct io_tls_server *s); /* always NULL; NULL is fine */

/* A certificate that clients are shown now. */
struct io_tls_about {
    const char *name, *file;        /* as in struct io_tls_cert; the server's */
    char subject[160], issuer[160]; /* "CN=a.b,O=c" */
    char names[512];                /* "a.b *.b 10.0.0.1": what it is for, as many as fit */
    int64_t not_before, not_after;  /* seconds since 1970 */
    int64_t loaded_at;              /* milliseconds since 1970 */
    /* Why the files as they are now were not taken; "": they were. The server's. Unlike the rest
     * for the thread alone that refreshes. */
    const char *error;
};
/* The one of that number; false: there are fewer. Does not yield, and reads no file. */
bool io_tls_server_about(struct io_tls_server *s, size_t i, struct io_tls_about *out);

/* Whom a client trusts. */
struct io_tls_trust {
    bool any;       /* whoever answers */
    const char *ca; /* PEM file of authorities; "" or NULL: the system's */
};

/* Shake hands over *io, which becomes the TLS pipe on top of it (closing it closes both). On error
 * *io is as it was, the caller's. `timeout` is for all of it. ERR_TLS, and the errors of the pipe.
 * Both yield. */
err_t io_tls_accept(struct io **io, struct io_tls_server *s, co_usec timeout)
    __attribute__((warn_unused_result));
err_t io_tls_connect(struct io **io, const char *host, const struct io_tls_trust *trust,
                     co_usec timeout) __attribute__((warn_unused_result));

const char *io_tls_version(const struct io *io); /* "TLSv1.3"; of a TLS pipe */

#endif
