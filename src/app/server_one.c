/* SPDX-License-Identifier: MIT */
/* server_one.c - the part of the server on one worker: creation, helpers, reload, shutdown. */
#include "app/server_parts.h"

#include "app/api/auth.h"
#include "app/api/console.h"
#include "app/heartbeat.h"
#include "app/history.h"
#include "app/os/memory.h"
#include "app/protocols.h"
#include "app/sinks.h"
#include "app/watch/watch.h"
#include "app/version.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/http/live.h"
#include "serve/http/mux.h"
#include "serve/http/packed.h"
#include "serve/http/static.h"
#include "serve/http/vod.h"
#include "session/bandwidth.h"
#include "session/clients.h"
#include "session/hooks.h"
#include "session/jwks_files.h"
#include "session/address_limits.h"
#include "session/tokens.h"
#include "vod/vod.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* How often it checks the files of certificates and token keys for changes. */
#define CERTIFICATES CO_SECONDS(2)
/* How often it samples the counters for the API. */
#define SAMPLE CO_SECONDS(3)
#define SAMPLE_BANDWIDTH CO_SECONDS(1) /* if a vhost limits its bandwidth, which needs them */

enum { TEXTS_MOST = 16 << 20 }; /* bytes of the cache of compressed texts */

/* ---- creation */

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

static bool on_wanted(void *arg, const struct session_stream *stream)
{
    struct server *s = arg;

    return sinks_wanted(s->sinks, stream);
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

static const struct sink *find_sink(const struct session_env *env, const struct sink_ops *row)
{
    const struct server *s = env->arg;

    return sinks_find(s->sinks, row);
}

static void make_api(struct server *s)
{
    const struct api_parts parts = {
        .env = &s->env, .mux = s->http.mux, .machine = &s->machine, .reload = &s->reload,
        .sink = find_sink, .connections = connections, .arg = s, .watch = s->watch,
        .history = s->history,
    };

    machine_init(&s->machine);
    s->api = api_new(&parts);
    if (s->history)
        history_begin(s->history, api_parts_of(s->api));
}

static void mount(struct server *s)
{
    sinks_mount(s->sinks, s->http.mux);
    http_vod_mount(s->http.mux);
    http_live_mount(s->http.mux);
    console_mount(s->http.mux);
    http_static_mount(s->http.mux);
}

static void mount_protocols(struct server *s)
{
    for (int i = 0; i < PROTOCOLS; i++) {
        if (protocols[i]->mount)
            protocols[i]->mount(s->http.mux, api_auth_ask_token, api_parts_of(s->api)->guard);
        if (protocols[i]->tunnel)
            s->http.tunnel = protocols[i]->tunnel;
    }
}

static void make_env(struct server *s, const struct server_self *self)
{
    s->env = (struct session_env){ .conf = conf_ref(self->conf), .generation = 1,
                               .streams = live_registry_new(), .arg = s,
                               .signature = VERSION_SIGNATURE, .version = VERSION_NUMBER,
                               .server_id = s->id, .service_id = s->run, .peers = self->peers,
                               .guard = self->guard,
                               .workers = self->workers, .worker = self->worker,
                               .connections = &s->connections, .helpers = &s->helpers,
                               .service = { [PROTOCOL_HTTP] = &s->http },
                               .on_publish = on_publish, .on_unpublish = on_unpublish,
                               .on_wanted = on_wanted };
    s->env.messages = &s->messages;
    s->env.reject_counters.all = self->workers ? &self->workers->refused : NULL;
    memory_apply(&s->env);
    s->env.clients = clients_new(s->env.streams, s->id);
    s->env.hooks = hooks_new(&s->env);
    s->env.packs = http_packs_new(TEXTS_MOST);
    s->env.tokens = tokens_new();
    s->env.vod = vod_new(s->env.streams, s->env.conf, workers_count(&s->env));
}

struct server *server_make(const struct server_self *self)
{
    struct server *s = must(calloc(1, sizeof(*s)));

    (void)snprintf(s->id, sizeof(s->id), "%s", self->id);
    (void)snprintf(s->run, sizeof(s->run), "%s", self->run);
    s->files = files_allowed();
    make_env(s, self);
    co_group_init(&s->connections);
    co_group_init(&s->helpers);
    s->http = (struct http_service){ .env = &s->env, .mux = http_mux_new() };
    s->sinks = sinks_new(&s->env);
    mount(s);
    s->listeners = listeners_new(server_accept, s);
    if (s->env.worker == 0) {
        s->watch = watch_new(&s->env, &s->tls);
        s->history = history_new();
    }
    make_api(s);
    mount_protocols(s);
    return s;
}

/* ---- helpers */

/* Other programs renew certificates without notice, so this checks the files. */
static err_t watch_certificates(void *arg)
{
    struct server *s = arg;
    err_t err = NULL;

    while (!(err = co_sleep(co_to_second(CERTIFICATES, co_now())))) {
        if (s->env.worker == 0) /* all workers share them */
            services_tls_refresh(&s->tls);
        tokens_refresh(s->env.tokens);
    }
    return err;
}

void server_sample(struct session_env *env)
{
    struct server *s = env->arg;
    struct worker_counters_of worker_counters = api_counters_of(api_parts_of(s->api));

    worker_counters_publish(&worker_counters);
}

static err_t take_counters(void *arg)
{
    struct server *s = arg;
    co_usec due = 0;
    err_t err = NULL;

    do {
        struct worker_counters_of worker_counters = api_counters_of(api_parts_of(s->api));
        bool now = co_now() >= due;

        worker_counters_sample(&worker_counters);
        if (now && s->env.worker == 0)
            machine_sample(&s->machine, &s->env.conf->stats);
        if (now)
            due = co_now() + co_to_second(SAMPLE, co_now());
        if (now || session_bandwidth_is_limited(s->env.conf))
            clients_sample(s->env.clients);
        session_bandwidth_report(&s->env);
        memory_share(&s->env);
    } while (!(err = co_sleep(co_to_second(SAMPLE_BANDWIDTH, co_now()))));
    return err;
}

err_t server_run(struct server *s)
{
    err_t err = co_go(&s->helpers, "figures", take_counters, s);

    if (!err)
        err = co_go(&s->helpers, "certificates", watch_certificates, s);
    if (!err && s->env.worker == 0) /* once per process */
        err = co_go(&s->helpers, "heartbeat", heartbeat_run,
                    (void *)(uintptr_t)api_parts_of(s->api));
    if (!err && s->watch)
        err = co_go(&s->helpers, "upkeep", watch_run, s->watch);
    if (!err && s->history)
        err = co_go(&s->helpers, "history", history_run, s->history);
    if (!err)
        sinks_start(s->sinks);
    return err;
}

/* ---- reload */

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

static void take_conf(struct server *s, struct conf *next)
{
    struct conf *old = s->env.conf;

    if (next == old)
        return;
    s->env.conf = conf_ref(next);
    s->env.generation++;
    (void)conf_unref(old);
    memory_apply(&s->env);
    reload_streams(s);
    vod_reload(s->env.vod, s->env.conf, workers_count(&s->env));
    server_datagram_reload(&s->env);
    sinks_reload(s->sinks);
}

void server_apply(struct session_env *env, void *next)
{
    struct server *s = env->arg;
    struct server_next *n = next;
    struct server_next_part *own = &n->part[env->worker];
    err_t err;

    tokens_take(env->tokens, own->jwks);
    own->jwks = NULL;
    services_tls_free(&s->tls);
    s->tls = own->tls;
    own->tls = (struct services_tls){ 0 };
    take_conf(s, n->conf);
    err = server_datagram_apply(env, n->datagram);
    if (err)
        log_end("reload: sockets for datagrams", &err);
    listeners_apply(s->listeners, n->plan, env->worker);
    watch_wake(s->watch);
}

/* ---- shutdown */

void server_stop(struct server *s)
{
    err_t err;

    listeners_free(s->listeners);
    sinks_interrupt(s->sinks); /* programs are clients of this server: they end first */
    err = co_group_stop(&s->connections);
    err_free(&err); /* already logged where it ended */
    server_datagram_free(&s->env); /* datagram players have no coroutine that could end */
    sinks_end_publishers(s->sinks);
    err = co_group_stop(&s->helpers);
    err_free(&err);
}

void server_unmake(struct server *s)
{
    services_tls_free(&s->tls);
    sinks_free(s->sinks);
    vod_free(s->env.vod);
    http_mux_free(s->http.mux);
    api_free(s->api);
    watch_free(s->watch);
    history_free(s->history);
    hooks_free(s->env.hooks);
    tokens_free(s->env.tokens);
    live_registry_free(s->env.streams);
    http_packs_free(s->env.packs);
    clients_free(s->env.clients);
    reload_report_free(&s->reload);
    (void)conf_unref(s->env.conf);
    free(s);
}
