/* SPDX-License-Identifier: MIT */
/* loopback_two.c - a datagram service on loopback with two workers. */
#include "loopback.h"

#include "two_workers.h"

static struct co_group connections[2];
static struct datagram_sockets *sockets;
static enum protocol_id protocol;

static void on_publish(void *arg, const struct conf_vhost *vhost, const struct session_stream *s,
                       struct live_source *src)
{
    (void)arg, (void)vhost, (void)s, (void)src;
}

static void on_unpublish(void *arg, struct live_source *src)
{
    (void)arg, (void)src;
}

static void open_service(struct session_env *env, void *unused)
{
    (void)unused;
    co_group_init(&connections[env->worker]);
    env->connections = &connections[env->worker];
    env->on_publish = on_publish;
    env->on_unpublish = on_unpublish;
    assert(!datagram_service_new(env, sockets));
}

static void close_service(struct session_env *env, void *unused)
{
    err_t err = co_group_stop(&connections[env->worker]);

    (void)unused;
    err_free(&err);
    datagram_service_free(env->service[protocol]);
}

void loopback_begin_two(const struct datagram_protocol *p, enum protocol_id id, const char *conf)
{
    protocol = id;
    two_begin(conf);
    assert_ok(datagram_sockets_open(&sockets, p, NULL, two_env[0].conf, 2));
    workers_each(&two_env[0], open_service, NULL);
    datagram_sockets_close(sockets);
}

void loopback_end_two(void)
{
    workers_each(&two_env[0], close_service, NULL);
    two_end();
}
