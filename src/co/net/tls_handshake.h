/* SPDX-License-Identifier: MIT */
/* tls_handshake.h - the parts of TLS that run on helper threads: handshakes and files; private to
 * co/. */
#ifndef CO_NET_TLS_HANDSHAKE_H
#define CO_NET_TLS_HANDSHAKE_H

#include "co/net/io_tls.h"
#include "co/net/tls_core.h"

/* Does the handshake over the pipe; `slow`: each step runs on a helper thread. On error *core is
 * NULL if a helper thread still uses it and will free it. Yields. */
err_t tls_handshake(struct io *below, struct tls_core **core, bool slow, co_usec timeout)
    __attribute__((warn_unused_result));

/* Returns a reference to the current certificates. Any thread. */
struct tls_certs *tls_server_certs(struct io_tls_server *s);

/* Creates a client's context on a helper thread; the caller frees it. Yields. */
err_t tls_client_get(SSL_CTX **out, bool any, const char *ca) __attribute__((warn_unused_result));

#endif
