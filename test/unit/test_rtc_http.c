/* SPDX-License-Identifier: MIT */
/* test_rtc_http.c - requests of WebRTC clients: the calls of the service, and the responses. */
#include "base/log.h"
#include "env.h"
#include "io_mem.h"
#include "serve/http/http.h"
#include "serve/http/mux.h"
#include "serve/rtc/request.h"
#include "serve/rtc/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a service that records requests, and answers as configured */

static char asked[4096];
static struct { int status, code; const char *name, *text, *answer, *etag; } say;

static const char *or_none(const char *text)
{
    return text && *text ? text : "-";
}

void rtc_request_answer(struct session_env *env, struct rtc_request *a)
{
    static const char *const kinds[] = { "publish", "play", "delete", "restart" };

    (void)env;
    if (a->kind == RTC_REQUEST_PUBLISH || a->kind == RTC_REQUEST_PLAY)
        (void)snprintf(asked, sizeof(asked), "%s %s/%s/%s %s %s %s %s v%d a%d %d%d %s:%s %.*s",
                       kinds[a->kind], a->vhost, a->app, a->stream, or_none(a->param), a->tc_url,
                       or_none(a->bearer), or_none(a->eip), a->vcodec, a->acodec, a->no_srtp,
                       a->no_dtls, a->ufrag, a->pwd, (int)a->offer_size, a->offer);
    else
        (void)snprintf(asked, sizeof(asked), "%s %s %s [%s] %s:%s %u", kinds[a->kind], a->session,
                       a->token, a->etag, a->fragment.ufrag, a->fragment.pwd,
                       a->fragment.candidates);
    assert_string_equal(a->ip, "127.0.0.1");
    a->status = say.status;
    a->code = say.code;
    a->code_name = say.name;
    a->text = say.text ? strdup(say.text) : NULL;
    a->answer = say.answer ? strdup(say.answer) : NULL;
    a->answer_size = say.answer ? strlen(say.answer) : 0;
    if (say.etag)
        (void)snprintf(a->etag, sizeof(a->etag), "%s", say.etag);
    if (say.status == 201) {
        (void)snprintf(a->session, sizeof(a->session), "Aours:th+m");
        (void)snprintf(a->token, sizeof(a->token), "0123456789abcdef");
    }
}

/* ---- conversations */

static struct session_env *env;
static struct http_service service;
static char out[1 << 20];

#define RTC "rtc_server { enabled on; } "

static err_t ask_nothing(struct http_exchange *x, void *arg)
{
    (void)arg;
    x->declined = true;
    return NULL;
}

static void begin(const char *conf)
{
    env = env_new_format("listen 1935; http_server { enabled on; dir /nowhere; } %s", conf);
    service = (struct http_service){ .env = env, .mux = http_mux_new() };
    rtc_http_mount(service.mux, ask_nothing, NULL);
    asked[0] = '\0';
}

static void end(void)
{
    http_mux_free(service.mux);
    env_free(&env);
}

static void talk_of(const char *in, size_t size, size_t piece)
{
    struct io_mem m;
    err_t err;

    io_mem_init(&m, in, size);
    m.piece = piece;
    m.out = (uint8_t *)out;
    m.out_cap = sizeof(out) - 1;
    err = http_session_run(&service, &m.io, "127.0.0.1");
    out[m.out_size] = '\0';
    err_free(&err);
}

/* "METHOD target", fields as lines, a body; NULL: none. */
static void talk(const char *what, const char *fields, const char *body)
{
    static char in[8192];
    int n = snprintf(in, sizeof(in), "%s HTTP/1.1\r\nHost: a.example:1985\r\n%s", what, fields);

    if (body)
        n += snprintf(in + n, sizeof(in) - (size_t)n, "Content-Length: %zu\r\n\r\n%s", strlen(body),
                      body);
    else
        n += snprintf(in + n, sizeof(in) - (size_t)n, "\r\n");
    talk_of(in, (size_t)n, 0);
}

static const char *body_of(void)
{
    const char *at = strstr(out, "\r\n\r\n");

    return at ? at + 4 : "";
}

static void assert_says(const char *line)
{
    if (!strstr(out, line))
        fail_msg("no \"%s\" in: %s", line, out);
}

static void assert_cors(void)
{
    assert_says("\r\nAccess-Control-Allow-Origin: *\r\n");
    assert_says("\r\nAccess-Control-Expose-Headers: Location, ETag, Link, Accept-Patch\r\n");
    assert_says("\r\nAccess-Control-Allow-Headers: *, Authorization, Content-Type, If-Match\r\n");
    assert_says("\r\nAccess-Control-Allow-Methods: GET, POST, DELETE, PATCH, OPTIONS\r\n");
}

#define SDP "Content-Type: application/sdp\r\n"

static void answers(void)
{
    memset(&say, 0, sizeof(say));
    say.status = 201;
    say.answer = "v=0\r\nanswer\r\n";
    say.etag = "e1";
}

/* ---- POST */

static const struct {
    const char *name, *what, *fields, *body, *asked;
} posts[] = {
    { "WHIP", "POST /rtc/v1/whip/?app=live&stream=s", SDP, "v=0\n",
      "publish a.example/live/s ?app=live&stream=s webrtc://a.example/live - - v0 a0 00 : v=0\n" },
    { "no names", "POST /rtc/v1/whip/", SDP, "v=0",
      "publish a.example/live/livestream - webrtc://a.example/live - - v0 a0 00 : v=0" },
    { "WHEP", "POST /rtc/v1/whep/?vhost=v&secret=x", SDP, "v=0",
      "play v/live/livestream ?vhost=v&secret=x webrtc://a.example/live - - v0 a0 00 : v=0" },
    { "WHEP by its other name", "POST /rtc/v1/whip-play/?stream=a%2Fb", SDP, "v=0",
      "play a.example/live/a/b ?stream=a%2Fb webrtc://a.example/live - - v0 a0 00 : v=0" },
    { "WHIP that plays", "POST /rtc/v1/whip/?action=play", SDP, "v=0",
      "play a.example/live/livestream ?action=play webrtc://a.example/live - - v0 a0 00 : v=0" },
    { "a token", "POST /rtc/v1/whip/", SDP "Authorization: bearer  T.1\r\n", "v=0",
      "publish a.example/live/livestream - webrtc://a.example/live T.1 - v0 a0 00 : v=0" },
    { "Basic", "POST /rtc/v1/whip/", SDP "Authorization: Basic eDp5\r\n", "v=0",
      "publish a.example/live/livestream - webrtc://a.example/live - - v0 a0 00 : v=0" },
    { "eip, codecs, in the clear",
      "POST /rtc/v1/whip/?eip=1.2.3.4:5&codec=h264&vcodec=av1&acodec=pcma&encrypt=false&dtls=false",
      SDP, "v=0", "publish a.example/live/livestream ?eip=1.2.3.4:5&codec=h264&vcodec=av1&acodec="
      "pcma&encrypt=false&dtls=false webrtc://a.example/live - 1.2.3.4:5 v3 a13 11 : v=0" },
    { "candidate, codecs of no kind", "POST /rtc/v1/whep/?candidate=::1&vcodec=opus&acodec=h264",
      SDP, "v=0", "play a.example/live/livestream ?candidate=::1&vcodec=opus&acodec=h264 "
      "webrtc://a.example/live - ::1 v0 a0 00 : v=0" },
    { "names of ours", "POST /rtc/v1/whip/?ice-ufrag=abcd&ice-pwd=0123456789012345678901", SDP,
      "v=0", "publish a.example/live/livestream ?ice-ufrag=abcd&ice-pwd=0123456789012345678901 "
      "webrtc://a.example/live - - v0 a0 00 abcd:0123456789012345678901 v=0" },
    { "such that are none", "POST /rtc/v1/whip/?ice-ufrag=a:cd&ice-pwd=012345678901234567890", SDP,
      "v=0", "publish a.example/live/livestream ?ice-ufrag=a:cd&ice-pwd=012345678901234567890 "
      "webrtc://a.example/live - - v0 a0 00 : v=0" },
    { "no content type", "POST /rtc/v1/whip/", "", "x",
      "publish a.example/live/livestream - webrtc://a.example/live - - v0 a0 00 : x" },
    { "another type, and an offer", "POST /rtc/v1/whip/", "Content-Type: text/plain\r\n", "v=0",
      "publish a.example/live/livestream - webrtc://a.example/live - - v0 a0 00 : v=0" },
    { "JSON, publish", "POST /rtc/v1/publish/?eip=9.9.9.9", "",
      "{\"sdp\":\"v=0\\r\\n\",\"streamurl\":\"webrtc://b.example/live/s?secret=x\",\"clientip\":null,"
      "\"api\":\"http://x\",\"tid\":\"1\"}",
      "publish b.example/live/s ?secret=x&upstream=rtc webrtc://b.example/live - 9.9.9.9 v0 a0 00 "
      ": v=0\r\n" },
    { "JSON, play", "POST /rtc/v1/play/", "Content-Type: text/plain\r\n",
      "{\"sdp\":\"v=0\",\"streamurl\":\"http://b.example:8080/live/s?vhost=w\"}",
      "play w/live/s ?vhost=w webrtc://b.example/live - - v0 a0 00 : v=0" },
    { "JSON, nothing behind it", "POST /rtc/v1/publish/", "",
      "{\"sdp\":\"v=0\",\"streamurl\":\"webrtc://[::1]/a/b/c\"}",
      "publish ::1/a/b/c ?upstream=rtc webrtc://[::1]/a/b - - v0 a0 00 : v=0" },
};

static void test_posts(void **state)
{
    (void)state;
    begin(RTC);
    for (size_t i = 0; i < COUNT(posts); i++) {
        print_message("  %s\n", posts[i].name);
        answers();
        talk(posts[i].what, posts[i].fields, posts[i].body);
        assert_string_equal(asked, posts[i].asked);
        assert_cors();
    }
    end();
}

static void test_whip_answer(void **state)
{
    (void)state;
    begin(RTC);
    answers();
    talk("POST /rtc/v1/whip/?app=a%20b&stream=s%26", SDP, "v=0");
    assert_says("HTTP/1.1 201 ");
    assert_says("\r\nContent-Type: application/sdp\r\n");
    assert_says("\r\nLocation: /rtc/v1/whip/?action=delete&token=0123456789abcdef&app=a%20b&"
                "stream=s%26&session=Aours:th%2Bm\r\n");
    assert_says("\r\nETag: \"e1\"\r\n");
    assert_says("\r\nAccept-Patch: application/trickle-ice-sdpfrag\r\n");
    assert_string_equal(body_of(), say.answer);
    assert_null(strstr(out, "Connection: close"));
    end();
}

static void test_json_answer(void **state)
{
    static const char body[] = "{\"sdp\":\"v=0\",\"streamurl\":\"webrtc://h/live/s\"}";
    char want[256];

    (void)state;
    begin(RTC);
    answers();
    talk("POST /rtc/v1/play/", "", body);
    (void)snprintf(want, sizeof(want), "{\"code\":0,\"server\":\"vid-1\",\"service\":\"run\",\"pid\":"
                   "\"%d\",\"sdp\":\"v=0\\r\\nanswer\\r\\n\",\"sessionid\":\"Aours:th+m\"}",
                   (int)getpid());
    assert_says("HTTP/1.1 200 ");
    assert_says("\r\nContent-Type: application/json\r\n");
    assert_says("\r\nConnection: close\r\n");
    assert_string_equal(body_of(), want);
    memset(&say, 0, sizeof(say));
    say.status = 401;
    say.code = 2054;
    say.name = "HookDenied";
    say.text = "no \"entry\"";
    talk("POST /rtc/v1/play/", "", body);
    assert_says("HTTP/1.1 200 ");
    assert_string_equal(body_of(), "{\"code\":400,\"error\":\"HookDenied\",\"text\":\"no "
                                   "\\\"entry\\\"\"}");
    assert_cors();
    end();
}

/* ---- rejected */

static const struct {
    const char *name, *what, *fields, *body;
    int status;
    const char *text;
} refused[] = {
    { "no body", "POST /rtc/v1/whip/", SDP, NULL, 400, "5043: RtcInvalidSdp\n" },
    { "an empty body", "POST /rtc/v1/whep/", SDP, "", 400, "5043: RtcInvalidSdp\n" },
    { "another type", "POST /rtc/v1/whip/", "Content-Type: application/json\r\n", "{}", 415,
      "5012: RtcSdpDecode\n" },
    { "GET", "GET /rtc/v1/whip/", "", NULL, 405, "Allow: POST, DELETE, PATCH, OPTIONS\r\n" },
    { "HEAD", "HEAD /rtc/v1/whep/", "", NULL, 405, "Allow: POST, DELETE, PATCH, OPTIONS\r\n" },
    { "GET of a session", "GET /rtc/v1/whip/?action=delete&session=a:b&token=1", "", NULL, 405,
      "Allow: POST, DELETE, PATCH, OPTIONS\r\n" },
    { "its status without a token", "GET /rtc/v1/whip/?action=status&session=a:b", "", NULL, 403,
      "no token" },
    { "PUT", "PUT /rtc/v1/whip/", SDP, "v=0", 405, "Allow: POST, DELETE, PATCH, OPTIONS\r\n" },
    { "GET of JSON", "GET /rtc/v1/play/", "", NULL, 405, "Allow: POST, OPTIONS\r\n" },
    { "below", "POST /rtc/v1/whip/x/", SDP, "v=0", 404, "" },
    { "no slash", "POST /rtc/v1/whip?app=a", SDP, "v=0", 302, "Location: /rtc/v1/whip/?app=a\r\n" },
    { "no such thing", "POST /rtc/v1/other/", "", "x", 404, "" },
    { "JSON that is none", "POST /rtc/v1/play/", "", "{", 200,
      "{\"code\":400,\"error\":\"RtcInvalidSdp\",\"text\":\"the body is no JSON object\"}" },
    { "JSON that is a list", "POST /rtc/v1/play/", "", "[]", 200, "\"code\":400" },
    { "JSON too deep", "POST /rtc/v1/play/", "", "{\"a\":[[[[[[[[[[[[[]]]]]]]]]]]]]}", 200,
      "\"code\":400" },
    { "no sdp", "POST /rtc/v1/play/", "", "{\"streamurl\":\"webrtc://h/live/s\"}", 200,
      "no sdp in the request" },
    { "an sdp that is none", "POST /rtc/v1/play/", "", "{\"sdp\":1,\"streamurl\":\"x\"}", 200,
      "no sdp in the request" },
    { "no streamurl", "POST /rtc/v1/play/", "", "{\"sdp\":\"v=0\"}", 200,
      "no streamurl in the request" },
    { "a streamurl that is none", "POST /rtc/v1/play/", "", "{\"sdp\":\"v=0\",\"streamurl\":\"x\"}",
      200, "\"RtcInvalidStreamUrl\"" },
    { "no body of JSON", "POST /rtc/v1/publish/", "", NULL, 200, "\"code\":400" },
    { "DELETE without a token", "DELETE /rtc/v1/whip/?session=a:b", "", NULL, 403, "no token" },
    { "PATCH of another type", "PATCH /rtc/v1/whip/?session=a:b&token=1", SDP, "a=x:1", 415,
      "5012" },
    { "PATCH that is none", "PATCH /rtc/v1/whip/?session=a:b&token=1",
      "Content-Type: application/trickle-ice-sdpfrag\r\n", "{}", 400, "5012" },
    { "PATCH without a token", "PATCH /rtc/v1/whip/?session=a:b",
      "Content-Type: application/trickle-ice-sdpfrag\r\n", "a=end-of-candidates\r\n", 403, "" },
};

static void test_refused(void **state)
{
    (void)state;
    begin(RTC);
    for (size_t i = 0; i < COUNT(refused); i++) {
        char status[32];

        print_message("  %s\n", refused[i].name);
        (void)snprintf(status, sizeof(status), "HTTP/1.1 %d ", refused[i].status);
        answers();
        talk(refused[i].what, refused[i].fields, refused[i].body);
        assert_says(status);
        assert_says(refused[i].text);
        assert_cors();
        assert_string_equal(asked, "");
    }
    end();
}

/* If WebRTC is off, its paths do not exist: the body of such a request is not read. */
static void test_off(void **state)
{
    static const char in[] = "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: 60000\r\n\r\n";
    static const char *const confs[] = { "", "rtc_server { enabled off; }" };
    static const char *const paths[] = { "/rtc/v1/publish/", "/rtc/v1/play/", "/rtc/v1/whip/", "/rtc/v1/whep/",
                                         "/rtc/v1/whip-play/" };

    (void)state;
    for (size_t i = 0; i < COUNT(confs); i++) {
        begin(confs[i]);
        for (size_t k = 0; k < COUNT(paths); k++) {
            char head[256];
            int n = snprintf(head, sizeof(head), in, paths[k]);

            answers();
            talk_of(head, (size_t)n, 0);
            assert_says("HTTP/1.1 404 ");
            assert_string_equal(asked, "");
        }
        end();
    }
}

/* The service's response is sent to the client unchanged. */
static void test_statuses(void **state)
{
    static const struct { int status, code; const char *name, *text, *want; } rows[] = {
        { 400, 5018, "RtcSdpNegotiate", "no codec", "5018: RtcSdpNegotiate\nno codec\n" },
        { 409, 5020, "RtcSourceBusy", NULL, "5020: RtcSourceBusy\n" },
        { 503, 1051, "TooMany", "x", "1051: TooMany\nx\n" },
        { 0, 0, NULL, NULL, NULL },
    };

    (void)state;
    begin(RTC);
    for (size_t i = 0; rows[i].status; i++) {
        char status[32];

        memset(&say, 0, sizeof(say));
        say.status = rows[i].status;
        say.code = rows[i].code;
        say.name = rows[i].name;
        say.text = rows[i].text;
        talk("POST /rtc/v1/whip/", SDP, "v=0");
        (void)snprintf(status, sizeof(status), "HTTP/1.1 %d ", rows[i].status);
        assert_says(status);
        assert_says("\r\nContent-Type: text/plain");
        assert_string_equal(body_of(), rows[i].want);
        assert_int_equal(!!strstr(out, "\r\nRetry-After: "), rows[i].status == 503);
        assert_cors();
    }
    end();
}

/* ---- preflight */

static void test_options(void **state)
{
    static const char *const confs[] = {
        "", "http_api { enabled on; crossdomain off; }",
        "http_api { enabled on; private_network on; }", /* the port is for http_server, too */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(confs); i++) {
        begin(confs[i]);
        talk("OPTIONS /rtc/v1/whip/", "Access-Control-Request-Method: POST\r\n", NULL);
        assert_says("HTTP/1.1 204 ");
        assert_cors();
        assert_null(strstr(out, "Private-Network"));
        assert_null(strstr(out, "Content-Length: "));
        talk("OPTIONS /rtc/v1/whip", "Access-Control-Request-Private-Network: true\r\n", NULL);
        assert_says("HTTP/1.1 204 ");
        assert_null(strstr(out, "Access-Control-Allow-Private-Network"));
        end();
    }
}

/* ---- DELETE and PATCH */

static void test_later(void **state)
{
    static const struct {
        const char *name, *what, *fields, *body, *asked;
        int status;
        const char *answer;
    } rows[] = {
        { "DELETE", "DELETE /rtc/v1/whip/?action=delete&token=0123456789abcdef&session=Ax:t%2Bm", "",
          NULL, "delete Ax:t+m 0123456789abcdef [] : 0", 200, NULL },
        { "at WHEP", "DELETE /rtc/v1/whep/?token=1&session=Ax:y", "", NULL, "delete Ax:y 1 [] : 0",
          403, NULL },
        { "candidates", "PATCH /rtc/v1/whip/?token=1&session=Ax:y",
          "Content-Type: application/trickle-ice-sdpfrag\r\n",
          "a=ice-ufrag:abcd\r\na=candidate:1 1 udp 1 1.2.3.4 5 typ host\r\n",
          "restart Ax:y 1 [] abcd: 1", 204, NULL },
        { "a restart", "PATCH /rtc/v1/whip/?token=1&session=Ax:y",
          "Content-Type: application/trickle-ice-sdpfrag; x\r\nIf-Match: \"e1\"\r\n",
          "a=ice-ufrag:abcd\r\na=ice-pwd:efgh\r\n", "restart Ax:y 1 [e1] abcd:efgh 0", 200,
          "a=ice-ufrag:new\r\n" },
        { "any content", "PATCH /rtc/v1/whip/?token=1&session=Ax:y",
          "Content-Type: application/trickle-ice-sdpfrag\r\nIf-Match: *\r\n", "a=x:1",
          "restart Ax:y 1 [*] : 0", 412, NULL },
        { "an unused tag", "PATCH /rtc/v1/whip/?token=1&session=Ax:y",
          "Content-Type: application/trickle-ice-sdpfrag\r\n"
          "If-Match: \"0123456789012345678901234567890\"\r\n", "a=x:1", "restart Ax:y 1 [-] : 0",
          412, NULL },
    };

    (void)state;
    begin(RTC);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char status[32];

        print_message("  %s\n", rows[i].name);
        memset(&say, 0, sizeof(say));
        say.status = rows[i].status;
        say.answer = rows[i].answer;
        say.etag = rows[i].answer ? "e2" : NULL;
        talk(rows[i].what, rows[i].fields, rows[i].body);
        assert_string_equal(asked, rows[i].asked);
        (void)snprintf(status, sizeof(status), "HTTP/1.1 %d ", rows[i].status);
        assert_says(status);
        assert_cors();
        assert_string_equal(body_of(), rows[i].answer ? rows[i].answer : "");
        if (rows[i].answer) {
            assert_says("\r\nContent-Type: application/trickle-ice-sdpfrag\r\n");
            assert_says("\r\nETag: \"e2\"\r\n");
        }
    }
    end();
}

/* ---- bodies */

/* n bytes of an offer; chunked if the length is not given. */
static void talk_large(const char *path, size_t size, bool chunked, size_t piece)
{
    char *in = malloc(size + 1024);
    int n;

    assert_non_null(in);
    n = snprintf(in, 1024, chunked ? "POST %s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                 "%zx\r\n" : "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n\r\n", path, size);
    memset(in + n, 'v', size);
    if (size > 2)
        memcpy(in + n, "v=", 2);
    memcpy(in + n + size, "\r\n0\r\n\r\n", 8);
    talk_of(in, (size_t)n + size + (chunked ? 7 : 0), piece);
    free(in);
}

static void test_bodies(void **state)
{
    (void)state;
    begin(RTC);
    for (int chunked = 0; chunked < 2; chunked++) {
        answers();
        talk_large("/rtc/v1/whip/", SDP_OFFER_MAX, chunked, 0);
        assert_says("HTTP/1.1 201 ");
        talk_large("/rtc/v1/whip/", 5, chunked, 1);
        assert_says("HTTP/1.1 201 ");
        asked[0] = '\0';
        talk_large("/rtc/v1/whip/", SDP_OFFER_MAX + 1, chunked, 0);
        assert_says("HTTP/1.1 400 ");
        assert_says("5012: RtcSdpDecode\n");
        talk_large("/rtc/v1/play/", 3 * SDP_OFFER_MAX + 1, chunked, 0);
        assert_says("HTTP/1.1 200 ");
        assert_says("\"code\":400");
        assert_string_equal(asked, "");
    }
    end();
}

/* A request that is cut at any byte has no effect, or the full one. */
static void test_cut(void **state)
{
    static const char in[] = "POST /rtc/v1/whip/?app=a HTTP/1.1\r\nHost: h\r\nContent-Type: "
                             "application/sdp\r\nContent-Length: 5\r\n\r\nv=0\r\n";

    (void)state;
    begin(RTC);
    for (size_t n = 0; n < sizeof(in); n++) {
        answers();
        asked[0] = '\0';
        talk_of(in, n, 1);
        assert_int_equal(!!*asked, n == sizeof(in) - 1);
    }
    end();
}

static int set_up(void **state)
{
    const struct log_setup quiet = { .min = LOG_NONE };

    (void)state;
    log_init(&quiet);
    assert_ok(co_init());
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_posts), TEST(test_whip_answer), TEST(test_json_answer), TEST(test_refused), TEST(test_off),
        TEST(test_statuses), TEST(test_options), TEST(test_later), TEST(test_bodies),
        TEST(test_cut),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
