/* SPDX-License-Identifier: MIT */
/* notify.c - callbacks about files of a stream. */
#include "sink/notify.h"

#include <stdio.h>
#include <string.h>

/* Finds the stream's publisher, which entered the list of clients before the sinks started. */
static void set_client(struct sink_notifier *t, struct session_env *env, struct live_source *src)
{
    const struct client *publisher =
        env->clients ? clients_stream(env->clients, src)->publisher : NULL;

    if (publisher)
        client_id(publisher, t->client_id);
    else
        (void)snprintf(t->client_id, sizeof(t->client_id), "%s", co_cid());
}

void sink_notifier_set(struct sink_notifier *t, struct session_env *env,
                       const struct session_stream *names, struct live_source *src)
{
    struct session_stream old = t->names;

    t->names = session_stream_copy(names);
    session_stream_free(&old);
    set_client(t, env, src);
}

void sink_notifier_take(struct sink_notifier *t, struct sink_notifier *from)
{
    session_stream_free(&t->names);
    t->names = from->names;
    memcpy(t->client_id, from->client_id, sizeof(t->client_id));
    from->names = (struct session_stream){ 0 };
    sink_notifier_fini(from);
}

void sink_notifier_fini(struct sink_notifier *t)
{
    session_stream_free(&t->names);
    hooks_line_end(&t->line);
}

static unsigned clients_of(const struct sink_notifier *t, struct session_env *env)
{
    struct live_source *src =
        env->clients ? live_registry_find(env->streams, t->names.key->path) : NULL;

    return src ? clients_stream_total(clients_stream(env->clients, src)) : 0;
}

void sink_notify(struct sink_notifier *t, struct session_env *env, struct conf *conf,
                 enum hooks_action action, struct hooks_event event)
{
    const struct conf_vhost *vhost = conf_vhost_find(env->conf, t->names.vhost);

    if (vhost && strcmp(vhost->name, t->names.vhost) == 0)
        conf = env->conf;
    else
        vhost = conf_vhost_find(conf, t->names.vhost);
    if (!vhost || !vhost->http_hooks.enabled)
        return;
    event.names = &t->names;
    event.client_id = t->client_id;
    event.clients = clients_of(t, env);
    hooks_notify(env, &t->line, conf, vhost, action, &event);
    if (action == HOOKS_HLS)
        hooks_notify_hls(env, conf, vhost, &event);
}
