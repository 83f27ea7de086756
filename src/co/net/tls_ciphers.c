/* SPDX-License-Identifier: MIT */
/* tls_ciphers.c - the ciphers of TLS 1.2, by the names that OpenSSL has for them.
 *
 * OpenSSL takes a list with names that it does not know and leaves them out in silence: a misspelt
 * cipher is then missed when a client cannot connect. So each name is looked at by itself.
 */
#include "co/net/tls_core.h"

#include "base/must.h"

#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What OpenSSL takes between two. */
#define BETWEEN ":, "

/* What is to be left out need not be there: lists say !MD5 long after it has gone. */
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

bool tls_ciphers_set(SSL_CTX *ctx, const char *ciphers, char text[TLS_TEXT])
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

    ok = tls_ciphers_set(ctx, ciphers, text);
    SSL_CTX_free(ctx);
    return ok ? NULL : err_new(ERR_TLS, "%s", text);
}
