/* SPDX-License-Identifier: MIT */
/* tls_peer.h - limits on the keys in peers' certificates, so that no peer decides how long we take
 * to check a signature. Any thread. */
#ifndef CO_NET_TLS_PEER_H
#define CO_NET_TLS_PEER_H

#include <openssl/types.h>
#include <stdbool.h>

enum { TLS_PEER_WHY = 80, TLS_PEER_CHAIN = 10 /* certificates that a server may send */ };

/* Accepts RSA of at most 4096 bits with a small exponent, ECDSA on a NIST curve, and Ed25519:
 * checking a signature takes at most 1.5 ms. Returns false for other keys; `why` names the key. */
bool tls_peer_key_is_fine(const X509 *certificate, char why[TLS_PEER_WHY]);
/* Makes clients of this context refuse servers whose certificates have other keys, before any
 * signature is checked. With `any` they trust every server; otherwise they also verify the chain as
 * usual. */
void tls_peer_set_up(SSL_CTX *ctx, bool any);

#endif
