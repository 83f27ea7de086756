/* SPDX-License-Identifier: MIT */
/* http.c - HTTP requests of WebRTC clients: mount points and common parameters. CORS and OPTIONS
 * are handled in serve/http. */
#include "serve/rtc/http.h"

#include "base/must.h"
#include "proto/http/url.h"
#include "serve/rtc/http_impl.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool rtc_http_serves(struct http_exchange *x, const struct rtc_http_place *place)
{
    x->declined = !x->conf->rtc_server.enabled || strcmp(x->req->path, place->path) != 0;
    return !x->declined;
}

err_t rtc_http_body(struct http_exchange *x, size_t most, char **out, size_t *size, bool *over)
{
    struct wr w;
    char piece[4096];
    size_t n;
    err_t err;

    *out = NULL;
    *size = 0;
    *over = x->req->length > (int64_t)most;
    if (*over)
        return NULL;
    wr_init(&w, most);
    do {
        err = http_reader_body(x->reader, piece, sizeof(piece), &n);
        if (!err && n > 0)
            wr_bytes(&w, piece, n);
    } while (!err && n > 0 && !w.bad);
    *over = w.bad == ERR_TOO_LARGE;
    if (!err && w.bad && !*over)
        err = wr_err(&w, "an offer");
    if (err || *over) {
        wr_free(&w);
        return err;
    }
    *out = (char *)w.buf;
    *size = w.len;
    return NULL;
}

char *rtc_http_param(const struct http_exchange *x, const char *key)
{
    size_t room = strlen(x->req->query) + 1;
    char *buf = must(malloc(room));

    if (!http_url_param(x->req->query, key, buf, room))
        buf[0] = '\0';
    return buf;
}

static enum av_codec codec_of(const char *name)
{
    static const struct { const char *name; enum av_codec codec; } names[] = {
        { "h264", AV_H264 }, { "avc", AV_H264 }, { "hevc", AV_H265 }, { "h265", AV_H265 },
        { "av1", AV_AV1 }, { "vp9", AV_VP9 }, { "vp8", AV_VP8 }, { "opus", AV_OPUS },
        { "pcmu", AV_G711U }, { "pcma", AV_G711A },
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcasecmp(names[i].name, name) == 0)
            return names[i].codec;
    }
    return AV_CODEC_NONE;
}

static bool is_false(const struct http_exchange *x, const char *key)
{
    char value[8];
    const char *v = http_url_param(x->req->query, key, value, sizeof(value));

    return v && (strcmp(v, "false") == 0 || strcmp(v, "off") == 0 || strcmp(v, "0") == 0);
}

static enum av_codec codec_param(const struct http_exchange *x, const char *key)
{
    char value[8];
    const char *v = http_url_param(x->req->query, key, value, sizeof(value));

    return codec_of(v ? v : "");
}

static void fill_codecs(const struct http_exchange *x, struct rtc_request *req)
{
    enum av_codec any = codec_param(x, "codec"), video = codec_param(x, "vcodec");

    req->acodec = codec_param(x, "acodec");
    req->vcodec = video ? video : any;
    if (av_codec_row(req->vcodec)->kind != AV_VIDEO)
        req->vcodec = AV_CODEC_NONE;
    if (av_codec_row(req->acodec)->kind != AV_AUDIO)
        req->acodec = AV_CODEC_NONE;
}

/* Returns the token of RFC 6750, section 2.1. Backends never get the token of our API. */
static char *bearer_of(const struct http_exchange *x)
{
    const char *value = http_request_field(x->req, "Authorization");

    if (!value || strncasecmp(value, "Bearer ", 7) != 0 ||
        conf_auth_of_rtc(&x->conf->http_api.auth))
        return NULL;
    value += 7 + strspn(value + 7, " ");
    return *value ? must_dup(value) : NULL;
}

static char *field(const struct http_request *req, const char *name)
{
    const char *value = http_request_field(req, name);

    return must_dup(value ? value : "");
}

void rtc_http_fill(const struct http_exchange *x, struct rtc_request *req)
{
    req->ip = must_dup(x->ip);
    req->host = must_dup(x->req->host);
    req->page_url = field(x->req, "Referer");
    req->user_agent = field(x->req, "User-Agent");
    req->bearer = bearer_of(x);
    req->eip = rtc_http_param(x, "eip");
    if (!*req->eip) {
        free(req->eip);
        req->eip = rtc_http_param(x, "candidate");
    }
    req->no_srtp = is_false(x, "encrypt");
    req->no_dtls = is_false(x, "dtls");
    fill_codecs(x, req);
}

void rtc_http_refuse(struct rtc_request *req, int status, int code, const char *name,
                     const char *text)
{
    req->status = status;
    req->code = code;
    req->code_name = name;
    free(req->text);
    req->text = must_dup(text);
}

static const struct rtc_http_place places[] = {
    { "/rtc/v1/publish/", rtc_http_json, RTC_REQUEST_PUBLISH },
    { "/rtc/v1/play/", rtc_http_json, RTC_REQUEST_PLAY },
    { "/rtc/v1/whip/", rtc_http_whip, RTC_REQUEST_PUBLISH },
    { "/rtc/v1/whep/", rtc_http_whip, RTC_REQUEST_PLAY },
    { "/rtc/v1/whip-play/", rtc_http_whip, RTC_REQUEST_PLAY },
};

void rtc_http_mount(struct http_mux *mux, http_handler *ask, void *arg)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct http_mount mount = {
            .pattern = places[i].path, .methods = HTTP_METHODS_ANY,
            .ports = HTTP_PORT_SERVER | HTTP_PORT_API, .handler = ask, .arg = arg,
        };

        (void)http_mux_add(mux, &mount);
        mount.handler = places[i].handler;
        mount.arg = (void *)(uintptr_t)&places[i];
        (void)http_mux_add(mux, &mount);
    }
}
