/* SPDX-License-Identifier: MIT */
/* identity.c - our certificate, and the context shared by all connections: RFC 5763, RFC 8827. */
#include "proto/dtls/own.h"

#include "base/must.h"

#include <assert.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { DAY = 86400, LIFE = 365 * DAY, RENEW = 30 * DAY /* before it expires */, RSA_BITS = 2048 };

#define CIPHERS "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:" \
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:" \
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:" \
    "ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA"
/* DTLS 1.0 uses signatures with MD5 and SHA-1. */
#define CIPHERS_OLD CIPHERS ":@SECLEVEL=0"

struct dtls_identity {
    atomic_uint refs;
    SSL_CTX *context;
    BIO_METHOD *bio;
    int64_t ends;
    char fingerprint[DTLS_FINGERPRINT_TEXT];
};

SSL_CTX *dtls_identity_context(struct dtls_identity *id)
{
    return id->context;
}

const BIO_METHOD *dtls_identity_bio(const struct dtls_identity *id)
{
    return id->bio;
}

const char *dtls_identity_fingerprint(const struct dtls_identity *id)
{
    return id->fingerprint;
}

int64_t dtls_identity_ends(const struct dtls_identity *id)
{
    return id->ends;
}

/* Creates a self-signed certificate that does not identify its owner. */
static X509 *certificate(EVP_PKEY *key)
{
    X509 *x = must(X509_new());
    X509_NAME *name = X509_get_subject_name(x);
    uint64_t serial;
    bool done;

    done = RAND_bytes((uint8_t *)&serial, sizeof(serial)) == 1 && X509_set_version(x, 2) == 1 &&
           ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial >> 1 | 1) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(x), -DAY) && /* tolerance for clocks that differ */
           X509_gmtime_adj(X509_getm_notAfter(x), LIFE) && X509_set_pubkey(x, key) == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"WebRTC", -1, -1,
                                      0) == 1 &&
           X509_set_issuer_name(x, name) == 1 && X509_sign(x, key, EVP_sha256()) > 0;
    if (done)
        return x;
    X509_free(x);
    return NULL;
}

/* Replaces the verification of issuers and dates, which mean nothing here: checks that the
 * certificate is the one in the peer's description. (The rest of the handshake proves that the peer
 * has its key.) */
static int on_certificate(X509_STORE_CTX *store, void *arg)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    bool same = dtls_is_peer(ssl, X509_STORE_CTX_get0_cert(store));

    (void)arg;
    X509_STORE_CTX_set_error(store, same ? X509_V_OK : X509_V_ERR_CERT_REJECTED);
    return same;
}

static bool set_up(SSL_CTX *ctx, const struct dtls_identity_opts *o)
{
    SSL_CTX_set_options(ctx, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                                 SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_cert_list(ctx, DTLS_CHAIN_MAX);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(ctx, on_certificate, NULL);
    /* GCM first: it costs half. As a server, OpenSSL takes the first of our ciphers that the peer
     * supports. The groups include those of peers' certificates: FFmpeg with GnuTLS uses P-224. */
    return SSL_CTX_set_min_proto_version(ctx, o->dtls1_0 ? DTLS1_VERSION : DTLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(ctx, DTLS1_2_VERSION) == 1 &&
           SSL_CTX_set_cipher_list(ctx, o->dtls1_0 ? CIPHERS_OLD : CIPHERS) == 1 &&
           SSL_CTX_set1_groups_list(ctx, "X25519:P-256:P-384:P-521:P-224") == 1 &&
           SSL_CTX_set_tlsext_use_srtp(ctx, "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80") == 0;
}

static bool make(struct dtls_identity *id, const struct dtls_identity_opts *o)
{
    EVP_PKEY *key = o->rsa ? EVP_RSA_gen(RSA_BITS) : EVP_EC_gen("P-256");
    X509 *x = key ? certificate(key) : NULL;
    bool done;

    id->ends = (int64_t)time(NULL) + LIFE - RENEW;
    done = x && (id->context = SSL_CTX_new(DTLS_method())) && set_up(id->context, o) &&
           SSL_CTX_use_certificate(id->context, x) == 1 &&
           SSL_CTX_use_PrivateKey(id->context, key) == 1 &&
           dtls_fingerprint_text(x, id->fingerprint);
    X509_free(x);
    EVP_PKEY_free(key);
    return done;
}

struct dtls_identity *dtls_identity_make(const struct dtls_identity_opts *opts,
                                         char why[DTLS_IDENTITY_WHY])
{
    struct dtls_identity *id = must(calloc(1, sizeof(*id)));

    atomic_init(&id->refs, 1);
    id->bio = dtls_datagrams_method();
    ERR_clear_error();
    if (make(id, opts))
        return id;
    ERR_error_string_n(ERR_peek_error(), why, DTLS_IDENTITY_WHY);
    dtls_identity_unref(id);
    return NULL;
}

err_t dtls_identity_new(struct dtls_identity **out, const struct dtls_identity_opts *opts)
{
    char why[DTLS_IDENTITY_WHY];

    *out = dtls_identity_make(opts, why);
    return *out ? NULL : err_new(ERR_RTC_DTLS, "creating our certificate: %s", why);
}

struct dtls_identity *dtls_identity_ref(struct dtls_identity *id)
{
    atomic_fetch_add(&id->refs, 1);
    return id;
}

void dtls_identity_unref(struct dtls_identity *id)
{
    if (!id || atomic_fetch_sub(&id->refs, 1) != 1)
        return;
    SSL_CTX_free(id->context);
    BIO_meth_free(id->bio);
    free(id);
}
