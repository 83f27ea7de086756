/* SPDX-License-Identifier: MIT */
/* api.c - the HTTP API: routing, and the common frame of every response. */
#include "app/api/api.h"

#include "app/api/auth.h"
#include "app/api/change.h"
#include "app/api/metrics.h"
#include "base/log_clean.h"
#include "base/must.h"
#include "proto/http/url.h"
#include "pull/ingest/ingests.h"
#include "serve/http/mux.h"
#include "sink/forward/forward.h"
#include "sink/program/children.h"

#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_MAX = 64, COUNT_DEFAULT = 10, ANSWER_MAX = 64 << 20, PIECE = 32 * 1024 };

struct mounted {
    struct api *api;
    const struct api_row *row;
};

struct api {
    struct api_parts parts;
    struct mounted rows[ROWS_MAX];
    size_t n;
};

const char *api_param(const struct api_call *c, const char *key, char *buf, size_t size)
{
    return http_url_param(c->x->req->query, key, buf, size);
}

long api_number(const struct api_call *c, const char *key, long otherwise)
{
    char text[24], *end;
    const char *given = api_param(c, key, text, sizeof(text));
    long v = given ? strtol(given, &end, 10) : otherwise;

    return given && (end == given || *end) ? otherwise : v;
}

struct api_page api_page_of(const struct api_call *c)
{
    long start = api_number(c, "start", 0), count = api_number(c, "count", COUNT_DEFAULT);

    start = start < 0 ? 0 : start;
    count = count < 1 ? 1 : count > INT_MAX ? INT_MAX : count;
    return (struct api_page){ .start = (size_t)start, .end = (size_t)start + (size_t)count };
}

struct worker_counters_of api_counters_of(const struct api_parts *of)
{
    struct worker_counters_of out = { .env = of->env, .connections = of->connections(of->arg) };

    if (of->sink) {
        out.forwards = of->sink(of->env, &forward_sink);
        out.children = of->sink(of->env, &program_sink);
        out.files = of->sink(of->env, &ingests_sink);
    }
    return out;
}

bool api_is_trusted(const struct api_call *c)
{
    return c->trusted;
}

void api_kbps(struct jput *j, int in, int out)
{
    jput_open(j, "kbps", '{');
    jput_int(j, "recv_30s", in);
    jput_int(j, "send_30s", out);
    jput_close(j, '}');
}

void api_put_secret(struct api_call *c, const char *key, const char *text)
{
    char *hidden;

    if (api_is_trusted(c) || c->x->conf->log_secrets) {
        jput_text(&c->j, key, text);
        return;
    }
    hidden = log_hide(text);
    jput_text(&c->j, key, hidden);
    free(hidden);
}

/* ---- the frame of a response */

static void put_type(struct api_call *c)
{
    http_response_add(c->x->resp, "Content-Type", "%s",
                      c->callback[0] ? "text/javascript" : "application/json");
    http_response_add(c->x->resp, "Cache-Control", "no-cache");
    http_response_add(c->x->resp, "X-Content-Type-Options", "nosniff");
}

static void begin_text(struct api_call *c)
{
    if (c->callback[0]) {
        wr_bytes(&c->out, c->callback, strlen(c->callback));
        wr_u8(&c->out, '(');
    }
}

static void put_common(struct api_call *c)
{
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
    jput_open(&c->j, NULL, '{');
    jput_int(&c->j, "code", 0);
    jput_text(&c->j, "server", c->of->env->server_id);
    jput_text(&c->j, "service", c->of->env->service_id);
    jput_text(&c->j, "pid", pid);
}

static err_t send_piece(struct api_call *c)
{
    err_t err = wr_err(&c->out, "API response");

    if (!err && !c->begun) {
        put_type(c);
        err = http_response_begin(c->x->resp, 200, HTTP_CHUNKED);
    }
    c->begun = true;
    if (!err)
        err = http_response_write(c->x->resp, c->out.buf, c->out.len);
    c->out.len = 0;
    return err;
}

bool api_is_full(const struct api_call *c)
{
    return c->out.len >= PIECE;
}

err_t api_yield_if_due(struct api_call *c)
{
    err_t err = NULL;

    if (api_is_full(c))
        err = send_piece(c);
    else
        co_yield_if_due();
    return err ? err : co_check();
}

static err_t finish(struct api_call *c)
{
    err_t err;

    if (c->callback[0])
        wr_u8(&c->out, ')');
    if (c->begun) {
        err = send_piece(c);
        return err ? err : http_response_end(c->x->resp);
    }
    err = wr_err(&c->out, "API response");
    if (err)
        return err;
    put_type(c);
    return http_response_send(c->x->resp, 200, c->out.buf, c->out.len);
}

err_t api_error(struct api_call *c, int code)
{
    c->out.len = 0;
    begin_text(c);
    c->j.comma = false;
    jput_open(&c->j, NULL, '{');
    jput_int(&c->j, "code", code);
    jput_close(&c->j, '}');
    return finish(c);
}

/* ---- routing */

/* Accepts only [A-Za-z0-9_.-]: other characters could inject a script. */
static bool is_callback(const char *name)
{
    if (!*name)
        return false;
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name) && !strchr("_.-", *name))
            return false;
    }
    return true;
}

/* Enables JSONP if the query requests it. A script of another site can only use a password that the
 * browser remembers, and with `crossdomain off` it must not read anything: then it gets plain JSON,
 * which it cannot read. */
static void check_jsonp(struct api_call *c)
{
    if (!api_param(c, "callback", c->callback, sizeof(c->callback)) ||
        !is_callback(c->callback) ||
        ((c->trusted || !c->x->conf->http_api.crossdomain) &&
         api_change_origin(c->x->req) == API_ORIGIN_OTHER))
        c->callback[0] = '\0';
}

static bool changes(const struct api_call *c, const struct api_row *row)
{
    return row->changes ? row->changes(c)
                        : (row->methods & API_ANY) != API_ANY && c->verb == HTTP_VERB_DELETE;
}

static err_t answer_row(struct api_call *c, const struct api_row *row)
{
    err_t err;

    begin_text(c);
    put_common(c);
    err = row->answer(c);
    if (err || (c->x->resp->status && !c->begun))
        return err; /* it has already responded */
    jput_close(&c->j, '}');
    return finish(c);
}

static err_t answer(struct http_exchange *x, void *arg)
{
    const struct mounted *m = arg;
    struct api_call c = { .of = &m->api->parts, .x = x, .verb = x->req->verb };
    size_t skip = strlen("/api/v1/") + strlen(m->row->path);
    struct api_guard *guard = m->api->parts.guard;
    enum api_denial why;
    enum api_who who;
    err_t err = api_auth_ask(guard, x, m->row->methods & API_TOLD, &who);

    if (err || who == API_REFUSED)
        return err;
    c.trusted = who == API_TRUSTED;
    if (c.verb == HTTP_VERB_HEAD)
        c.verb = HTTP_VERB_GET;
    check_jsonp(&c);
    if (!(m->row->methods & 1u << c.verb))
        return http_response_status(x->resp, 405);
    if (changes(&c, m->row) && !api_change_allowed(x, c.trusted, &why))
        return api_change_refuse(guard, x, why);
    c.rest = strlen(x->req->path) > skip ? x->req->path + skip : "";
    wr_init(&c.out, ANSWER_MAX);
    c.j.w = &c.out;
    err = answer_row(&c, m->row);
    wr_free(&c.out);
    return err;
}

static void mount_one(struct api *a, const struct api_row *row, const char *prefix,
                      enum http_ports ports)
{
    char pattern[128];
    size_t n;

    assert(a->n < ROWS_MAX);
    a->rows[a->n] = (struct mounted){ a, row };
    n = (size_t)snprintf(pattern, sizeof(pattern), "%s/api/v1/%s", prefix, row->path);
    struct http_mount mount = { .pattern = pattern, .methods = HTTP_METHODS_ANY, .ports = ports,
                                .first_worker = true, .handler = answer,
                                .arg = &a->rows[a->n++] };

    (void)http_mux_add(a->parts.mux, &mount);
    if (pattern[n - 1] == '/') { /* also without the slash, instead of a redirect */
        pattern[n - 1] = '\0';
        (void)http_mux_add(a->parts.mux, &mount);
    }
}

static void mount_rows(struct api *a, const struct api_row *row)
{
    for (; row->path; row++) {
        bool everywhere = strcmp(row->path, "versions") == 0;

        if (row->methods)
            mount_one(a, row, "", everywhere ? HTTP_PORT_ALL : HTTP_PORT_API);
        if (strcmp(row->path, "tests/errors") == 0) /* also shows that hosts are distinguished */
            mount_one(a, row, "error.srs.com", HTTP_PORT_API);
    }
}

/* ---- the lists of routes */

static void put_urls(struct api_call *c, const struct api *a)
{
    for (size_t i = 0; i < a->n; i++) {
        const struct api_row *row = a->rows[i].row;
        size_t n = strlen(row->path);
        char name[64];

        if (!row->help || strncmp(row->path, "tests/", 6) == 0)
            continue;
        (void)snprintf(name, sizeof(name), "%.*s", (int)(n - (row->path[n - 1] == '/')), row->path);
        jput_text(&c->j, name, row->help);
    }
    jput_open(&c->j, "tests", '{');
    jput_text(&c->j, "requests", "show the request info");
    jput_text(&c->j, "errors", "always return an error 100");
    jput_text(&c->j, "redirects", "always redirect to /api/v1/test/errors");
    jput_text(&c->j, "[vhost]", "http vhost for http://error.srs.com:1985/api/v1/tests/errors");
    jput_close(&c->j, '}');
}

static err_t list(struct http_exchange *x, const struct api *a)
{
    struct api_call c = { .of = &a->parts, .x = x };
    err_t err;

    wr_init(&c.out, ANSWER_MAX);
    c.j.w = &c.out;
    put_common(&c);
    jput_open(&c.j, "urls", '{');
    if (strcmp(x->req->path, "/") == 0)
        jput_text(&c.j, "api", "the api root");
    else if (strcmp(x->req->path, "/api/") == 0)
        jput_text(&c.j, "v1", "the api version 1.0");
    else
        put_urls(&c, a);
    jput_close(&c.j, '}');
    jput_close(&c.j, '}');
    err = finish(&c);
    wr_free(&c.out);
    return err;
}

static err_t answer_list(struct http_exchange *x, void *arg)
{
    const struct api *a = arg;
    const char *path = x->req->path;
    enum api_who who = API_ANYBODY;
    err_t err = strncmp(path, "/api/", 5) == 0 ? api_auth_ask(a->parts.guard, x, false, &who)
                                               : NULL;

    if (err || who == API_REFUSED)
        return err;
    x->declined = strcmp(path, "/api/v1/") != 0 && strcmp(path, "/api/") != 0 &&
                  (strcmp(path, "/") != 0 || (x->ports & HTTP_PORT_SERVER));
    return x->declined ? NULL : list(x, a);
}

struct api *api_new(const struct api_parts *parts)
{
    static const char *const roots[] = { "/", "/api/", "/api/v1/" };
    static const struct api_row *const rows[] = {
        api_rows_system, api_rows_live, api_rows_clients, api_rows_outputs, api_rows_upkeep,
        api_rows_history, api_rows_clusters, api_rows_doctor, api_rows_log, api_rows_workers,
        api_rows_raw, api_rows_tests, api_rows_tools,
    };
    struct api *a = must(calloc(1, sizeof(*a)));

    a->parts = *parts;
    a->parts.guard = api_guard_new();
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
        (void)http_mux_add(parts->mux, &(struct http_mount){
            .pattern = roots[i], .methods = API_READ, .ports = HTTP_PORT_API,
            .first_worker = true, .handler = answer_list, .arg = a });
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        mount_rows(a, rows[i]);
    metrics_mount(&a->parts);
    return a;
}

const struct api_parts *api_parts_of(const struct api *a)
{
    return &a->parts;
}

void api_free(struct api *a)
{
    api_guard_free(a->parts.guard);
    free(a);
}
