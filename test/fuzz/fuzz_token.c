/* SPDX-License-Identifier: MIT */
/* fuzz_token.c - any bytes as a token, any claims of a signed one, and files of keys.
 *
 * The first byte selects: the query of a url; header and claims of a JWT with a line feed
 * between, which are signed here, so that the claims are read; a JWKS file.
 */
#include "base/base64.h"
#include "proto/token/jwt.h"
#include "session/tokens.h"

#include <assert.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unknown to the fuzzer. */
static const char *const secrets[] = { "8c0e6f0e1c7b4ad0a5cf5d7e2ab9f013" };

static char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* No client is admitted without the secret. */
static void behind_a_url(const uint8_t *data, size_t size)
{
    const struct conf_list list = { secrets, 1 }, line = { (const char *const[]){ "*", "k" }, 2 };
    const struct conf_vhost vhost = {
        .name = "v",
        .security = { .enabled = true, .key = { &line, 1 },
                      .token = { .play = true, .secret = list, .jwt_secret = list, .jwks = "",
                                 .issuer = "", .audience = "" } },
    };
    struct session_env env = { .tokens = NULL };
    char *text = text_of(data, size), *bearer = strchr(text, '\n');
    const struct session_stream names = { .app = "live", .name = "s", .ip = "::1", .param = text };
    err_t err;

    if (bearer)
        *bearer++ = '\0';
    err = tokens_check(&env, &vhost, CONF_PLAY, &names, bearer, NULL);
    assert(err_code(err) == ERR_TOKEN);
    err_free(&err);
    err = tokens_check(&env, &vhost, CONF_PUBLISH, &names, bearer, NULL);
    assert(!err || (err_code(err) == ERR_TOKEN && strncmp(text, "?key=k&", 7) != 0));
    err_free(&err);
    free(text);
}

static size_t put_base64url(char *out, const uint8_t *p, size_t size)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint8_t *back = malloc(BASE64_ROOM(size * 4 / 3 + 4));
    size_t n = 0, got;

    for (size_t i = 0; i < size * 8; i += 6) {
        unsigned next = i / 8 + 1 < size ? p[i / 8 + 1] : 0;

        out[n++] = set[((unsigned)p[i / 8] << 8 | next) >> (10 - i % 8) & 63];
    }
    assert(back && base64url_decode(out, n, back, &got));
    assert(got == size && (size == 0 || memcmp(back, p, size) == 0));
    free(back);
    return n;
}

static void signed_jwt(const uint8_t *data, size_t size)
{
    const struct jwt_rules rules = { .secrets = secrets, .n_secrets = 1, .issuer = "",
                                     .audience = "" };
    const struct token_query ask = { .vhost = "v", .app = "live", .name = "s", .ip = "10.0.0.7",
                                   .now = 1000000 };
    const uint8_t *nl = size ? memchr(data, '\n', size) : NULL;
    size_t head = nl ? (size_t)(nl - data) : size, rest = nl ? size - head - 1 : 0, n;
    char *token = malloc(size * 2 + 64);
    uint8_t mac[32];
    err_t err;

    assert(token);
    n = put_base64url(token, data, head);
    token[n++] = '.';
    n += put_base64url(token + n, nl ? nl + 1 : data, rest);
    (void)HMAC(EVP_sha256(), secrets[0], 32, (const uint8_t *)token, n, mac, NULL);
    token[n++] = '.';
    n += put_base64url(token + n, mac, sizeof(mac));
    err = jwt_check(token, n, &rules, &ask);
    assert(!err || err_code(err) == ERR_TOKEN);
    assert(err || (memmem(data, head, "HS256", 5) && n <= TOKEN_MAX));
    err_free(&err);
    free(token);
}

static void keys(const uint8_t *data, size_t size)
{
    char why[JWK_WHY], *text = text_of(data, size);
    struct jwk_set *s = jwk_set_parse(text, size, why);

    assert(memchr(why, '\0', sizeof(why)));
    assert(s ? s->n > 0 && s->n <= JWK_KEYS && !s->left_out == !*why : *why);
    jwk_set_free(s);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const kinds[])(const uint8_t *data, size_t size) = { behind_a_url, signed_jwt,
                                                                       keys };

    if (size > 0)
        kinds[data[0] % 3](data + 1, size - 1);
    assert(err_live() == 0);
    return 0;
}
