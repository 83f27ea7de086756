/* SPDX-License-Identifier: MIT */
/* redirect.c - selects the servers that a client is redirected to. */
#include "serve/rtmfp/redirect.h"

#include "base/siphash.h"

#include <string.h>

static bool is_scheme_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '+' || c == '-' || c == '.';
}

/* Returns the size of "rtmfp://"; 0: not a URI with an authority (RFC 3986, section 3). */
static size_t scheme_of(struct rtmfp_bytes b)
{
    size_t n = 0;

    while (n < b.n && is_scheme_byte(b.p[n]))
        n++;
    return n > 0 && b.n - n >= 3 && memcmp(b.p + n, "://", 3) == 0 ? n + 3 : 0;
}

static size_t until(struct rtmfp_bytes b, size_t from)
{
    while (from < b.n && b.p[from] != '/' && b.p[from] != '?' && b.p[from] != '#')
        from++;
    return from;
}

struct rtmfp_bytes rtmfp_redirect_app(struct rtmfp_bytes named)
{
    size_t scheme = scheme_of(named), begin, end;

    if (scheme == 0)
        return named;
    begin = until(named, scheme);
    if (begin == named.n || named.p[begin] != '/')
        return rtmfp_bytes(named.p + begin, 0);
    begin++;
    end = until(named, begin);
    return rtmfp_bytes(named.p + begin, end - begin);
}

static struct rtmfp_address address_of(const struct udp_addr *a)
{
    return (struct rtmfp_address){ .origin = RTMFP_RELAY, .at = *a };
}

size_t rtmfp_redirect_all(const struct udp_addr *servers, size_t n,
                          struct rtmfp_address out[RTMFP_REDIRECTS_MAX])
{
    if (n > RTMFP_REDIRECTS_MAX)
        n = RTMFP_REDIRECTS_MAX;
    for (size_t i = 0; i < n; i++)
        out[i] = address_of(&servers[i]);
    return n;
}

/* Rendezvous hashing (highest random weight). The key is public: several redirectors must agree. */
static uint64_t weight(const struct udp_addr *server, struct rtmfp_bytes app)
{
    static const uint8_t key[SIPHASH_KEY];
    uint8_t port[2] = { (uint8_t)(server->port >> 8), (uint8_t)server->port };
    struct siphash h;

    siphash_begin(&h, key);
    siphash_more(&h, server->ip, sizeof(server->ip));
    siphash_more(&h, port, sizeof(port));
    siphash_more(&h, app.p, app.n);
    return siphash_end(&h);
}

size_t rtmfp_redirect_by_app(const struct udp_addr *servers, size_t n, struct rtmfp_bytes app,
                             struct rtmfp_address out[RTMFP_REDIRECTS_MAX])
{
    const struct udp_addr *best = NULL;
    uint64_t most = 0;

    if (n > RTMFP_REDIRECTS_MAX)
        n = RTMFP_REDIRECTS_MAX;
    for (size_t i = 0; i < n; i++) {
        uint64_t is = weight(&servers[i], app);

        if (!best || is > most) {
            best = &servers[i];
            most = is;
        }
    }
    if (!best)
        return 0;
    out[0] = address_of(best);
    return 1;
}
