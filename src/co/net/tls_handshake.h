/* SPDX-License-Identifier: MIT */
/* tls_handshake.h - what of TLS runs on helper threads: handshakes and files; for co/ alone. */
#ifndef CO_NET_TLS_HANDSHAKE_H
#define CO_NET_TLS_HANDSHAKE_H

#include "co/net/io_tls.h"
#include "co/net/tls_core.h"

/* Shake hands over the pipe; `slow`: each step on a helper thread. On an error *core is NULL when
 * a helper thread still has it and frees it. Yields. */
err_t tls_handshake(struct io *below, struct tls_core **core, bool slow, co_usec timeout)
    __attribute__((warn_unused_result));

/* The certificates in force: a reference. Any thread. */
struct tls_certs *tls_server_certs(struct io_tls_server *s);

/* A client's context, to be freed; made on a helper thread. Yields. */
err_t tls_client_get(SSL_CTX **out, bool any, const char *ca) __attribute__((warn_unused_result));

#endif
