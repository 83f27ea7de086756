/* SPDX-License-Identifier: MIT */
/* tls_peer.c - limits on the keys in peers' certificates.
 *
 * OpenSSL accepts RSA keys of up to 16384 bits, and below 3072 bits exponents as long as the key:
 * checking one signature costs up to 20 ms, and a chain has many.
 */
#include "co/net/tls_peer.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

enum { RSA_BITS = 4096, EXPONENT_BITS = 32, NAME = 32 };

static bool is_small_rsa(const EVP_PKEY *key, char why[TLS_PEER_WHY])
{
    int bits = EVP_PKEY_get_bits(key), exponent = 0;
    BIGNUM *e = NULL;

    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &e) == 1)
        exponent = BN_num_bits(e);
    BN_free(e);
    (void)snprintf(why, TLS_PEER_WHY, "an RSA key of %d bits, exponent of %d; at most %d and %d",
                   bits, exponent, RSA_BITS, EXPONENT_BITS);
    return bits <= RSA_BITS && exponent > 0 && exponent <= EXPONENT_BITS;
}

/* FFmpeg with GnuTLS uses P-224. A curve with explicit parameters has no name unless it equals one
 * of these. */
static bool is_known_curve(const EVP_PKEY *key, char why[TLS_PEER_WHY])
{
    static const char *const curves[] = { "prime256v1", "secp384r1", "secp521r1", "secp224r1" };
    char name[NAME] = "";

    (void)EVP_PKEY_get_group_name(key, name, sizeof(name), NULL);
    for (size_t i = 0; i < sizeof(curves) / sizeof(curves[0]); i++) {
        if (strcmp(name, curves[i]) == 0)
            return true;
    }
    (void)snprintf(why, TLS_PEER_WHY, "a key on the curve \"%.31s\"; use P-256 or P-384", name);
    return false;
}

bool tls_peer_key_is_fine(const X509 *certificate, char why[TLS_PEER_WHY])
{
    const EVP_PKEY *key = X509_get0_pubkey(certificate);

    why[0] = '\0';
    if (key && (EVP_PKEY_is_a(key, "RSA") || EVP_PKEY_is_a(key, "RSA-PSS")))
        return is_small_rsa(key, why);
    if (key && EVP_PKEY_is_a(key, "EC"))
        return is_known_curve(key, why);
    if (key && EVP_PKEY_is_a(key, "ED25519"))
        return true;
    (void)snprintf(why, TLS_PEER_WHY, "a key that is neither RSA nor ECDSA nor Ed25519");
    return false;
}

/* ---- a server's chain */

static bool are_fine(const STACK_OF(X509) *chain)
{
    char why[TLS_PEER_WHY];
    int n = sk_X509_num(chain);

    for (int i = 0; i < n; i++) {
        if (i == TLS_PEER_CHAIN || !tls_peer_key_is_fine(sk_X509_value(chain, i), why))
            return false;
    }
    return true;
}

/* `any`: not NULL if every server is trusted. */
static int on_chain(X509_STORE_CTX *store, void *any)
{
    if (!are_fine(X509_STORE_CTX_get0_untrusted(store))) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
        return 0;
    }
    if (!any)
        return X509_verify_cert(store);
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
}

void tls_peer_set_up(SSL_CTX *ctx, bool any)
{
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(ctx, on_chain, any ? ctx : NULL);
}
