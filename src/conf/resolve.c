/* SPDX-License-Identifier: MIT */
/* resolve.c - computes values that depend on others, so that readers do not have to. */
#include "conf/resolve.h"

#include "conf/arena.h"
#include "conf/protocol.h"

#include <string.h>

static void resolve_vhost(const struct conf *c, struct conf_vhost *v)
{
    if (v->chunk_size == CONF_UNSET)
        v->chunk_size = c->rtmp.chunk_size;
    v->min_latency = v->min_latency_set == CONF_ON;
    if (v->play.mw_msgs == CONF_UNSET)
        v->play.mw_msgs = v->min_latency ? 0 : 8;
    if (v->play.atc)
        v->play.time_jitter = CONF_JITTER_OFF;
    if (!*v->hls.key_file_path)
        v->hls.key_file_path = v->hls.path;
    if (!*v->hls.key_url)
        v->hls.key_url = v->hls.path;
}

static bool same_listen(const struct conf_endpoints *a, const struct conf_endpoints *b)
{
    return a->n && b->n && a->v[0].port == b->v[0].port;
}

/* The API uses the https port of http_server if both share the http port. */
static void resolve_https(struct conf *c, struct conf_arena *arena)
{
    struct conf_tls *api = &c->http_api.https;
    struct conf_endpoint *own;

    if (api->listen.n)
        return;
    if (same_listen(&c->http_api.listen, &c->http_server.listen)) {
        api->listen = c->http_server.https.listen;
        return;
    }
    own = conf_arena_get(arena, sizeof(*own));
    *own = (struct conf_endpoint){ .text = "1990", .host = "", .port = 1990 };
    api->listen = (struct conf_endpoints){ .v = own, .n = 1 };
}

void conf_resolve(struct conf *c)
{
    /* the new scale starts at 1; 0 means "not set" */
    c->log_level = (enum conf_log_level)(c->srs_log_level_v2 ? c->srs_log_level_v2 - 1
                                                             : c->srs_log_level);
    conf_protocols_resolve(c);
    resolve_https(c, c->arena);
    for (size_t i = 0; i < c->vhost.n; i++)
        resolve_vhost(c, (struct conf_vhost *)&c->vhost.v[i]);
}
