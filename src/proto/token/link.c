/* SPDX-License-Identifier: MIT */
/* link.c - signed links that expire. */
#include "proto/token/link.h"

#include "base/base64.h"
#include "base/ip.h"
#include "base/must.h"
#include "base/text.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAC = 32, MAC_BASE64URL = 43, DIGITS = 12 };

/* ---- addresses */

bool token_same_ip(const char *a, const char *b)
{
    uint8_t x[IP_SIZE], y[IP_SIZE];

    return ip_parse(a, strlen(a), x) && ip_parse(b, strlen(b), y) &&
           memcmp(x, y, sizeof(x)) == 0;
}

/* ---- the signature */

static void make_mac(const struct token_link *link, const struct token_query *query, bool publish,
                     const char *secret, uint8_t mac[MAC])
{
    char *text = must_print("%s\n%s\n%s\n%s\n%s\n%s", publish ? "publish" : "play", query->vhost,
                            query->app, query->name, link->expires, text_or_empty(link->ip));

    must(HMAC(EVP_sha256(), secret, (int)strlen(secret), (const uint8_t *)text, strlen(text), mac,
              NULL));
    free(text);
}

void token_link_sign(const struct token_link *link, const struct token_query *query,
                     const char *secret, char hex[TOKEN_SIGN_HEX + 1])
{
    uint8_t mac[MAC];

    make_mac(link, query, query->publish, secret, mac);
    for (int i = 0; i < MAC; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", mac[i]);
}

static bool parse_sign(const char *sign, uint8_t mac[MAC])
{
    uint8_t bytes[BASE64_ROOM(MAC_BASE64URL)];
    size_t n = strlen(sign), size;

    if (n == MAC_BASE64URL && base64url_decode(sign, n, bytes, &size)) {
        memcpy(mac, bytes, MAC);
        return true;
    }
    for (size_t i = 0; n == TOKEN_SIGN_HEX && i < MAC; i++) {
        int byte = text_hex_byte(sign + 2 * i);

        if (byte < 0)
            return false;
        mac[i] = (uint8_t)byte;
    }
    return n == TOKEN_SIGN_HEX;
}

static bool is_signed(const struct token_link *link, const struct token_query *query, bool publish,
                      const uint8_t mac[MAC], const char *const *secrets, size_t n)
{
    bool found = false;

    for (size_t i = 0; i < n; i++) {
        uint8_t wanted[MAC];

        make_mac(link, query, publish, secrets[i], wanted);
        found |= CRYPTO_memcmp(mac, wanted, MAC) == 0;
    }
    return found;
}

/* ---- the link */

static bool parse_time(const char *text, int64_t *out)
{
    size_t n = strlen(text);

    if (n == 0 || n > DIGITS || strspn(text, "0123456789") != n)
        return false;
    *out = strtoll(text, NULL, 10);
    return true;
}

err_t token_link_check(const struct token_link *link, const struct token_query *query,
                       const char *const *secrets, size_t n)
{
    uint8_t mac[MAC];
    int64_t expires;

    if (!parse_time(link->expires, &expires))
        return err_new(ERR_TOKEN, "expires of the link is not a time in seconds");
    if (!parse_sign(link->sign, mac))
        return err_new(ERR_TOKEN, "sign of the link is not a signature of 64 hex digits");
    if (!is_signed(link, query, query->publish, mac, secrets, n)) {
        if (is_signed(link, query, !query->publish, mac, secrets, n))
            return err_new(ERR_TOKEN, "the link is to %s", query->publish ? "play" : "publish");
        return err_new(ERR_TOKEN, "wrong signature: the stream, vhost, time or secret differs");
    }
    if (query->now >= expires)
        return err_new(ERR_TOKEN, "the link expired %lld s ago", (long long)(query->now - expires));
    if (link->ip && !token_same_ip(link->ip, query->ip))
        return err_new(ERR_TOKEN, "the link is for another address");
    if (query->ends)
        *query->ends = expires;
    return NULL;
}
