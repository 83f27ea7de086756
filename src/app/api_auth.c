/* SPDX-License-Identifier: MIT */
/* api_auth.c - who may use the API: RFC 7617. */
#include "app/api_auth.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { TOKEN_MAX = 1024 };

/* The time it takes tells nothing of the secret but its size. */
static bool is_same(const char *a, const char *b)
{
    size_t n = strlen(b);

    return strlen(a) == n && CRYPTO_memcmp(a, b, n) == 0;
}

bool api_auth_is(const char *value, const char *username, const char *password)
{
    unsigned char plain[TOKEN_MAX + 4];
    char wanted[TOKEN_MAX];
    size_t n;
    int got;

    if (!value || strncasecmp(value, "Basic ", 6) != 0)
        return false;
    value += 6 + strspn(value + 6, " ");
    n = strlen(value);
    if (n == 0 || n > TOKEN_MAX || n % 4 != 0)
        return false;
    got = EVP_DecodeBlock(plain, (const unsigned char *)value, (int)n);
    if (got < 0)
        return false;
    for (size_t i = n; i > 0 && value[i - 1] == '='; i--)
        got--;
    if (got < 0 || memchr(plain, '\0', (size_t)got))
        return false;
    plain[got] = '\0';
    (void)snprintf(wanted, sizeof(wanted), "%s:%s", username, password);
    return is_same((const char *)plain, wanted);
}

bool api_auth_proved(const struct http_exchange *x)
{
    const struct conf_auth *auth = &x->conf->http_api.auth;

    return auth->enabled && api_auth_is(http_request_field(x->req, "Authorization"),
                                        auth->username, auth->password);
}

bool api_auth_allows(const struct http_exchange *x)
{
    return !x->conf->http_api.auth.enabled || !(x->ports & HTTP_PORT_API) || api_auth_proved(x);
}

err_t api_auth_refuse(struct http_exchange *x)
{
    http_response_add(x->resp, "WWW-Authenticate", "Basic realm=\"srs\", charset=\"UTF-8\"");
    return http_response_status(x->resp, 401);
}
