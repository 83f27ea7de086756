/* SPDX-License-Identifier: MIT */
/* change.c - may this request change something, or only look, or not even that? */
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

/* "https://name:port" is what the request was sent to. The scheme may differ: a proxy in front may
 * have ended TLS. */
static bool is_origin_ours(const struct http_request *req, const char *origin)
{
    const char *at = strstr(origin, "://");
    char host[256];
    int port, usual, ours = req->host_port;

    if (!at || strlen(at + 3) >= sizeof(host) || !*req->host)
        return false; /* "null", too */
    memcpy(host, at + 3, strlen(at + 3) + 1);
    port = http_url_host(host);
    usual = strncasecmp(origin, "https:", 6) == 0 ? 443 : 80;
    return strcasecmp(host, req->host) == 0 && (port ? port : usual) == (ours ? ours : usual);
}

/* To what is no https and not this machine, browsers tell nothing of the page when they fetch an
 * image or follow a link; but they tell what they are. */
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
    /* all but these bring an Origin */
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

bool api_change_may_look(const struct http_exchange *x)
{
    const struct conf_http_api *api = &x->conf->http_api;

    return api->open || api->public == CONF_PUBLIC_READ || is_private(x->ip);
}

/* A name of somebody else can lead here (DNS rebinding), and his page is then of the same origin;
 * an address cannot, nor a name that every machine has for itself. */
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
    /* What a page may send elsewhere without asking before can bear a password that the browser
     * remembers; for the other methods the page itself must know it. */
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

/* ---- no */

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
        [API_DENIAL_ADDRESS] = "without a password this is taken from the server's own machine "
            "alone: set http_api { auth { ... } } and send it, or http_api { open on; }",
        [API_DENIAL_PAGE] = "a page of another site may not: open the console by the address of "
            "the API, or set http_api { auth { ... } } and send the password",
    };
    api_guard_deny(g, why, co_clock(), "%s %.80s of %s is refused: %s", x->req->method,
                   x->req->path, x->ip, told[why]);
    return api_refuse(x, 403, told[why]);
}

/* Browsers show the body of a challenge for Bearer; for Basic they would ask for a password, and
 * none is right. */
err_t api_change_refuse_public(struct api_guard *g, struct http_exchange *x)
{
    static const char told[] = "your address is public, and the API has no password: set "
        "http_api { auth { enabled on; username NAME; password SECRET; } } and send it, or "
        "http_api { public read; } to let everybody read";

    api_guard_deny(g, API_DENIAL_PUBLIC, co_clock(), "%s %.80s of %s is refused: %s",
                   x->req->method, x->req->path, x->ip, told);
    http_response_add(x->resp, "WWW-Authenticate", "Bearer");
    return api_refuse(x, 401, told);
}
