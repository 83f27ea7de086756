/* SPDX-License-Identifier: MIT */
/* tls_peer.h - which keys peers may have in their certificates, so that nobody decides how long it
 * takes us to check a signature. Any thread.
 */
#ifndef CO_NET_TLS_PEER_H
#define CO_NET_TLS_PEER_H

#include <openssl/types.h>
#include <stdbool.h>

enum { TLS_PEER_WHY = 80, TLS_PEER_CHAIN = 10 /* certificates that a server may send */ };

/* RSA of at most 4096 bits with a small exponent, ECDSA on a curve of NIST, Ed25519: a signature is
 * checked in 1.5 ms at most. False: it is another key, `why` says which. */
bool tls_peer_key_is_fine(const X509 *certificate, char why[TLS_PEER_WHY]);
/* A client of that context refuses servers whose certificates have other keys, before it checks any
 * signature. `any`: beside that it trusts whoever answers; else it verifies the chain as usual. */
void tls_peer_set_up(SSL_CTX *ctx, bool any);

#endif
