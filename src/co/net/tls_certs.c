/* SPDX-License-Identifier: MIT */
/* tls_certs.c - a server's certificates by host name, and the authorities that a client trusts. */
#include "co/net/tls_core.h"

#include "base/must.h"
#include "co/net/tls_peer.h"
#include "co/net/tls_takeover.h"

#include <openssl/err.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the ciphers of TLS 1.2, by OpenSSL's names.
 *
 * OpenSSL silently ignores unknown names in a list, so a misspelt cipher would only be noticed when
 * a client cannot connect. So each name is checked separately.
 */

/* Separators that OpenSSL accepts. */
#define BETWEEN ":, "

/* Names to exclude need not be known: lists contain !MD5 long after its removal. */
static bool is_known(SSL_CTX *probe, const char *name)
{
    if (strchr("!-+", *name))
        return name[1] != '\0';
    return *name == '@' || SSL_CTX_set_cipher_list(probe, name) == 1;
}

static bool all_known(SSL_CTX *probe, const char *ciphers, char text[TLS_TEXT])
{
    for (const char *p = ciphers + strspn(ciphers, BETWEEN); *p; p += strspn(p, BETWEEN)) {
        size_t size = strcspn(p, BETWEEN);
        char name[128];

        (void)snprintf(name, sizeof(name), "%.*s", (int)size, p);
        if (size >= sizeof(name) || !is_known(probe, name)) {
            (void)snprintf(text, TLS_TEXT, "ssl_ciphers: \"%.60s\" is no cipher of TLS 1.2", name);
            return false;
        }
        p += size;
    }
    return true;
}

/* Sets the ciphers of TLS 1.2. Returns false on failure; `text` has the reason. Any thread. */
static bool set_ciphers(SSL_CTX *ctx, const char *ciphers, char text[TLS_TEXT])
{
    bool ok = all_known(ctx, ciphers, text);

    if (ok && SSL_CTX_set_cipher_list(ctx, ciphers) != 1) {
        (void)snprintf(text, TLS_TEXT, "ssl_ciphers: nothing is left of \"%.60s\"", ciphers);
        ok = false;
    }
    ERR_clear_error();
    return ok;
}

err_t io_tls_check_ciphers(const char *ciphers)
{
    SSL_CTX *ctx = must(SSL_CTX_new(TLS_server_method()));
    char text[TLS_TEXT];
    bool ok;

    ok = set_ciphers(ctx, ciphers, text);
    SSL_CTX_free(ctx);
    return ok ? NULL : err_new(ERR_TLS, "%s", text);
}

/* Immutable once loaded: connections on helper threads look up names in it. */
struct tls_certs {
    atomic_uint refs;
    size_t n;
    bool slow;
    struct {
        char *name;
        SSL_CTX *ctx;
    } v[];
};

static const unsigned char alpn[] = "\x08http/1.1";

struct tls_certs *tls_certs_ref(struct tls_certs *t)
{
    (void)atomic_fetch_add(&t->refs, 1);
    return t;
}

struct tls_certs *tls_certs_unref(struct tls_certs *t)
{
    if (!t || atomic_fetch_sub(&t->refs, 1) > 1)
        return NULL;
    for (size_t i = 0; i < t->n; i++) {
        SSL_CTX_free(t->v[i].ctx);
        free(t->v[i].name);
    }
    free(t);
    return NULL;
}

SSL_CTX *tls_certs_first(struct tls_certs *t)
{
    return t->v[0].ctx;
}

X509 *tls_certs_x509(const struct tls_certs *t, size_t i)
{
    return SSL_CTX_get0_certificate(t->v[i].ctx);
}

bool tls_certs_slow(const struct tls_certs *t)
{
    return t->slow;
}

/* RFC 6125 6.4.3: a star stands for one whole label. */
static bool is_for(const char *name, const char *host)
{
    const char *dot = strchr(host, '.');

    if (name[0] == '*' && name[1] == '.')
        return dot && strcasecmp(name + 1, dot) == 0;
    return strcasecmp(name, host) == 0;
}

/* Selects the certificate for the requested name; exact names win over names with a star. */
static int on_name(SSL *ssl, int *alert, void *arg)
{
    const struct tls_certs *t = arg;
    const char *host = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);

    (void)alert;
    for (int wildcard = 0; host && wildcard < 2; wildcard++) {
        for (size_t i = 0; i < t->n; i++) {
            if ((t->v[i].name[0] == '*') == wildcard && is_for(t->v[i].name, host)) {
                (void)SSL_set_SSL_CTX(ssl, t->v[i].ctx);
                return SSL_TLSEXT_ERR_OK;
            }
        }
    }
    return SSL_TLSEXT_ERR_NOACK;
}

static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_size,
                   const unsigned char *in, unsigned in_size, void *arg)
{
    unsigned char *chosen = NULL;

    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&chosen, out_size, alpn, sizeof(alpn) - 1, in, in_size) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK; /* an unknown protocol is no reason to refuse */
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static void set_up(SSL_CTX *ctx)
{
    (void)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    (void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                       SSL_OP_IGNORE_UNEXPECTED_EOF);
    (void)SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
}

/* Uses our order of preference, not the client's. */
static bool set_up_server(SSL_CTX *ctx, const struct io_tls_rules *rules, char text[TLS_TEXT])
{
    set_up(ctx);
    (void)SSL_CTX_set_options(ctx, SSL_OP_CIPHER_SERVER_PREFERENCE);
    (void)SSL_CTX_set_min_proto_version(ctx, rules->v12 ? TLS1_2_VERSION : TLS1_3_VERSION);
    (void)SSL_CTX_set_max_proto_version(ctx, rules->v13 ? TLS1_3_VERSION : TLS1_2_VERSION);
    (void)SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                        "TLS_CHACHA20_POLY1305_SHA256");
    (void)SSL_CTX_set_num_tickets(ctx, rules->tickets);
    if (!rules->tickets)
        (void)SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_alpn_select_cb(ctx, on_alpn, NULL);
    if (!rules->library_records)
        tls_takeover_set_up(ctx);
    return set_ciphers(ctx, rules->ciphers, text);
}

/* Checks whether signing is fast: P-256 and Ed25519 take 0.05 ms; RSA and other curves take a
 * millisecond. */
static bool signs_fast(const EVP_PKEY *key)
{
    char curve[32] = "";

    (void)EVP_PKEY_get_group_name(key, curve, sizeof(curve), NULL);
    return EVP_PKEY_is_a(key, "ED25519") || strcmp(curve, "prime256v1") == 0;
}

/* Sets the groups from which the client chooses. P-384 takes 2.5 ms, too long in place, and FFDHE,
 * an OpenSSL default, is too slow even on helper threads. */
static void set_groups(SSL_CTX *ctx, bool fast, bool *slow)
{
    must_be(SSL_CTX_set1_groups_list(ctx, fast ? "X25519:P-256" : "X25519:P-256:P-384") == 1);
    *slow |= !fast;
}

/* Returns NULL on failure, with the reason in text. */
static SSL_CTX *load_one(const char *cert, const char *key, const struct io_tls_rules *rules,
                         bool *slow, char text[TLS_TEXT])
{
    SSL_CTX *ctx = must(SSL_CTX_new(TLS_server_method()));
    char what[100];

    ERR_clear_error();
    if (!set_up_server(ctx, rules, text)) {
        SSL_CTX_free(ctx);
        return NULL;
    }
    if (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1) {
        (void)snprintf(what, sizeof(what), "certificate %.80s", cert);
    } else if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1) {
        (void)snprintf(what, sizeof(what), "key %.80s", key);
    } else if (SSL_CTX_check_private_key(ctx) != 1) {
        (void)snprintf(what, sizeof(what), "key %.60s is of another certificate", key);
    } else {
        set_groups(ctx, signs_fast(SSL_CTX_get0_privatekey(ctx)), slow);
        return ctx;
    }
    tls_text(text, what);
    SSL_CTX_free(ctx);
    return NULL;
}

struct tls_certs *tls_certs_load(const char *const *names, const char *const *certs,
                                 const char *const *keys, size_t n,
                                 const struct io_tls_rules *rules, char text[TLS_TEXT])
{
    struct tls_certs *t = must(calloc(1, sizeof(*t) + n * sizeof(t->v[0])));

    atomic_init(&t->refs, 1);
    for (size_t i = 0; i < n; i++) {
        t->v[i].ctx = load_one(certs[i], keys[i], rules, &t->slow, text);
        if (!t->v[i].ctx)
            return tls_certs_unref(t);
        t->v[i].name = must_dup(names[i]);
        t->n++;
    }
    /* `t` outlives every connection that has it as argument: each holds a reference. */
    (void)SSL_CTX_set_tlsext_servername_callback(t->v[0].ctx, on_name);
    (void)SSL_CTX_set_tlsext_servername_arg(t->v[0].ctx, t);
    return t;
}

SSL_CTX *tls_client_context(bool any, const char *ca, char text[TLS_TEXT])
{
    SSL_CTX *ctx = must(SSL_CTX_new(TLS_client_method()));
    int ok = 1;

    ERR_clear_error();
    set_up(ctx);
    tls_peer_set_up(ctx, any);
    if (!any) {
        ok = ca && *ca ? SSL_CTX_load_verify_file(ctx, ca)
                       : SSL_CTX_set_default_verify_paths(ctx);
    }
    if (ok == 1)
        return ctx;
    tls_text(text, ca && *ca ? ca : "the system's certificates");
    SSL_CTX_free(ctx);
    return NULL;
}
