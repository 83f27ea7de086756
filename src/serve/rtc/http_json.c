/* SPDX-License-Identifier: MIT */
/* http_json.c - /rtc/v1/publish/ and /rtc/v1/play/: JSON with an offer in, JSON with an answer out.
 * Errors are answers too, with status 200 and code 400, as pages written for SRS expect. The answer
 * has NACK without RTX: SRS never offers RTX here, and clients written for it fail on it. */
#include "base/jpick.h"
#include "base/jput.h"
#include "base/must.h"
#include "base/text.h"
#include "proto/rtmp/url.h"
#include "serve/rtc/http_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MAX = 64 * 1024, FAILED = 400, INVALID_SDP = 5043, DECODE = 5012 };

/* ---- requests */

/* Parses "webrtc://host/app/stream?k=v" with any scheme. */
static err_t read_url(struct rtc_request *req, const char *streamurl)
{
    struct rtmp_url u;
    err_t err = rtmp_url_resolve(&u, streamurl, "");

    if (err)
        return err;
    req->vhost = must_dup(u.vhost);
    req->app = must_dup(u.app);
    req->stream = must_dup(u.stream);
    req->tc_url = must_print(strchr(u.host, ':') ? "webrtc://[%s]/%s" : "webrtc://%s/%s", u.host,
                             u.app);
    if (req->kind == RTC_REQUEST_PUBLISH) /* as backends know it from SRS */
        req->param = must_print("%s%cupstream=rtc", u.param, *u.param ? '&' : '?');
    else
        req->param = must_dup(u.param);
    rtmp_url_free(&u);
    return NULL;
}

/* Returns false if a member is missing and the request was refused. */
static bool read_members(struct rtc_request *req, const char *sdp, const char *url)
{
    char text[256];
    err_t err;

    if (!*sdp || !*url) {
        rtc_http_refuse(req, FAILED, INVALID_SDP, "RtcInvalidSdp",
                        *sdp ? "no streamurl in the request" : "no sdp in the request");
        return false;
    }
    err = read_url(req, url);
    if (err) {
        rtc_http_refuse(req, FAILED, INVALID_SDP, "RtcInvalidStreamUrl",
                        err_text(err, text, sizeof(text)));
        err_free(&err);
        return false;
    }
    return true;
}

/* Picks two members without a full parser, which an untrusted client could make build any tree. */
static bool read_body(struct rtc_request *req, const char *body, size_t size)
{
    struct jpick picks[] = { { .key = "sdp" }, { .key = "streamurl" } };
    bool fine;

    if (!body || !jpick(body, size, picks, sizeof(picks) / sizeof(picks[0]))) {
        rtc_http_refuse(req, FAILED, INVALID_SDP, "RtcInvalidSdp", "the body is no JSON object");
        return false;
    }
    fine = read_members(req, text_or_empty(picks[0].text), text_or_empty(picks[1].text));
    req->offer = picks[0].text;
    req->offer_size = strlen(text_or_empty(req->offer));
    free(picks[1].text);
    return fine;
}

/* ---- answers */

static void put_answer(struct jput *j, const struct http_exchange *x, const struct rtc_request *req)
{
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
    jput_open(j, NULL, '{');
    if (req->answer) {
        jput_int(j, "code", 0);
        jput_text(j, "server", x->env->server_id);
        jput_text(j, "service", x->env->service_id);
        jput_text(j, "pid", pid);
        jput_bytes(j, "sdp", req->answer, req->answer_size);
        jput_text(j, "sessionid", req->session);
    } else {
        jput_int(j, "code", FAILED);
        jput_text(j, "error", req->code_name ? req->code_name : "SystemError");
        jput_text(j, "text", req->text ? req->text : "");
    }
    jput_close(j, '}');
}

static err_t send_answer(struct http_exchange *x, const struct rtc_request *req)
{
    struct jput j = { 0 };
    struct wr w;
    err_t err;

    wr_init(&w, ANSWER_MAX);
    j.w = &w;
    put_answer(&j, x, req);
    err = wr_err(&w, "an answer in JSON");
    x->resp->close = true;
    http_response_add(x->resp, "Content-Type", "application/json");
    if (!err)
        err = http_response_send(x->resp, 200, w.buf, w.len);
    wr_free(&w);
    return err;
}

err_t rtc_http_json(struct http_exchange *x, void *place)
{
    const struct rtc_http_place *at = place;
    struct rtc_request req = { .kind = at->kind, .no_rtx = true };
    char *body = NULL;
    size_t size = 0;
    bool over = false;
    err_t err;

    if (!rtc_http_serves(x, at))
        return NULL;
    if (x->req->verb != HTTP_VERB_POST) {
        http_response_add(x->resp, "Allow", "POST, OPTIONS");
        return http_response_status(x->resp, 405);
    }
    err = rtc_http_body(x, RTC_JSON_MAX, &body, &size, &over);
    if (err)
        return err;
    if (over)
        rtc_http_refuse(&req, FAILED, DECODE, "RtcSdpDecode", "the request is too large");
    else if (read_body(&req, body, size)) {
        rtc_http_fill(x, &req);
        rtc_request_answer(x->env, &req);
    }
    free(body);
    err = send_answer(x, &req);
    rtc_request_free(&req);
    return err;
}
