/* SPDX-License-Identifier: MIT */
/* test_app_api.c - the API over memory: names and passwords, JSONP, methods, common fields. */
#include "conf_mem.h"

#include "app/api.h"
#include "app/api_auth.h"
#include "co/co.h"
#include "serve/http_mux.h"
#include "serve/roster.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *value;
    bool ok;
} auth_rows[] = {
    { "right", "Basic YWRtaW46YTpi", true }, /* admin:a:b */
    { "scheme in lower case", "basic YWRtaW46YTpi", true },
    { "more spaces", "Basic   YWRtaW46YTpi", true },
    { "none", NULL, false },
    { "empty", "", false },
    { "no token", "Basic ", false },
    { "another scheme", "Bearer YWRtaW46YTpi", false },
    { "another password", "Basic YWRtaW46YTpj", false },
    { "more behind it", "Basic YWRtaW46YTpiYg==", false },
    { "less", "Basic YWRtaW46YTo=", false },
    { "no base64", "Basic !!!!", false },
    { "cut", "Basic YWRtaW46YTp", false },
    { "padding alone", "Basic ====", false },
    { "a zero in it", "Basic YWRtaW46YTpiAA==", false },
};

static void test_auth(void **state)
{
    char *huge = malloc(8192);

    (void)state;
    assert_non_null(huge);
    for (size_t i = 0; i < COUNT(auth_rows); i++) {
        print_message("  %s\n", auth_rows[i].name);
        assert_int_equal(api_auth_is(auth_rows[i].value, "admin", "a:b"), auth_rows[i].ok);
    }
    memset(huge, 'A', 8191);
    huge[8191] = '\0';
    memcpy(huge, "Basic ", 6);
    assert_false(api_auth_is(huge, "admin", "a:b"));
    free(huge);
}

/* ---- whole requests */

static unsigned connections(void *arg)
{
    (void)arg;
    return 7;
}

#define OPEN "listen 1935; http_api { enabled on; } vhost __defaultVhost__ { } vhost a.b { }"
#define LOCKED "listen 1935; http_api { enabled on; auth { enabled on; username u; password p; } }"
#define RAW "listen 1935; http_api { enabled on; raw_api { enabled on; } }"

/* The answer to one request, malloc'ed. */
static char *ask(const char *conf, const char *request)
{
    struct serve serve = { .conf = mem_conf(conf), .generation = 1, .signature = "us", .version = "1",
                           .server_id = "vid-1", .service_id = "run" };
    struct http_service service = { .serve = &serve, .mux = http_mux_new() };
    static struct machine machine;
    struct reload_report reload = { .state = RELOAD_NEVER };
    struct api_parts parts = { .serve = &serve, .mux = service.mux, .machine = &machine,
                               .reload = &reload, .connections = connections };
    struct io_mem m;
    struct api *api;
    err_t err;

    serve.streams = live_registry_new();
    serve.roster = roster_new(serve.streams, "vid-1");
    machine_init(&machine);
    api = api_new(&parts);
    io_mem_init(&m, request, strlen(request));
    m.out_cap = 1 << 20;
    m.out = calloc(1, m.out_cap);
    assert_non_null(m.out);
    err = http_session_run(&service, &m.io, "127.0.0.1");
    err_free(&err);
    m.out[m.out_size] = '\0';
    api_free(api);
    http_mux_free(service.mux);
    roster_free(serve.roster);
    live_registry_free(serve.streams);
    (void)conf_unref(serve.conf);
    return (char *)m.out;
}

static const struct {
    const char *name, *conf, *line; /* the request line, and fields behind it */
    int status;
    const char *body;               /* a part of it */
} rows[] = {
    { "common fields", OPEN, "GET /api/v1/versions HTTP/1.1", 200,
      "{\"code\":0,\"server\":\"vid-1\",\"service\":\"run\",\"pid\":\"" },
    { "the connections", OPEN, "GET /api/v1/summaries HTTP/1.1", 200, "\"conn_srs\":7" },
    { "all roots", OPEN, "GET /api/ HTTP/1.1", 200, "\"urls\":{\"v1\":" },
    { "the list", OPEN, "GET /api/v1/ HTTP/1.1", 200, "\"streams\":\"" },
    { "no slash", OPEN, "GET /api/v1/streams?count=3 HTTP/1.1", 200, "\"streams\":[],\"total\":0}" },
    { "slash", OPEN, "GET /api/v1/clients/ HTTP/1.1", 200, "\"clients\":[],\"total\":0}" },
    { "vhosts", OPEN, "GET /api/v1/vhosts HTTP/1.1", 200, "\"name\":\"a.b\"" },
    { "HEAD", OPEN, "HEAD /api/v1/versions HTTP/1.1", 200, "" },
    { "no vhost", OPEN, "GET /api/v1/vhosts/vid-0 HTTP/1.1", 200, "{\"code\":2014}" },
    { "no stream", OPEN, "GET /api/v1/streams/vid-0 HTTP/1.1", 200, "{\"code\":2048}" },
    { "no client", OPEN, "GET /api/v1/clients/abc HTTP/1.1", 200, "{\"code\":2049}" },
    { "kick nobody", OPEN, "DELETE /api/v1/clients/abc HTTP/1.1", 200, "{\"code\":2049}" },
    { "not there", OPEN, "GET /api/v1/nothing HTTP/1.1", 404, "" },
    { "not in this build", OPEN, "GET /api/v1/signal?signo=SIGTERM HTTP/1.1", 404, "" },
    { "wrong method", OPEN, "POST /api/v1/versions HTTP/1.1\r\nContent-Length: 0", 405, "" },
    { "an error to test", OPEN, "GET /api/v1/tests/errors HTTP/1.1", 200, "{\"code\":100}" },
    { "of a vhost", OPEN, "GET /api/v1/tests/errors HTTP/1.1\r\nHost: error.srs.com", 200,
      "{\"code\":100}" },
    { "an echo", OPEN, "GET /api/v1/tests/requests?a=b HTTP/1.1", 200,
      "\"data\":{\"uri\":\"/api/v1/tests/requests?a=b\",\"path\":\"/api/v1/tests/requests\","
      "\"METHOD\":\"GET\",\"headers\":{" },
    { "redirect", OPEN, "GET /api/v1/tests/redirects HTTP/1.1", 301,
      "Location: /api/v1/tests/errors" },
    { "JSONP", OPEN, "GET /api/v1/versions?callback=a.b_c-1 HTTP/1.1", 200, "a.b_c-1({\"code\":0" },
    { "JSONP of an error", OPEN, "GET /api/v1/clients/x?callback=f HTTP/1.1", 200,
      "f({\"code\":2049})" },
    { "JSONP's type", OPEN, "GET /api/v1/versions?callback=f HTTP/1.1", 200, "text/javascript" },
    { "JSONP's method", OPEN, "GET /api/v1/clients/x?callback=f&method=DELETE HTTP/1.1", 200,
      "f({\"code\":2049})" },
    { "JSONP's wrong method", OPEN, "GET /api/v1/versions?callback=f&method=DELETE HTTP/1.1", 405,
      "" },
    { "no JSONP, no method", OPEN, "GET /api/v1/versions?method=DELETE HTTP/1.1", 200, "{\"code\":0" },
    { "no script as a name", OPEN, "GET /api/v1/versions?callback=alert(1)// HTTP/1.1", 200,
      "\r\n\r\n{\"code\":0" },
    { "CORS", OPEN, "OPTIONS /api/v1/streams HTTP/1.1\r\nOrigin: http://x", 200,
      "Access-Control-Allow-Origin: *" },
    { "locked", LOCKED, "GET /api/v1/versions HTTP/1.1", 401, "WWW-Authenticate: Basic" },
    { "locked list", LOCKED, "GET /api/v1/ HTTP/1.1", 401, "" },
    { "with the key", LOCKED, "GET /api/v1/versions HTTP/1.1\r\nAuthorization: Basic dTpw", 200,
      "\"data\":{" },
    { "raw shows itself", OPEN, "GET /api/v1/raw?rpc=raw HTTP/1.1", 200, "\"allow_reload\":false" },
    { "raw is off", OPEN, "GET /api/v1/raw?rpc=reload HTTP/1.1", 200, "{\"code\":1061}" },
    { "reload is off", RAW, "GET /api/v1/raw?rpc=reload HTTP/1.1", 200, "{\"code\":1061}" },
    { "no reload yet", RAW, "GET /api/v1/raw?rpc=reload-fetch HTTP/1.1", 200, "\"state\":0" },
    { "clusters", OPEN, "GET /api/v1/clusters?vhost=v&app=live&stream=s&ip=1.2.3.4 HTTP/1.1", 200,
      "\"data\":{\"query\":{\"ip\":\"1.2.3.4\",\"vhost\":\"v\",\"app\":\"live\",\"stream\":\"s\"},"
      "\"origin\":null}" },
    { "clusters as POST", OPEN, "POST /api/v1/clusters HTTP/1.1\r\nContent-Length: 0", 200,
      "\"origin\":null" },
    { "what rpc", RAW, "GET /api/v1/raw HTTP/1.1", 200, "{\"code\":1062}" },
};

static void test_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char request[1024], *got;
        bool has_host = strstr(rows[i].line, "Host:") != NULL;

        print_message("  %s\n", rows[i].name);
        (void)snprintf(request, sizeof(request), "%s\r\n%s\r\n", rows[i].line,
                       has_host ? "" : "Host: h\r\n");
        got = ask(rows[i].conf, request);
        assert_memory_equal(got, "HTTP/1.1 ", 9);
        if (strtol(got + 9, NULL, 10) != rows[i].status || !strstr(got, rows[i].body))
            fail_msg("%s", got);
        free(got);
    }
}

/* Every row answers with valid JSON that says code 0. */
static void test_all_valid(void **state)
{
    static const char *const paths[] = {
        "versions", "summaries", "rusages", "self_proc_stats", "system_proc_stats", "meminfos",
        "authors", "features", "vhosts/", "streams/", "clients/", "raw?rpc=raw",
        "tests/requests?a=b", "clusters?vhost=a.b&app=live&stream=s",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(paths); i++) {
        char request[256], *got, *body;
        json_t *v;

        print_message("  %s\n", paths[i]);
        (void)snprintf(request, sizeof(request), "GET /api/v1/%s HTTP/1.0\r\n\r\n", paths[i]);
        got = ask(OPEN, request);
        body = strstr(got, "\r\n\r\n");
        assert_non_null(body);
        v = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(v);
        assert_int_equal(json_integer_value(json_object_get(v, "code")), 0);
        json_decref(v);
        free(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_auth), TEST(test_requests), TEST(test_all_valid),
    };

    assert_ok(co_init());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
