/* SPDX-License-Identifier: MIT */
/* tell.c - tell a backend what became of a stream. */
#include "sink/tell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its publisher, who entered the list before the sinks began. */
static void set_client(struct sink_teller *t, struct serve *serve, struct live_source *src)
{
    const struct roster_client *publisher =
        serve->roster ? roster_stream(serve->roster, src)->publisher : NULL;

    if (publisher)
        roster_client_id(publisher, t->client_id);
    else
        (void)snprintf(t->client_id, sizeof(t->client_id), "%s", co_cid());
}

void sink_teller_set(struct sink_teller *t, struct serve *serve, const struct serve_stream *names,
                     struct live_source *src)
{
    struct serve_stream old = t->names;

    t->names = serve_stream_copy(names);
    serve_stream_free(&old);
    set_client(t, serve, src);
}

void sink_teller_init(struct sink_teller *t, const struct serve_stream *names, const char *id)
{
    *t = (struct sink_teller){ .names = serve_stream_copy(names) };
    (void)snprintf(t->client_id, sizeof(t->client_id), "%s", id);
}

void sink_teller_fini(struct sink_teller *t)
{
    serve_stream_free(&t->names);
    hooks_line_end(&t->line);
}

static unsigned clients_of(const struct sink_teller *t, struct serve *serve)
{
    struct live_source *src;
    unsigned n = 0;
    char *name;

    if (!serve->roster)
        return 0;
    if (asprintf(&name, "%s/%s/%s", t->names.vhost, t->names.app, t->names.name) < 0)
        abort();
    src = live_registry_find(serve->streams, name);
    if (src)
        n = roster_stream(serve->roster, src)->clients;
    free(name);
    return n;
}

void sink_tell(struct sink_teller *t, struct serve *serve, struct conf *conf,
               enum hooks_action action, struct hooks_event event)
{
    const struct conf_vhost *vhost = conf_vhost_find(serve->conf, t->names.vhost);

    if (vhost && strcmp(vhost->name, t->names.vhost) == 0)
        conf = serve->conf;
    else
        vhost = conf_vhost_find(conf, t->names.vhost);
    if (!vhost || !vhost->http_hooks.enabled)
        return;
    event.names = &t->names;
    event.client_id = t->client_id;
    event.clients = clients_of(t, serve);
    hooks_tell(serve, &t->line, conf, vhost, action, &event);
    if (action == HOOKS_HLS)
        hooks_notify_hls(serve, conf, vhost, &event);
}
