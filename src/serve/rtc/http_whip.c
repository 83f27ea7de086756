/* SPDX-License-Identifier: MIT */
/* http_whip.c - WHIP (RFC 9725) and the WHEP draft: POST an offer, PATCH candidates or a restart,
 * DELETE the session; and our own GET of a session's status. */
#include "base/must.h"
#include "base/text.h"
#include "serve/rtc/http_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { INVALID_SDP = 5043, DECODE = 5012 };
#define SDP "application/sdp"
#define FRAGMENT "application/trickle-ice-sdpfrag"

/* ---- answers */

/* Sends "5018: RtcSdpNegotiate" and details on the next line. */
static err_t send_refusal(struct http_exchange *x, const struct rtc_request *req)
{
    const char *text = text_or_empty(req->text);
    char *body;
    err_t err;

    if (req->code_name)
        body = must_print("%d: %s\n%s%s", req->code, req->code_name, text, *text ? "\n" : "");
    else
        body = must_print("%s%s", text, *text ? "\n" : "");
    if (req->status == 503)
        http_response_add(x->resp, "Retry-After", "5");
    http_response_add(x->resp, "Content-Type", "text/plain; charset=utf-8");
    err = http_response_send(x->resp, req->status, body, strlen(body));
    free(body);
    return err;
}

/* Writes text for a query, percent-encoded (RFC 3986). */
static void put_escaped(struct wr *w, const char *text)
{
    static const char plain[] = "-._~:/";

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            strchr(plain, c))
            wr_u8(w, c);
        else
            wr_printf(w, "%%%02X", c);
    }
}

static void add_location(struct http_exchange *x, const struct rtc_request *req)
{
    const struct { const char *key, *value; } pairs[] = {
        { "&token=", req->token }, { "&app=", req->app }, { "&stream=", req->stream },
        { "&session=", req->session },
    };
    struct wr w;

    wr_init(&w, 16 * 1024);
    wr_text(&w, "/rtc/v1/whip/?action=delete");
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        wr_text(&w, pairs[i].key);
        put_escaped(&w, pairs[i].value);
    }
    if (!w.bad)
        http_response_add(x->resp, "Location", "%.*s", (int)w.len, (const char *)w.buf);
    wr_free(&w);
}

static err_t send_answer(struct http_exchange *x, const struct rtc_request *req, const char *type)
{
    if (req->status >= 400 || req->status == 0)
        return send_refusal(x, req);
    if (*req->etag && req->answer)
        http_response_add(x->resp, "ETag", "\"%s\"", req->etag);
    if (req->answer)
        http_response_add(x->resp, "Content-Type", "%s", type);
    if (req->status == 201) {
        add_location(x, req);
        http_response_add(x->resp, "Accept-Patch", FRAGMENT);
    }
    return http_response_send(x->resp, req->status, text_or_empty(req->answer), req->answer_size);
}

/* ---- POST */

static char *param_or(const struct http_exchange *x, const char *key, const char *usual)
{
    char *value = rtc_http_param(x, key);

    if (*value)
        return value;
    free(value);
    return must_dup(usual);
}

static void read_stream(const struct http_exchange *x, struct rtc_request *req)
{
    const char *query = x->req->query;

    req->app = param_or(x, "app", "live");
    req->stream = param_or(x, "stream", "livestream");
    req->vhost = param_or(x, "vhost", "");
    if (!*req->vhost) {
        free(req->vhost);
        req->vhost = param_or(x, "domain", x->req->host);
    }
    req->param = must_print("%s%s", *query ? "?" : "", query);
    req->tc_url = must_print(strchr(x->req->host, ':') ? "webrtc://[%s]/%s" : "webrtc://%s/%s",
                             x->req->host, req->app);
}

/* Reads a requested ufrag or password (tests need to know them in advance). An invalid one is
 * ignored. */
static void read_name(const struct http_exchange *x, const char *key, char *out, size_t least,
                      size_t most)
{
    char *value = rtc_http_param(x, key);
    size_t n = strlen(value);

    if (n >= least && n <= most &&
        strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") == n)
        memcpy(out, value, n + 1);
    free(value);
}

static bool is_type(const struct http_exchange *x, const char *type)
{
    const char *given = http_request_field(x->req, "Content-Type");
    size_t n = strlen(type);

    return given && strncasecmp(given, type, n) == 0 && (!given[n] || strchr("; \t", given[n]));
}

/* Returns true if the body may be an offer; otherwise answers with an error. */
static bool check_offer(const struct http_exchange *x, struct rtc_request *req, bool over)
{
    x->resp->close |= over; /* the rest of the body is not read */
    if (over)
        rtc_http_refuse(req, 400, DECODE, "RtcSdpDecode", "an offer of more than 64 KB");
    else if (req->offer_size == 0)
        rtc_http_refuse(req, 400, INVALID_SDP, "RtcInvalidSdp", "the request has no body");
    else if (http_request_field(x->req, "Content-Type") && !is_type(x, SDP) &&
             (req->offer_size < 2 || memcmp(req->offer, "v=", 2) != 0))
        rtc_http_refuse(req, 415, DECODE, "RtcSdpDecode", "an offer is of " SDP);
    return req->status == 0;
}

static bool is_action(const struct http_exchange *x, const char *name)
{
    char *action = rtc_http_param(x, "action");
    bool is = strcmp(action, name) == 0;

    free(action);
    return is;
}

static err_t post(struct http_exchange *x, enum rtc_request_kind kind)
{
    struct rtc_request req = { .kind = is_action(x, "play") ? RTC_REQUEST_PLAY : kind };
    bool over = false;
    err_t err = rtc_http_body(x, SDP_OFFER_MAX, &req.offer, &req.offer_size, &over);

    if (err)
        return err;
    if (check_offer(x, &req, over)) {
        read_stream(x, &req);
        rtc_http_fill(x, &req);
        read_name(x, "ice-ufrag", req.ufrag, 4, 32);
        read_name(x, "ice-pwd", req.pwd, 22, 32);
        rtc_request_answer(x->env, &req);
    }
    err = send_answer(x, &req, SDP);
    rtc_request_free(&req);
    return err;
}

/* ---- DELETE, PATCH and GET of the URL in Location */

/* Reads a parameter. Too long to be valid: counts as absent. */
static void read_text(const struct http_exchange *x, const char *key, char *out, size_t room)
{
    char *value = rtc_http_param(x, key);

    if (strlen(value) < room)
        memcpy(out, value, strlen(value) + 1);
    free(value);
}

static bool read_session(const struct http_exchange *x, struct rtc_request *req)
{
    read_text(x, "session", req->session, sizeof(req->session));
    read_text(x, "token", req->token, sizeof(req->token));
    if (*req->token)
        return true;
    rtc_http_refuse(req, 403, 0, NULL, "no token in the address");
    return false;
}

static err_t request_session(struct http_exchange *x, enum rtc_request_kind kind)
{
    struct rtc_request req = { .kind = kind };
    err_t err;

    if (read_session(x, &req)) {
        rtc_http_fill(x, &req);
        rtc_request_answer(x->env, &req);
    }
    err = send_answer(x, &req, kind == RTC_REQUEST_STATUS ? "application/json" : SDP);
    rtc_request_free(&req);
    return err;
}

static err_t get_status(struct http_exchange *x)
{
    http_response_add(x->resp, "Cache-Control", "no-store");
    return request_session(x, RTC_REQUEST_STATUS);
}

/* Reads the first entity tag of If-Match, without quotes. If it is too long it cannot match. */
static void read_match(const struct http_exchange *x, struct rtc_request *req)
{
    const char *match = http_request_field(x->req, "If-Match");
    size_t n;

    if (!match)
        return;
    match += strspn(match, " \t\"");
    n = strcspn(match, "\", \t");
    (void)snprintf(req->etag, sizeof(req->etag), "%.*s", n < sizeof(req->etag) ? (int)n : 1,
                   n > 0 && n < sizeof(req->etag) ? match : "-");
}

static err_t patch(struct http_exchange *x)
{
    struct rtc_request req = { .kind = RTC_REQUEST_RESTART };
    char *body = NULL;
    size_t size = 0;
    bool over = false;
    err_t err = rtc_http_body(x, SDP_OFFER_MAX, &body, &size, &over);

    if (err)
        return err;
    x->resp->close |= over;
    if (!is_type(x, FRAGMENT))
        rtc_http_refuse(&req, 415, DECODE, "RtcSdpDecode", "PATCH takes " FRAGMENT);
    else if (over || !sdp_fragment_parse(&req.fragment, text_or_empty(body), size))
        rtc_http_refuse(&req, 400, DECODE, "RtcSdpDecode", "the body is no fragment");
    free(body);
    if (req.status == 0 && read_session(x, &req)) {
        read_match(x, &req);
        rtc_http_fill(x, &req);
        rtc_request_answer(x->env, &req);
    }
    err = send_answer(x, &req, FRAGMENT);
    rtc_request_free(&req);
    return err;
}

err_t rtc_http_whip(struct http_exchange *x, void *place)
{
    const struct rtc_http_place *at = place;

    if (!rtc_http_serves(x, at))
        return NULL;
    switch (x->req->verb) {
    case HTTP_VERB_POST:
        return post(x, at->kind);
    case HTTP_VERB_DELETE:
        return request_session(x, RTC_REQUEST_DELETE);
    case HTTP_VERB_PATCH:
        return patch(x);
    case HTTP_VERB_GET: /* reserved on these URLs: RFC 9725, section 4.1 */
        if (is_action(x, "status"))
            return get_status(x);
        break;
    default:
        break;
    }
    http_response_add(x->resp, "Allow", "POST, DELETE, PATCH, OPTIONS");
    return http_response_status(x->resp, 405);
}
