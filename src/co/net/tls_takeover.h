/* SPDX-License-Identifier: MIT */
/* tls_takeover.h - connections that leave the TLS library after the handshake; private to co/. */
#ifndef CO_NET_TLS_TAKEOVER_H
#define CO_NET_TLS_TAKEOVER_H

#include "co/net/tls_core.h"

/* Allows connections of this context to be taken over. */
void tls_takeover_set_up(SSL_CTX *ctx);
/* Records what this connection's handshake negotiates. Any thread, as for the functions below. */
void tls_takeover_begin(struct tls_core *c);
void tls_takeover_forget(struct tls_core *c);
/* Call after the handshake's last step, whose output starts at `from` in c->out. Frees the
 * library's state and continues with our own records, if all conditions for that are met. */
void tls_takeover_finish(struct tls_core *c, size_t from);

/* Calls for a connection that was taken over (c->records is set). Like those of struct io, over
 * c->below. */
err_t tls_own_read(struct tls_core *c, void *buf, size_t size, size_t *n);
bool  tls_own_buffered(const struct tls_core *c);
/* Encrypts up to `most` bytes from `from`. */
err_t tls_own_write(struct tls_core *c, struct tls_from *from, size_t most);
/* Sends close_notify, unless an alert was already the last record. */
void  tls_own_shutdown(struct tls_core *c);

#endif
