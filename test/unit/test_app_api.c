/* SPDX-License-Identifier: MIT */
/* test_app_api.c - the API in memory: names and passwords, JSONP, methods, common fields. */
#include "app/api/api.h"
#include "app/api/auth.h"
#include "co/co.h"
#include "env.h"
#include "io_mem.h"
#include "serve/http/mux.h"
#include "session/clients.h"

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

static const struct {
    const char *name, *value;
    bool ok;
} token_rows[] = {
    { "right", "Bearer a:b", true },
    { "scheme in lower case", "bearer  a:b", true },
    { "none", NULL, false },
    { "empty", "", false },
    { "no token", "Bearer ", false },
    { "another scheme", "Basic a:b", false },
    { "another", "Bearer a:c", false },
    { "more behind it", "Bearer a:b ", false },
    { "less", "Bearer a:", false },
};

static void test_token(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(token_rows); i++) {
        print_message("  %s\n", token_rows[i].name);
        assert_int_equal(api_auth_is_token(token_rows[i].value, "a:b"), token_rows[i].ok);
    }
    assert_false(api_auth_is_token("Bearer ", ""));
    assert_false(api_auth_is_token("Bearer", ""));
}

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
#define LOCKED "listen 1935; http_api { enabled on; auth { enabled on; username u; password p; delay 1; } " \
    "raw_api { enabled on; allow_reload on; } }"
#define RAW "listen 1935; http_api { enabled on; raw_api { enabled on; } }"
#define PRIVATE "listen 1935; http_api { enabled on; private_network on; } http_server { enabled on; " \
    "private_network on; }"
#define FREE "listen 1935; http_api { enabled on; open on; raw_api { enabled on; } }"
#define READ "listen 1935; http_api { enabled on; public read; raw_api { enabled on; } } exporter { enabled on; }"
#define CLOSED "listen 1935; http_api { enabled on; crossdomain off; } http_server { enabled on; }"

/* The response to one request, malloc'ed. */
static char *ask_from(const char *conf, const char *request, const char *ip)
{
    struct session_env *env = env_new(conf);
    struct http_service service = { .env = env, .mux = http_mux_new() };
    static struct machine machine;
    struct reload_report reload = { .state = RELOAD_NEVER };
    struct api_parts parts = { .env = env, .mux = service.mux, .machine = &machine,
                               .reload = &reload, .connections = connections };
    struct io_mem m;
    struct api *api;
    err_t err;

    machine_init(&machine);
    api = api_new(&parts);
    io_mem_init(&m, request, strlen(request));
    m.out_cap = 1 << 20;
    m.out = calloc(1, m.out_cap);
    assert_non_null(m.out);
    err = http_session_run(&service, &m.io, ip);
    err_free(&err);
    m.out[m.out_size] = '\0';
    api_free(api);
    http_mux_free(service.mux);
    env_free(&env);
    return (char *)m.out;
}

static char *ask(const char *conf, const char *request)
{
    return ask_from(conf, request, "127.0.0.1");
}

static const struct {
    const char *name, *conf, *line; /* the request line, and further fields */
    int status;
    const char *body;               /* a part of the response; "!x": x must not be part of it */
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
    { "disconnect no client", OPEN, "DELETE /api/v1/clients/abc HTTP/1.1", 200, "{\"code\":2049}" },
    { "not there", OPEN, "GET /api/v1/nothing HTTP/1.1", 404, "" },
    { "not in this build", OPEN, "GET /api/v1/signal?signo=SIGTERM HTTP/1.1", 404, "" },
    { "by POST", OPEN, "POST /api/v1/versions HTTP/1.1\r\nContent-Length: 0", 200, "\"major\":7," },
    { "by PUT", OPEN, "PUT /api/v1/summaries HTTP/1.1\r\nContent-Length: 0", 200, "\"self\":" },
    { "by DELETE", OPEN, "DELETE /api/v1/authors HTTP/1.1", 200, "\"license\"" },
    { "by a verb of its own", OPEN, "PROPFIND /api/v1/features HTTP/1.1", 200, "\"features\"" },
    { "roots by POST", OPEN, "POST /api/v1/ HTTP/1.1\r\nContent-Length: 0", 200, "\"urls\":" },
    { "lists by POST", OPEN, "POST /api/v1/clients HTTP/1.1\r\nContent-Length: 0", 200,
      "\"clients\":[]" },
    { "streams by PUT", OPEN, "PUT /api/v1/streams/ HTTP/1.1\r\nContent-Length: 0", 200,
      "\"streams\":[]" },
    { "streams are not deleted", OPEN, "DELETE /api/v1/streams/vid-0 HTTP/1.1", 405, "" },
    { "nor vhosts", OPEN, "DELETE /api/v1/vhosts/ HTTP/1.1", 405, "" },
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
    { "JSONP has no method", OPEN, "GET /api/v1/versions?callback=f&method=DELETE HTTP/1.1", 200,
      "f({\"code\":0" },
    { "nor have others", OPEN, "GET /api/v1/versions?method=DELETE HTTP/1.1", 200, "{\"code\":0" },
    { "no script as a name", OPEN, "GET /api/v1/versions?callback=alert(1)// HTTP/1.1", 200,
      "\r\n\r\n{\"code\":0" },
    { "CORS", OPEN, "OPTIONS /api/v1/streams HTTP/1.1\r\nOrigin: http://x", 200,
      "Access-Control-Allow-Origin: *" },
    { "a private network", OPEN, "OPTIONS /api/v1/streams HTTP/1.1\r\nOrigin: http://x\r\n"
      "Access-Control-Request-Private-Network: true", 200, "!Private-Network: true" },
    { "that is open to pages", PRIVATE, "OPTIONS /api/v1/streams HTTP/1.1\r\nOrigin: http://x\r\n"
      "Access-Control-Request-Private-Network: true", 200,
      "Access-Control-Allow-Private-Network: true" },
    { "CORS that is off", CLOSED, "GET /api/v1/streams HTTP/1.1\r\nOrigin: http://x", 200,
      "!Access-Control" },
    { "of files on the same port it is on", CLOSED, "GET /nothing HTTP/1.1\r\nOrigin: http://x", 404,
      "Access-Control-Allow-Origin: *" },
    { "CORS that is off, JSONP of another site", CLOSED,
      "GET /api/v1/versions?callback=f HTTP/1.1\r\nSec-Fetch-Site: cross-site", 200, "!f({" },
    { "CORS that is off, JSONP of a program", CLOSED, "GET /api/v1/versions?callback=f HTTP/1.1", 200,
      "f({" },
    { "addresses of code", OPEN, "GET /api/v1/self_proc_stats HTTP/1.1", 200,
      "\"startcode\":0,\"endcode\":0,\"startstack\":0,\"kstkesp\":0,\"kstkeip\":0,\"signal\":" },
    { "locked", LOCKED, "GET /api/v1/versions HTTP/1.1", 401, "WWW-Authenticate: Basic" },
    { "locked list", LOCKED, "GET /api/v1/ HTTP/1.1", 401, "" },
    { "with another key, late", LOCKED, "GET /api/v1/ HTTP/1.1\r\nAuthorization: Basic dTpx", 401,
      "WWW-Authenticate: Basic" },
    { "figures are locked, too", LOCKED, "GET /metrics HTTP/1.1", 401, "" },
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

static bool has(const char *text, const char *part)
{
    return part[0] == '!' ? !strstr(text, part + 1) : strstr(text, part) != NULL;
}

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
        if (strtol(got + 9, NULL, 10) != rows[i].status || !has(got, rows[i].body))
            fail_msg("%s", got);
        free(got);
    }
}

/* ---- permission to change: untrusted clients, pages of other sites, names that resolve elsewhere */

#define KICK "DELETE /api/v1/clients/x HTTP/1.1\r\nHost: 127.0.0.1:1985"
#define RELOAD "GET /api/v1/raw?rpc=reload HTTP/1.1\r\nHost: 127.0.0.1:1985"
#define KEY "\r\nAuthorization: Basic dTpw"
#define BROWSER "\r\nUser-Agent: Mozilla/5.0 (X11; Linux)\r\nAccept-Language: en"
#define HERE "127.0.0.1"
#define THERE "192.0.2.7"

static const struct {
    const char *name, *conf, *ip, *request;
    int status;
} changes[] = {
    { "from this machine", OPEN, HERE, KICK, 200 },
    { "from this machine, IPv6", OPEN, "::1", KICK, 200 },
    { "from this machine, IPv4 as IPv6", OPEN, "::ffff:127.0.0.2", KICK, 200 },
    { "from another one", READ, THERE, KICK, 403 },
    { "from a private one", OPEN, "10.0.0.5", KICK, 403 },
    { "from a public one", OPEN, THERE, KICK, 401 },
    { "from another one, IPv6", READ, "2001:db8::1", KICK, 403 },
    { "from another one that says it is this", OPEN, "10.0.0.5", KICK "\r\nX-Forwarded-For: 127.0.0.1",
      403 },
    { "from another one by a proxy", READ, HERE, KICK "\r\nX-Forwarded-For: " THERE, 403 },
    { "the same, in the manner of others", READ, HERE, KICK "\r\nX-Real-IP: " THERE, 403 },
    { "to look is open", READ, THERE, "GET /api/v1/clients HTTP/1.1\r\nHost: h", 200 },
    { "to test is open", READ, THERE, "POST /api/v1/tests/requests HTTP/1.1\r\nHost: h\r\nContent-Length: 0",
      200 },
    { "origins ask each other", READ, THERE, "POST /api/v1/clusters HTTP/1.1\r\nHost: h\r\nContent-Length: 0",
      200 },
    { "all clients, as in SRS", FREE, THERE, KICK, 200 },
    { "with the password", LOCKED, THERE, KICK KEY, 200 },
    { "reload from another one", READ, THERE, RELOAD, 403 },
    { "reload by HEAD", READ, THERE, "HEAD /api/v1/raw?rpc=reload HTTP/1.1\r\nHost: h", 403 },
    { "reload by an odd query", READ, THERE, "GET /api/v1/raw?rpc=%72eload&rpc=raw HTTP/1.1\r\nHost: h", 403 },
    { "what reload did", READ, THERE, "GET /api/v1/raw?rpc=reload-fetch HTTP/1.1\r\nHost: h", 200 },

    { "our own page", OPEN, HERE, KICK "\r\nOrigin: http://127.0.0.1:1985\r\nSec-Fetch-Site: same-origin", 200 },
    { "our own page, old browser", OPEN, HERE, KICK "\r\nOrigin: http://127.0.0.1:1985", 200 },
    { "a page elsewhere", OPEN, HERE, KICK "\r\nOrigin: http://evil.example", 403 },
    { "the same, all may", FREE, HERE, KICK "\r\nOrigin: http://evil.example", 403 },
    { "a page of another port", OPEN, HERE, KICK "\r\nOrigin: http://127.0.0.1:8080", 403 },
    { "a page of a name that ends alike", OPEN, HERE, KICK "\r\nOrigin: http://127.0.0.1.evil:1985", 403 },
    { "a frame without origin", OPEN, HERE, KICK "\r\nOrigin: null", 403 },
    { "no page tells two things", OPEN, HERE,
      KICK "\r\nOrigin: http://127.0.0.1:1985\r\nSec-Fetch-Site: cross-site", 403 },
    { "nor this way round", OPEN, HERE, KICK "\r\nOrigin: http://evil.example\r\nSec-Fetch-Site: same-origin",
      403 },
    { "an image of a page elsewhere", RAW, HERE, RELOAD "\r\nSec-Fetch-Site: cross-site", 403 },
    { "an image of another port", RAW, HERE, RELOAD "\r\nSec-Fetch-Site: same-site", 403 },
    { "an image, and the browser does not tell", RAW, HERE, RELOAD BROWSER, 403 },
    { "the line of addresses", RAW, HERE, RELOAD BROWSER "\r\nSec-Fetch-Site: none", 200 },
    { "a script", RAW, HERE, RELOAD, 200 },
    { "an image with the browser's password", LOCKED, HERE, RELOAD KEY "\r\nSec-Fetch-Site: cross-site", 403 },
    { "a script with the password", LOCKED, THERE, RELOAD KEY, 200 },
    { "a page that knows the password", LOCKED, THERE, KICK KEY "\r\nOrigin: http://panel.example", 200 },

    { "a name that leads here", OPEN, HERE,
      "DELETE /api/v1/clients/x HTTP/1.1\r\nHost: evil.example:1985\r\nOrigin: http://evil.example:1985", 403 },
    { "the same and a browser that trusts it", OPEN, HERE,
      "DELETE /api/v1/clients/x HTTP/1.1\r\nHost: evil.example:1985\r\nOrigin: http://evil.example:1985\r\n"
      "Sec-Fetch-Site: same-origin", 403 },
    { "a name that looks local", OPEN, HERE,
      "DELETE /api/v1/clients/x HTTP/1.1\r\nHost: evillocalhost\r\nOrigin: http://evillocalhost", 403 },
    { "localhost", OPEN, HERE,
      "DELETE /api/v1/clients/x HTTP/1.1\r\nHost: localhost:1985\r\nOrigin: http://localhost:1985", 200 },
    { "an address in brackets", OPEN, "::1",
      "DELETE /api/v1/clients/x HTTP/1.1\r\nHost: [::1]:1985\r\nOrigin: http://[::1]:1985", 200 },
    { "a script that uses a name", OPEN, HERE, "DELETE /api/v1/clients/x HTTP/1.1\r\nHost: myhost:1985", 200 },
    { "TLS ends before us", OPEN, HERE,
      "DELETE /api/v1/clients/x HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://127.0.0.1", 200 },
};

static void test_changes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(changes); i++) {
        char request[1024], *got;

        print_message("  %s\n", changes[i].name);
        (void)snprintf(request, sizeof(request), "%s\r\n\r\n", changes[i].request);
        got = ask_from(changes[i].conf, request, changes[i].ip);
        assert_memory_equal(got, "HTTP/1.1 ", 9);
        if (strtol(got + 9, NULL, 10) != changes[i].status ||
            (changes[i].status == 403 && strncmp(request, "HEAD", 4) != 0 && !strstr(got, "http_api {")))
            fail_msg("%s", got);
        free(got);
    }
}

/* ---- permission to read */

#define LOOK "GET /api/v1/streams HTTP/1.1\r\nHost: h"

static const struct {
    const char *name, *conf, *ip, *request;
    int status;
} looks[] = {
    { "this machine", OPEN, HERE, LOOK, 200 },
    { "10/8", OPEN, "10.255.0.1", LOOK, 200 },
    { "172.16/12", OPEN, "172.31.9.9", LOOK, 200 },
    { "behind 172.16/12", OPEN, "172.32.0.1", LOOK, 401 },
    { "192.168/16", OPEN, "192.168.1.1", LOOK, 200 },
    { "link-local", OPEN, "169.254.1.1", LOOK, 200 },
    { "link-local, IPv6", OPEN, "fe80::1", LOOK, 200 },
    { "fc00::/7", OPEN, "fd12::1", LOOK, 200 },
    { "mapped", OPEN, "::ffff:10.0.0.1", LOOK, 200 },
    { "mapped, public", OPEN, "::ffff:8.8.8.8", LOOK, 401 },
    { "of a provider's customer", OPEN, "100.64.0.1", LOOK, 401 },
    { "before and behind those", OPEN, "100.128.0.1", LOOK, 401 },
    { "public", OPEN, "8.8.8.8", LOOK, 401 },
    { "public, IPv6", OPEN, "2001:db8::1", LOOK, 401 },
    { "no address", OPEN, "unknown", LOOK, 401 },
    { "public behind our proxy", OPEN, HERE, LOOK "\r\nX-Forwarded-For: 8.8.8.8", 401 },
    { "private behind our proxy", OPEN, HERE, LOOK "\r\nX-Forwarded-For: 8.8.8.8, 10.0.0.1", 200 },
    { "public that says it is private", OPEN, "8.8.8.8", LOOK "\r\nX-Forwarded-For: 10.0.0.1", 401 },
    { "a client", OPEN, THERE, "GET /api/v1/clients/x HTTP/1.1\r\nHost: h", 401 },
    { "by JSONP", OPEN, THERE, "GET /api/v1/clients?callback=f HTTP/1.1\r\nHost: h", 401 },
    { "by HEAD", OPEN, THERE, "HEAD /api/v1/clients HTTP/1.1\r\nHost: h", 401 },
    { "the list of paths", OPEN, THERE, "GET /api/v1/ HTTP/1.1\r\nHost: h", 401 },
    { "no such path", OPEN, THERE, "GET /api/v1/nothing HTTP/1.1\r\nHost: h", 401 },
    { "of a vhost", OPEN, THERE, "GET /api/v1/tests/errors HTTP/1.1\r\nHost: error.srs.com", 401 },
    { "raw", OPEN, THERE, "GET /api/v1/raw?rpc=raw HTTP/1.1\r\nHost: h", 401 },
    { "figures", OPEN, THERE, "GET /metrics HTTP/1.1\r\nHost: h", 401 },
    { "the version", OPEN, THERE, "GET /api/v1/versions HTTP/1.1\r\nHost: h", 200 },
    { "figures that are public", READ, THERE, "GET /metrics HTTP/1.1\r\nHost: h", 200 },
    { "public, and may read", READ, THERE, LOOK, 200 },
    { "public, and may do all", FREE, THERE, LOOK, 200 },
    { "with a password", LOCKED, THERE, LOOK KEY, 200 },
    { "without it", LOCKED, THERE, LOOK, 401 },
    { "any password where there is none", OPEN, THERE, LOOK KEY, 401 },
};

static void test_looks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(looks); i++) {
        char request[1024], *got;
        bool says;

        print_message("  %s\n", looks[i].name);
        (void)snprintf(request, sizeof(request), "%s\r\n\r\n", looks[i].request);
        got = ask_from(looks[i].conf, request, looks[i].ip);
        assert_memory_equal(got, "HTTP/1.1 ", 9);
        says = strstr(got, "http_api { public read; }") && strstr(got, "http_api { auth {");
        if (strtol(got + 9, NULL, 10) != looks[i].status ||
            (looks[i].status == 401 && strcmp(looks[i].conf, LOCKED) != 0 && *request != 'H' && !says))
            fail_msg("%s", got);
        assert_true(looks[i].status != 401 || strstr(got, "\r\nWWW-Authenticate: "));
        free(got);
    }
}

/* A page of another site could read with a script tag what the browser's saved password opens. */
static void test_jsonp_of_secrets(void **state)
{
    char *got = ask(LOCKED, "GET /api/v1/clients?callback=f HTTP/1.1\r\nHost: h" KEY
                    "\r\nSec-Fetch-Site: cross-site\r\n\r\n");

    (void)state;
    assert_null(strstr(got, "f({"));
    assert_non_null(strstr(got, "nosniff"));
    free(got);
    got = ask(LOCKED, "GET /api/v1/clients?callback=f HTTP/1.1\r\nHost: h" KEY "\r\n\r\n");
    assert_non_null(strstr(got, "f({"));
    free(got);
}

/* Every row answers with valid JSON and code 0. */
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
        TEST(test_auth),
        TEST(test_token), TEST(test_requests), TEST(test_changes), TEST(test_looks),
        TEST(test_jsonp_of_secrets),
        TEST(test_all_valid),
    };

    assert_ok(co_init());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
