/* SPDX-License-Identifier: MIT */
/* server.c - the server: its listeners, its connections, its streams. */
#include "app/server.h"

#include "app/listeners.h"
#include "app/version.h"
#include "base/log.h"
#include "co/co.h"
#include "co/io_tcp.h"
#include "serve/rtmp.h"
#include "serve/serve.h"
#include "sink/forward.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct server {
    struct serve serve; /* what connections see of us */
    struct listeners *listeners;
    struct forwards *forwards;
    struct co_group connections;
    co_usec refused_at; /* when "too many connections" was logged last */
    unsigned refused;   /* and how many since */
};

static void on_publish(void *arg, const struct conf_vhost *vhost, const struct serve_stream *stream,
                       struct live_source *src)
{
    struct server *s = arg;

    forwards_begin(s->forwards, vhost, stream, src);
}

static void on_unpublish(void *arg, struct live_source *src)
{
    struct server *s = arg;

    forwards_end(s->forwards, src);
}

static void refuse(struct server *s, int fd)
{
    (void)close(fd);
    s->refused++;
    if (co_now() - s->refused_at < CO_SECONDS(1))
        return;
    log_warn("refused %u connections: max_connections is %d, raise it in the config", s->refused,
             s->serve.conf->max_connections);
    s->refused_at = co_now();
    s->refused = 0;
}

static void on_accept(void *arg, int fd)
{
    struct server *s = arg;
    struct rtmp_session *session;
    err_t err;

    if (s->connections.count >= s->serve.conf->max_connections) {
        refuse(s, fd);
        return;
    }
    err = rtmp_session_new(&session, &s->serve, fd);
    if (!err) {
        err = co_go(&s->connections, "rtmp", rtmp_session_main, session);
        if (err)
            rtmp_session_free(session);
    } else {
        (void)close(fd);
    }
    if (err)
        log_end("accept", &err);
}

struct server *server_new(struct conf *conf)
{
    struct server *s = calloc(1, sizeof(*s));

    if (!s)
        abort();
    s->serve = (struct serve){ .conf = conf_ref(conf), .generation = 1,
                               .streams = live_registry_new(), .arg = s,
                               .signature = VERSION_SIGNATURE, .version = VERSION_NUMBER,
                               .on_publish = on_publish, .on_unpublish = on_unpublish };
    co_group_init(&s->connections);
    s->listeners = listeners_new(on_accept, s);
    s->forwards = forwards_new(&s->serve);
    return s;
}

err_t server_listen(struct server *s)
{
    return listeners_open(s->listeners, &s->serve.conf->rtmp.listen);
}

void server_close_listeners(struct server *s)
{
    listeners_close(s->listeners);
}

void server_free(struct server *s)
{
    err_t err;

    listeners_free(s->listeners);
    err = co_group_stop(&s->connections);
    err_free(&err); /* each was logged where it ended */
    forwards_free(s->forwards);
    live_registry_free(s->serve.streams);
    (void)conf_unref(s->serve.conf);
    free(s);
}

struct conf *server_conf(struct server *s)
{
    return s->serve.conf;
}

static void reload_streams(struct server *s)
{
    for (struct live_source *src = live_registry_next(s->serve.streams, NULL); src;
         src = live_registry_next(s->serve.streams, src)) {
        const char *name = live_source_name(src);
        char vhost[256];
        const struct conf_vhost *v;
        size_t n = strcspn(name, "/");

        if (n >= sizeof(vhost))
            continue;
        memcpy(vhost, name, n);
        vhost[n] = '\0';
        v = conf_vhost_find(s->serve.conf, vhost);
        if (v) {
            struct live_settings set = serve_live_settings(s->serve.conf, v);

            live_source_settings(src, &set);
        }
    }
}

err_t server_reload(struct server *s, struct conf *next)
{
    struct conf *old = s->serve.conf;
    err_t err = listeners_open(s->listeners, &next->rtmp.listen);

    if (err)
        return err_wrap(err, "the old configuration stays");
    s->serve.conf = conf_ref(next);
    s->serve.generation++;
    (void)conf_unref(old);
    reload_streams(s);
    forwards_reload(s->forwards);
    return NULL;
}

void server_stat(const struct server *s, struct server_stat *out)
{
    *out = (struct server_stat){
        .connections = (unsigned)s->connections.count,
        .publishers = s->serve.publishers,
        .players = s->serve.players,
        .forwards = forwards_count(s->forwards),
        .streams = (unsigned)live_registry_count(s->serve.streams),
    };
}
