/* SPDX-License-Identifier: MIT */
/* server.c - the server: its listeners, its connections, its streams. */
#include "app/server.h"

#include "app/api/api.h"
#include "app/api/console.h"
#include "app/heartbeat.h"
#include "app/os/machine.h"
#include "app/os/memory.h"
#include "app/reload.h"
#include "app/server_room.h"
#include "app/services.h"
#include "app/sinks.h"
#include "app/version.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/random_id.h"
#include "co/co.h"
#include "co/net/io_tcp.h"
#include "serve/http/http.h"
#include "serve/http/live.h"
#include "serve/http/mux.h"
#include "serve/http/packed.h"
#include "serve/http/static.h"
#include "serve/rtmp/rtmp.h"
#include "session/clients.h"
#include "session/env.h"
#include "session/hooks.h"
#include "session/place.h"
#include "session/tokens.h"
#include "sink/forward/forward.h"
#include "sink/program/children.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* How often the files of certificates, and of keys of tokens, are looked at. */
#define CERTIFICATES CO_SECONDS(2)
/* How often the figures of the API are taken. */
#define FIGURES CO_SECONDS(3)
#define FIGURES_BOUND CO_SECONDS(1) /* where a vhost is bounded by them */

enum { TEXTS_MOST = 16 << 20 }; /* bytes of compressed texts that are kept */

struct server {
    struct session_env env; /* what connections see of us */
    char id[128];
    char run[9]; /* tells this run of the server from all others */
    struct machine machine;
    struct reload_report reload;
    struct api *api;
    struct http_service http;
    struct listeners *listeners;
    struct services_tls tls;
    struct co_group helpers; /* what runs beside the connections */
    struct sinks *sinks;
    struct co_group connections;
    long files; /* descriptors that we may have; 0: nobody knows */
};

static void on_publish(void *arg, const struct conf_vhost *vhost,
                       const struct session_stream *stream, struct live_source *src)
{
    struct server *s = arg;

    sinks_begin(s->sinks, vhost, stream, src);
}

static void on_unpublish(void *arg, struct live_source *src)
{
    struct server *s = arg;

    sinks_end(s->sinks, src);
}

static void refuse(struct server *s)
{
    unsigned n = refusals_add(&s->env.refusals, REFUSAL_CONNECTIONS, co_now());

    if (n > 0 && s->connections.count < s->env.conf->max_connections)
        log_warn("refused %u connections: of %ld descriptors few are left, raise ulimit -n", n,
                 s->files);
    else if (n > 0)
        log_warn("refused %u connections: max_connections is %d, raise it in the config", n,
                 s->env.conf->max_connections);
}

/* `place` goes over to the session, or stays the caller's when there is none. */
static err_t start_rtmp(struct server *s, const struct listeners_guest *guest,
                        struct io_tls_server *tls, struct peers_place *place)
{
    struct rtmp_session *session;
    err_t err = rtmp_session_new(&session, &s->env, guest->fd, guest->proxied, tls);

    if (err) {
        (void)close(guest->fd);
        return err;
    }
    *rtmp_session_place(session) = *place;
    *place = (struct peers_place){ 0 };
    err = co_go(&s->connections, tls ? "rtmps" : "rtmp", rtmp_session_main, session);
    if (err)
        rtmp_session_free(session);
    return err;
}

/* An endpoint may serve several: files and streams, the API, figures. */
static enum http_ports http_ports(unsigned services)
{
    unsigned ports = 0;

    if (services & (1u << SERVICE_HTTP | 1u << SERVICE_HTTPS))
        ports |= HTTP_PORT_SERVER;
    if (services & (1u << SERVICE_API | 1u << SERVICE_APIS))
        ports |= HTTP_PORT_API;
    if (services & 1u << SERVICE_EXPORTER)
        ports |= HTTP_PORT_EXPORTER;
    return (enum http_ports)ports;
}

static err_t start_http(struct server *s, const struct listeners_guest *guest,
                        struct io_tls_server *tls, struct peers_place *place, bool reserved)
{
    struct http_session *session;
    err_t err = http_session_new(&session, &s->http, guest->fd, http_ports(guest->services),
                                 guest->proxied, tls);

    if (err) {
        (void)close(guest->fd);
        return err;
    }
    *http_session_place(session) = *place;
    *place = (struct peers_place){ 0 };
    if (reserved)
        http_session_reserve(session);
    err = co_go(&s->connections, tls ? "https" : "http", http_session_main, session);
    if (err)
        http_session_free(session);
    return err;
}

static struct io_tls_server *http_tls(struct server *s, unsigned services)
{
    if (services & 1u << SERVICE_HTTPS)
        return s->tls.v[SERVICE_HTTPS];
    return services & 1u << SERVICE_APIS ? s->tls.v[SERVICE_APIS] : NULL;
}

/* Those that are here go on with what is left. */
static void refuse_for_memory(struct server *s)
{
    unsigned n = refusals_add(&s->env.refusals, REFUSAL_MEMORY, co_now());

    if (n > 0)
        log_warn("refused %u connections: the system has no more memory for us", n);
}

static enum server_room room_for(struct server *s, const struct listeners_guest *guest)
{
    unsigned services = guest->services;
    const struct server_use use = {
        .taken = (int)s->connections.count, .fd = guest->fd, .files = s->files,
        .api = services & (1u << SERVICE_API | 1u << SERVICE_APIS | 1u << SERVICE_EXPORTER) &&
               !(services & (1u << SERVICE_RTMP | 1u << SERVICE_RTMPS)),
        .local = !guest->proxied && server_room_is_local(guest->peer),
    };
    enum server_room room = server_room_find(s->env.conf, &use);

    if (room == SERVER_ROOM_NONE) {
        refuse(s);
    } else if (!mem_left()) {
        refuse_for_memory(s);
        room = SERVER_ROOM_NONE;
    }
    return room;
}

/* Whom a proxy of ours brings is counted once it is known who that is. */
static bool is_balancer(const struct server *s, const struct listeners_guest *guest)
{
    return guest->proxied && conf_networks_have(&s->env.conf->trusted_proxies, guest->peer);
}

static void on_accept(void *arg, const struct listeners_guest *guest)
{
    struct server *s = arg;
    struct peers_place place = { 0 };
    enum server_room room = room_for(s, guest);
    err_t err;

    if (room == SERVER_ROOM_NONE ||
        (!is_balancer(s, guest) && !session_place_take(&s->env, &place, guest->peer))) {
        (void)close(guest->fd);
        return;
    }
    if (guest->services & 1u << SERVICE_RTMP)
        err = start_rtmp(s, guest, NULL, &place);
    else if (guest->services & 1u << SERVICE_RTMPS)
        err = start_rtmp(s, guest, s->tls.v[SERVICE_RTMPS], &place);
    else
        err = start_http(s, guest, http_tls(s, guest->services), &place,
                         room == SERVER_ROOM_RESERVED);
    if (err)
        log_end("accept", &err);
    session_place_leave(&place);
}

static unsigned connections(void *arg)
{
    const struct server *s = arg;

    return (unsigned)s->connections.count;
}

static long files_allowed(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur > 1L << 30)
        return 0;
    return (long)r.rlim_cur;
}

static void make_api(struct server *s)
{
    const struct api_parts parts = {
        .env = &s->env, .mux = s->http.mux, .machine = &s->machine, .reload = &s->reload,
        .forwards = sinks_find(s->sinks, &forward_sink),
        .children = sinks_find(s->sinks, &program_sink),
        .connections = connections, .arg = s,
    };

    machine_init(&s->machine);
    s->api = api_new(&parts);
}

struct server *server_new(struct conf *conf, const char *id)
{
    struct server *s = must(calloc(1, sizeof(*s)));

    (void)snprintf(s->id, sizeof(s->id), "%s", id);
    random_id(s->run, sizeof(s->run) - 1);
    s->files = files_allowed();
    s->env = (struct session_env){ .conf = conf_ref(conf), .generation = 1,
                               .streams = live_registry_new(), .arg = s,
                               .signature = VERSION_SIGNATURE, .version = VERSION_NUMBER,
                               .server_id = s->id, .service_id = s->run,
                               .on_publish = on_publish, .on_unpublish = on_unpublish };
    memory_apply(&s->env);
    s->env.clients = clients_new(s->env.streams, s->id);
    s->env.hooks = hooks_new(&s->env);
    s->env.packs = http_packs_new(TEXTS_MOST);
    s->env.peers = peers_new((size_t)conf->max_connections);
    s->env.tokens = tokens_new();
    co_group_init(&s->connections);
    co_group_init(&s->helpers);
    s->http = (struct http_service){ .env = &s->env, .mux = http_mux_new() };
    s->sinks = sinks_new(&s->env);
    sinks_mount(s->sinks, s->http.mux);
    http_live_mount(s->http.mux);
    console_mount(s->http.mux);
    http_static_mount(s->http.mux);
    s->listeners = listeners_new(on_accept, s);
    make_api(s);
    return s;
}

static err_t open_listeners(struct server *s, const struct conf *c)
{
    struct listeners_want wanted[SERVICES];
    struct listeners_plan *plan;
    err_t err = listeners_prepare(&plan, s->listeners, wanted, services_wanted(c, wanted), 1);

    if (err)
        return err;
    listeners_apply(s->listeners, plan, 0);
    listeners_plan_free(plan);
    return NULL;
}

/* Certificates are renewed by others, who do not tell us. */
static err_t watch_certificates(void *arg)
{
    struct server *s = arg;
    err_t err = NULL;

    while (!(err = co_sleep(co_to_second(CERTIFICATES, co_now())))) {
        services_tls_refresh(&s->tls);
        tokens_refresh(s->env.tokens);
    }
    return err;
}

static bool some_vhost_is_bound(const struct conf *c)
{
    for (size_t i = 0; i < c->vhost.n; i++) {
        const struct conf_bandwidth *b = &c->vhost.v[i].bandwidth;

        if (b->in_kbps > 0 || b->out_kbps > 0)
            return true;
    }
    return false;
}

static err_t take_figures(void *arg)
{
    struct server *s = arg;
    co_usec due = 0;
    err_t err = NULL;

    do {
        if (co_now() >= due) {
            machine_sample(&s->machine, &s->env.conf->stats);
            due = co_now() + co_to_second(FIGURES, co_now());
            clients_sample(s->env.clients);
        } else if (some_vhost_is_bound(s->env.conf)) {
            clients_sample(s->env.clients);
        }
    } while (!(err = co_sleep(co_to_second(FIGURES_BOUND, co_now()))));
    return err;
}

err_t server_listen(struct server *s)
{
    struct jwks_files *jwks = NULL;
    err_t err = services_tls_load(&s->tls, s->env.conf);

    if (!err)
        err = jwks_files_read(&jwks, s->env.conf);
    tokens_take(s->env.tokens, jwks);
    if (!err)
        err = open_listeners(s, s->env.conf);
    if (!err)
        err = co_go(&s->helpers, "figures", take_figures, s);
    if (!err)
        err = co_go(&s->helpers, "heartbeat", heartbeat_run,
                    (void *)(uintptr_t)api_parts_of(s->api));
    if (!err)
        err = co_go(&s->helpers, "certificates", watch_certificates, s);
    if (!err)
        sinks_start(s->sinks);
    return err;
}

void server_close_listeners(struct server *s)
{
    listeners_close(s->listeners);
    sinks_stop_ingest(s->sinks); /* they are clients of ours that do not end by themselves */
}

void server_free(struct server *s)
{
    err_t err;

    listeners_free(s->listeners);
    sinks_interrupt(s->sinks); /* those of streams are connected to us: they go first */
    err = co_group_stop(&s->connections);
    err_free(&err); /* each was logged where it ended */
    err = co_group_stop(&s->helpers);
    err_free(&err);
    services_tls_free(&s->tls);
    sinks_free(s->sinks);
    http_mux_free(s->http.mux);
    api_free(s->api);
    hooks_free(s->env.hooks);
    peers_free(s->env.peers);
    tokens_free(s->env.tokens);
    live_registry_free(s->env.streams);
    http_packs_free(s->env.packs);
    clients_free(s->env.clients);
    reload_report_free(&s->reload);
    (void)conf_unref(s->env.conf);
    free(s);
}

struct conf *server_conf(struct server *s)
{
    return s->env.conf;
}

static void reload_streams(struct server *s)
{
    for (struct live_source *src = live_registry_next(s->env.streams, NULL); src;
         src = live_registry_next(s->env.streams, src)) {
        const char *name = live_source_name(src);
        char vhost[256];
        const struct conf_vhost *v;
        size_t n = strcspn(name, "/");

        if (n >= sizeof(vhost))
            continue;
        memcpy(vhost, name, n);
        vhost[n] = '\0';
        v = conf_vhost_find(s->env.conf, vhost);
        if (v) {
            struct live_settings set = session_live_settings(s->env.conf, v);

            live_source_settings(src, &set);
        }
    }
}

err_t server_reload(struct server *s, struct conf *next)
{
    struct conf *old = s->env.conf;
    struct services_tls tls;
    struct jwks_files *jwks = NULL;
    err_t err = services_tls_load(&tls, next);

    if (!err) {
        err = jwks_files_read(&jwks, next);
        if (!err)
            err = open_listeners(s, next);
        if (err)
            services_tls_free(&tls);
    }
    if (err) {
        (void)jwks_files_unref(jwks);
        return err_wrap(err, "the old configuration stays");
    }
    tokens_take(s->env.tokens, jwks);
    services_tls_free(&s->tls);
    s->tls = tls;
    s->env.conf = conf_ref(next);
    s->env.generation++;
    (void)conf_unref(old);
    memory_apply(&s->env);
    reload_streams(s);
    sinks_reload(s->sinks);
    return NULL;
}

struct reload_report *server_reload_report(struct server *s)
{
    return &s->reload;
}

void server_stat(const struct server *s, struct server_stat *out)
{
    *out = (struct server_stat){
        .connections = (unsigned)s->connections.count,
        .publishers = s->env.publishers,
        .players = s->env.players,
        .forwards = sink_count(sinks_find(s->sinks, &forward_sink)),
        .streams = (unsigned)live_registry_count(s->env.streams),
    };
}
