/* SPDX-License-Identifier: MIT */
/* session.c - the life of one HTTP connection, with one request after the other. */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "co/net/io_tcp.h"
#include "co/net/round.h"
#include "proto/http/url.h"
#include "serve/http/http.h"
#include "serve/http/mux.h"
#include "serve/tcp/conn.h"
#include "session/bandwidth.h"
#include "session/workers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIP = 64 * 1024, LINGER = 4 * 1024 * 1024 };
#define LINGER_TIME CO_SECONDS(2)
#define RESERVED_TIME CO_SECONDS(3) /* short, because the connection is needed for others */
#define REST CO_SECONDS(10) /* longer than the pause of an HLS player between two segments */

struct http_session {
    struct http_service *service;
    /* came from another worker with this request, which is next */
    struct http_request *moved_request;
    struct io *io;
    struct tcp_conn tcp;
    enum http_ports ports;
    bool reserved;
    struct http_limits limits;
    struct http_reader reader;
};

static struct http_limits limits_of(const struct conf_limits *l)
{
    return (struct http_limits){
        .max_line = (size_t)l->http_max_line, .max_head = (size_t)l->http_max_head,
        .max_fields = (unsigned)l->http_max_fields, .max_body = (uint64_t)l->http_max_body,
        .idle_time = l->idle_timeout, .head_time = l->handshake_timeout,
        .body_time = l->http_body_timeout,
    };
}

static const struct tcp_ops ops;

static struct http_session *session_new(struct http_service *service, struct io *io)
{
    struct http_session *s = must(calloc(1, sizeof(*s)));

    s->service = service;
    s->io = io;
    tcp_conn_init(&s->tcp, &ops, service->env, &s->io);
    s->ports = HTTP_PORT_ALL;
    s->limits = limits_of(&service->env->conf->limits);
    s->io->write_timeout = service->env->conf->rtmp.send_timeout;
    return s;
}

static struct http_session *session_of(struct tcp_conn *c)
{
    return container_of(c, struct http_session, tcp);
}

/* An endpoint may have several services: files and streams, the API, metrics. */
static enum http_ports ports_of(unsigned served)
{
    unsigned ports = 0;

    if (served & (1u << CONF_HTTP_SERVER | 1u << CONF_HTTPS_SERVER))
        ports |= HTTP_PORT_SERVER;
    if (served & (1u << CONF_HTTP_API | 1u << CONF_HTTPS_API))
        ports |= HTTP_PORT_API;
    if (served & 1u << CONF_HTTP_EXPORTER)
        ports |= HTTP_PORT_EXPORTER;
    return (enum http_ports)ports;
}

/* Limits a connection of limits.api_reserve, which is kept for the operator: one request within a
 * short time, only for the API and metrics; everything else gets 503. */
static void reserve(struct http_session *s)
{
    s->reserved = true;
    s->ports &= ~HTTP_PORT_SERVER;
    s->limits.idle_time = s->limits.head_time = s->limits.body_time = RESERVED_TIME;
    s->io->write_timeout = RESERVED_TIME;
}

static struct tcp_conn *create(struct session_env *env, struct io *io,
                               const struct protocol_accepted *accepted)
{
    struct http_session *s = session_new(http_service_of(env), io);

    s->ports = ports_of(accepted->served[PROTOCOL_HTTP]);
    if (accepted->reserved)
        reserve(s);
    return &s->tcp;
}

static void free_session(struct tcp_conn *c)
{
    struct http_session *s = session_of(c);

    http_reader_fini(&s->reader);
    tcp_conn_fini(c);
    free(s);
}

/* ---- one request */

static bool is_trusted(const void *networks, const char *ip)
{
    return conf_networks_have_text(networks, ip);
}

static const struct conf_vhost *vhost_of(const struct conf *conf, const struct http_request *req)
{
    char name[256];
    const char *given = http_url_param(req->query, "vhost", name, sizeof(name));

    if (!given)
        given = http_url_param(req->query, "domain", name, sizeof(name));
    return conf_vhost_find(conf, given && *given ? given : req->host);
}

static bool is_below(const struct http_exchange *x, const char *folder)
{
    return strncmp(x->req->path, folder, strlen(folder)) == 0;
}

/* By the block that the path belongs to, if the port serves both. */
static bool crossdomain(const struct http_exchange *x)
{
    bool both = (x->ports & HTTP_PORT_ALL) == HTTP_PORT_ALL;
    bool api = both ? is_below(x, "/api/") || strcmp(x->req->path, "/metrics") == 0
                    : x->ports & HTTP_PORT_API;

    if (!(x->ports & HTTP_PORT_ALL))
        return false;
    return api ? x->conf->http_api.crossdomain : x->conf->http_server.crossdomain;
}

/* Returns true if pages of the internet may use this server in a private network. All services of
 * the endpoint must allow that. */
static bool private_network(const struct http_exchange *x)
{
    return !(x->ports & HTTP_PORT_EXPORTER) &&
           (!(x->ports & HTTP_PORT_SERVER) || x->conf->http_server.private_network) &&
           (!(x->ports & HTTP_PORT_API) || x->conf->http_api.private_network);
}

/* Pages of other origins may read responses and send these header fields. */
static const char cors_lines[] =
    "Access-Control-Allow-Origin: *\r\n"
    "Access-Control-Allow-Methods: GET, POST, HEAD, PUT, DELETE, PATCH, OPTIONS\r\n"
    "Access-Control-Expose-Headers: Server, Range, Content-Length, Content-Range, Location, ETag"
    "\r\n"
    "Access-Control-Allow-Headers: Origin, Range, Accept, Accept-Encoding, Authorization, "
    "Cache-Control, Content-Type, If-None-Match, If-Modified-Since, X-Requested-With\r\n";

/* Pages that use WebRTC usually come from other origins, so the configuration cannot forbid it. The
 * "*" does not include Authorization, and readable fields are listed by name. */
static const char rtc_cors_lines[] =
    "Access-Control-Allow-Origin: *\r\n"
    "Access-Control-Allow-Methods: GET, POST, DELETE, PATCH, OPTIONS\r\n"
    "Access-Control-Expose-Headers: Location, ETag, Link, Accept-Patch\r\n"
    "Access-Control-Allow-Headers: *, Authorization, Content-Type, If-Match\r\n";

static bool is_rtc(const struct http_exchange *x)
{
    return x->ports & HTTP_PORT_ALL && is_below(x, "/rtc/");
}

static void add_private_network(struct http_exchange *x)
{
    if (private_network(x) &&
        http_request_field(x->req, "Access-Control-Request-Private-Network"))
        http_response_add(x->resp, "Access-Control-Allow-Private-Network", "true");
}

static err_t rtc_preflight(struct http_exchange *x)
{
    add_private_network(x);
    http_response_add(x->resp, "Access-Control-Max-Age", "86400");
    return http_response_send(x->resp, 204, "", 0);
}

static err_t preflight(struct http_exchange *x, bool allowed)
{
    const char *fields = http_request_field(x->req, "Access-Control-Request-Headers");

    if (!allowed)
        return http_response_status(x->resp, 405);
    add_private_network(x);
    if (fields && *fields) /* in addition to those that are always allowed */
        http_response_add(x->resp, "Access-Control-Allow-Headers", "%s", fields);
    http_response_add(x->resp, "Access-Control-Max-Age", "86400");
    return http_response_send(x->resp, 200, "", 0);
}

static err_t dispatch(struct http_session *s, struct http_exchange *x)
{
    bool rtc = is_rtc(x), cors = crossdomain(x);

    s->service->requests++;
    if (rtc || cors)
        http_response_add_lines(x->resp, rtc ? rtc_cors_lines : cors_lines);
    if (x->req->verb == HTTP_VERB_OPTIONS)
        return rtc ? rtc_preflight(x) : preflight(x, cors);
    if (s->service->tunnel) {
        err_t err = s->service->tunnel(x, NULL);

        if (err || !x->declined)
            return err;
        x->declined = false;
    }
    return http_mux_serve(s->service->mux, x);
}

err_t http_exchange_allowed(const struct http_exchange *x, enum conf_action what)
{
    const char *page = http_request_field(x->req, "Referer");
    err_t err = conf_security_check(&x->vhost->security, what, x->ip);

    return err ? err : conf_refer_check(&x->vhost->refer, what, text_or_empty(page));
}

bool http_exchange_move(struct http_exchange *x, unsigned to)
{
    if (!x->env->workers || to == x->env->worker || x->moved ||
        atomic_load(&x->env->workers->ending))
        return false;
    x->move_to = (int)to;
    return true;
}

void http_exchange_take(struct http_exchange *x, struct address_slot *slot)
{
    x->taken = true;
    *slot = *x->slot;
    *x->slot = (struct address_slot){ 0 };
}

static err_t answer(struct http_session *s, struct http_request *req, bool moved,
                    struct http_response *r)
{
    struct conf *conf = conf_ref(s->service->env->conf);
    char client[IP_TEXT];
    struct http_exchange x = {
        .env = s->service->env, .req = req, .resp = r, .reader = &s->reader, .io = s->io,
        .conf = conf, .vhost = vhost_of(conf, req), .ip = s->tcp.ip, .peer = s->tcp.ip,
        .port = s->tcp.port, .ports = s->ports, .tls = s->tcp.secure, .reserved = s->reserved,
        .moved = moved, .move_to = -1, .slot = &s->tcp.slot,
    };
    err_t err;

    x.ip = http_request_client(req, s->tcp.ip, is_trusted, &conf->trusted_proxies, client);
    log_debug("HTTP %s %.256s", req->method, req->target);
    if (x.vhost && s->ports & HTTP_PORT_SERVER)
        session_pace(s->io, x.vhost->bandwidth.play_kbps);
    err = dispatch(s, &x);
    s->tcp.move_to = err ? -1 : x.move_to;
    if (x.taken)
        s->io = NULL;
    if (s->tcp.move_to >= 0 || x.taken) {
        (void)conf_unref(conf);
        return err;
    }
    if (!err && r->status == 0)
        err = http_response_status(r, 500);
    if (!err)
        err = http_response_end(r);
    log_debug("HTTP %d, %llu bytes", r->status, (unsigned long long)r->sent);
    (void)conf_unref(conf);
    return err;
}

/* Reads and discards what the peer still sends: closing right after the response could lose it in a
 * TCP reset. Not inlined: its frame would stay below a player for the player's lifetime. */
static __attribute__((noinline)) void linger(struct http_session *s)
{
    co_usec until = co_clock() + LINGER_TIME;
    size_t total = 0, n = 0;
    char buf[4096];
    err_t err = NULL;

    while (!err && total < LINGER && co_clock() < until) {
        s->io->read_timeout = until - co_clock();
        err = io_read(s->io, buf, sizeof(buf), &n);
        total += n;
    }
    err_free(&err);
}

/* Sends the peer a status for its invalid request, if one applies. Returns `why`. */
static err_t reject(struct http_session *s, err_t why)
{
    struct http_response r;
    err_t err;

    if (s->reader.status == 0)
        return why;
    http_response_init(&r, s->io, NULL, s->service->env->signature,
                       http_clock_text(&s->service->clock));
    err = http_response_status(&r, s->reader.status);
    http_response_fini(&r);
    if (!err && err_code(why) != ERR_IO_TIMEOUT)
        linger(s);
    err_free(&err);
    return why;
}

static err_t serve_one(struct http_session *s, bool *again)
{
    struct http_request *req = s->moved_request;
    struct http_response r;
    bool done = false, moved = req;
    err_t err = moved ? NULL : http_reader_next(&s->reader, &req);

    if (err)
        return reject(s, err);
    s->moved_request = NULL;
    http_response_init(&r, s->io, req, s->service->env->signature,
                       http_clock_text(&s->service->clock));
    r.close = r.close || s->reserved;
    err = answer(s, req, moved, &r);
    if (s->tcp.move_to >= 0) { /* moves with this request */
        http_response_fini(&r);
        s->moved_request = req;
        return NULL;
    }
    if (!s->io) {
        *again = false;
        http_response_fini(&r);
        return err;
    }
    if (err && s->reader.status && r.status == 0)
        err = reject(s, err);
    if (!err)
        err = http_reader_skip(&s->reader, SKIP, &done);
    if (!err && !done)
        linger(s);
    *again = !err && done && !r.close;
    http_response_fini(&r);
    return err;
}

/* ---- the connection */

/* Waits for the next request; frees unused stack memory if none comes for a while. */
static void wait_next_request(struct http_session *s)
{
    if (!http_reader_has_more(&s->reader) && !io_readable(s->io) &&
        io_wait(s->io, false, REST) == CO_TIMEOUT)
        co_stack_trim();
}

static err_t serve_all(struct http_session *s)
{
    struct co_round round = { 0 };
    bool again = true;
    err_t err = NULL;

    while (!err && again) {
        err = serve_one(s, &again);
        if (s->tcp.move_to >= 0 || !s->io)
            break;
        if (!err && again)
            wait_next_request(s);
        if (!err)
            err = co_round_io(&round, s->io);
        if (!err)
            err = co_check();
    }
    return err;
}

static err_t run(struct tcp_conn *c)
{
    struct http_session *s = session_of(c);
    err_t err;

    log_debug("HTTP client ip=%s:%d", c->ip, c->port);
    err = tcp_conn_secure(c, s->limits.head_time);
    if (err)
        return err_wrap(err, "TLS");
    http_reader_init(&s->reader, s->io, &s->limits);
    return serve_all(s);
}

/* Logs the end of a connection; ordinary ends only at debug level. */
static void log_end_of(err_t *err)
{
    char text[512];

    switch (err_class(*err)) {
    case ERR_CLASS_PEER:
    case ERR_CLASS_TIME:
    case ERR_CLASS_STOP:
        if (*err && log_enabled(LOG_DEBUG))
            log_debug("HTTP client finished : %s", err_text(*err, text, sizeof(text)));
        err_free(err);
        break;
    default:
        log_end("HTTP client finished", err);
    }
}

static void end(struct tcp_conn *c, err_t err)
{
    if (err)
        log_end_of(&err);
    free_session(c);
}

/* ---- move to another worker */

static void arrive(struct tcp_conn *c)
{
    session_of(c)->service = http_service_of(c->env);
}

static err_t resume(struct tcp_conn *c)
{
    return serve_all(session_of(c));
}

static const struct tcp_ops ops = {
    .name = "http",
    .secure = "https",
    .create = create,
    .run = run,
    .arrive = arrive,
    .resume = resume,
    .end = end,
    .free = free_session,
};

err_t http_accept(struct session_env *env, const struct protocol_accepted *accepted,
                  struct address_slot *slot)
{
    return tcp_accept(&ops, env, accepted, slot);
}

err_t http_session_run(struct http_service *service, struct io *io, const char *ip)
{
    struct http_session *s = session_new(service, io);
    err_t err;

    (void)snprintf(s->tcp.ip, sizeof(s->tcp.ip), "%s", ip);
    http_reader_init(&s->reader, s->io, &s->limits);
    err = serve_all(s);
    free_session(&s->tcp);
    return err;
}
