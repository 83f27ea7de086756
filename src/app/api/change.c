/* SPDX-License-Identifier: MIT */
/* change.c - permissions of a request: change, read or none. */
#include "app/api/change.h"

#include "app/api/api.h"
#include "app/connection_reserve.h"
#include "conf/endpoint.h"
#include "proto/http/url.h"
#include "session/address_limits.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- pages */

/* Returns true if the origin ("https://name:port") is the host of the request. The scheme may
 * differ, because a proxy may terminate TLS. */
static bool is_origin_ours(const struct http_request *req, const char *origin)
{
    const char *at = strstr(origin, "://");
    char host[256];
    int port, usual, ours = req->host_port;

    if (!at || strlen(at + 3) >= sizeof(host) || !*req->host)
        return false; /* includes "null" */
    memcpy(host, at + 3, strlen(at + 3) + 1);
    port = http_url_host(host);
    usual = strncasecmp(origin, "https:", 6) == 0 ? 443 : 80;
    return strcasecmp(host, req->host) == 0 && (port ? port : usual) == (ours ? ours : usual);
}

/* For an image or a link to a host without HTTPS, browsers send no header about the page, but they
 * do send their User-Agent. */
static bool is_browser(const struct http_request *req)
{
    const char *agent = http_request_field(req, "User-Agent");

    return agent && strncmp(agent, "Mozilla/", 8) == 0 &&
           http_request_field(req, "Accept-Language");
}

enum api_origin api_change_origin(const struct http_request *req)
{
    const char *site = http_request_field(req, "Sec-Fetch-Site");
    const char *origin = http_request_field(req, "Origin");

    if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
        return API_ORIGIN_OTHER;
    if (origin && !is_origin_ours(req, origin))
        return API_ORIGIN_OTHER;
    if (site || origin)
        return API_ORIGIN_SAME;
    /* requests with other methods always have an Origin */
    if (req->verb <= HTTP_VERB_HEAD && is_browser(req))
        return API_ORIGIN_OTHER;
    return API_ORIGIN_NONE;
}

/* ---- addresses */

static bool is_loopback(const char *ip)
{
    uint8_t addr[16];
    bool v4;

    return conf_address_parse(ip, strlen(ip), addr, &v4) && connection_reserve_is_local(addr);
}

static bool is_private(const char *ip)
{
    uint8_t addr[16];
    bool v4;

    if (!conf_address_parse(ip, strlen(ip), addr, &v4))
        return false;
    if (v4 && addr[12] == 100 && addr[13] >> 6 == 1) /* RFC 6598: see change.h */
        return false;
    return address_is_private(addr);
}

bool api_change_may_read(const struct http_exchange *x)
{
    const struct conf_http_api *api = &x->conf->http_api;

    return api->open || api->public == CONF_PUBLIC_READ || is_private(x->ip);
}

/* An attacker's domain can resolve to this server (DNS rebinding), which makes the attacker's page
 * same-origin. IP addresses and "localhost" are safe. */
static bool is_host_safe(const char *host)
{
    static const char local[] = "localhost";
    size_t n = strlen(host), size = sizeof(local) - 1;
    uint8_t any[16];
    bool v4;

    if (conf_address_parse(host, n, any, &v4))
        return true;
    return n >= size && strcmp(host + n - size, local) == 0 &&
           (n == size || host[n - size - 1] == '.');
}

bool api_change_allowed(const struct http_exchange *x, bool trusted, enum api_denial *why)
{
    enum api_origin origin = api_change_origin(x->req);

    *why = API_DENIAL_PAGE;
    /* A page can send these methods to other sites without a preflight request, with a password
     * that the browser remembers. For other methods the page itself must know the password. */
    if (trusted)
        return origin != API_ORIGIN_OTHER ||
               (x->req->verb != HTTP_VERB_GET && x->req->verb != HTTP_VERB_HEAD &&
                x->req->verb != HTTP_VERB_POST);
    if (origin == API_ORIGIN_OTHER)
        return false;
    if (x->conf->http_api.open)
        return true;
    if (origin == API_ORIGIN_SAME && !is_host_safe(x->req->host))
        return false;
    *why = API_DENIAL_ADDRESS;
    return is_loopback(x->peer) && is_loopback(x->ip);
}

/* ---- refusals */

err_t api_refuse(struct http_exchange *x, int status, const char *why)
{
    char body[400];
    int n = snprintf(body, sizeof(body), "{\"code\":%d,\"error\":\"%s\"}\n", API_DENIED, why);

    http_response_add(x->resp, "Content-Type", "application/json");
    http_response_add(x->resp, "Cache-Control", "no-cache");
    return http_response_send(x->resp, status, body, (size_t)n);
}

err_t api_change_refuse(struct api_guard *g, struct http_exchange *x, enum api_denial why)
{
    static const char *const told[API_DENIALS] = {
        [API_DENIAL_ADDRESS] = "without a password only the server's own machine may do this: "
            "set http_api { auth { ... } } and send it, or http_api { open on; }",
        [API_DENIAL_PAGE] = "a page of another site may not do this: open the console at the "
            "address of the API, or set http_api { auth { ... } } and send the password",
    };
    api_guard_deny(g, why, co_clock(), "%s %.80s of %s is refused: %s", x->req->method,
                   x->req->path, x->ip, told[why]);
    return api_refuse(x, 403, told[why]);
}

/* Browsers show the body of a Bearer challenge. For Basic they would prompt for a password, and
 * none would be right. */
err_t api_change_refuse_public(struct api_guard *g, struct http_exchange *x)
{
    static const char told[] = "your address is public, and the API has no password: set "
        "http_api { auth { enabled on; username NAME; password SECRET; } } and send it, or "
        "http_api { public read; } to let all clients read";

    api_guard_deny(g, API_DENIAL_PUBLIC, co_clock(), "%s %.80s of %s is refused: %s",
                   x->req->method, x->req->path, x->ip, told);
    http_response_add(x->resp, "WWW-Authenticate", "Bearer");
    return api_refuse(x, 401, told);
}
