/* SPDX-License-Identifier: MIT */
/* env.c - a server in memory: everything that a conversation needs. */
#include "env.h"

#include "live/deferred_free.h"
#include "session/clients.h"

/* There may be one for each worker of a test. */
static unsigned servers;

struct server {
    struct session_env env;
    struct env_published published;
};

static void on_publish(void *arg, const struct conf_vhost *vhost, const struct session_stream *s,
                       struct live_source *src)
{
    struct env_published *p = arg;

    assert_non_null(vhost);
    assert_non_null(strstr(live_source_name(src), s->name));
    assert_true(live_source_publishing(src));
    (void)snprintf(p->stream, sizeof(p->stream), "%s", live_source_name(src));
    p->src = src;
    p->begun++;
}

static void on_unpublish(void *arg, struct live_source *src)
{
    struct env_published *p = arg;

    if (p->src == src)
        p->src = NULL;
    p->ended++;
}

struct session_env *env_new(const char *conf)
{
    struct server *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    s->env = (struct session_env){
        .conf = mem_conf(conf), .generation = 1, .streams = live_registry_new(),
        .signature = "us", .version = "1", .server_id = "vid-1", .service_id = "run",
        .arg = &s->published, .on_publish = on_publish, .on_unpublish = on_unpublish,
    };
    s->env.clients = clients_new(s->env.streams, s->env.server_id);
    servers++;
    return &s->env;
}

struct session_env *env_new_format(const char *format, ...)
{
    char conf[4096];
    va_list ap;
    int n;

    va_start(ap, format);
    n = vsnprintf(conf, sizeof(conf), format, ap);
    va_end(ap);
    assert_in_range(n, 0, sizeof(conf) - 1);
    return env_new(conf);
}

const struct env_published *env_published(const struct session_env *env)
{
    return &((const struct server *)env)->published;
}

void env_reload(struct session_env *env, const char *conf)
{
    (void)conf_unref(env->conf);
    env->conf = mem_conf(conf);
    env->generation++;
}

void env_free(struct session_env **env)
{
    struct server *s = (struct server *)*env;

    assert_int_equal(s->published.begun, s->published.ended);
    assert_int_equal(s->env.publishers + s->env.players, 0);
    assert_int_equal(clients_count_all(s->env.clients), 0);
    live_deferred_free_flush();
    assert_int_equal(live_registry_memory(s->env.streams)->used, 0);
    live_registry_free(s->env.streams);
    clients_free(s->env.clients);
    (void)conf_unref(s->env.conf);
    free(s);
    *env = NULL;
    if (--servers > 0)
        return;
    assert_int_equal(live_source_live(), 0);
    assert_int_equal(conf_live(), 0);
}
