/* SPDX-License-Identifier: MIT */
/* tls_takeover.h - connections that leave the library once hands are shaken; for co/ alone. */
#ifndef CO_NET_TLS_TAKEOVER_H
#define CO_NET_TLS_TAKEOVER_H

#include "co/net/tls_core.h"

/* Clients of this context may be taken over. */
void tls_takeover_set_up(SSL_CTX *ctx);
/* Remember what this connection's handshake agrees on. Any thread, as those below. */
void tls_takeover_begin(struct tls_core *c);
void tls_takeover_forget(struct tls_core *c);
/* After the handshake's last step, which wrote what is in c->out from there on: free the library's
 * state and go on with records of our own, if all is as it should be for that. */
void tls_takeover_finish(struct tls_core *c, size_t from);

/* Such a connection (c->records is there). As the calls of struct io, over c->below. */
err_t tls_own_read(struct tls_core *c, void *buf, size_t size, size_t *n);
bool  tls_own_buffered(const struct tls_core *c);
/* Encrypt up to `most` bytes from there. */
err_t tls_own_write(struct tls_core *c, struct tls_from *from, size_t most);
/* Say good bye, unless an alert was the last word. */
void  tls_own_shutdown(struct tls_core *c);

#endif
