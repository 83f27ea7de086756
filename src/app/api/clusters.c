/* SPDX-License-Identifier: MIT */
/* clusters.c - /api/v1/clusters: whether a stream is published here, and the address for players.
 *
 * Origins of a cluster use it to redirect a player to the origin that has the stream.
 */
#include "app/api/api.h"
#include "base/url.h"
#include "live/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 512 };

enum { VHOST = 1, APP, STREAM, COWORKER, WORDS };

/* The query's keys, in the order of the enum. */
static const char *const keys[WORDS] = { "ip", "vhost", "app", "stream", "coworker" };

struct asked {
    char v[WORDS][TEXT_MAX];
};

struct sought {
    char *name;
    bool published;
};

static void look(struct session_env *env, void *arg)
{
    struct sought *s = arg;
    const struct live_source *src = live_registry_find(env->streams, s->name);

    s->published = src && live_source_publishing(src);
}

/* Finds the vhost if the stream is published here. */
static const struct conf_vhost *find(const struct api_call *c, const struct asked *q)
{
    const struct conf_vhost *vhost = conf_vhost_find(c->x->conf, q->v[VHOST]);
    struct sought s = { .published = false };

    if (!vhost || asprintf(&s.name, "%s/%s/%s", vhost->name, q->v[APP],
                           q->v[STREAM]) < 0)
        return NULL;
    for (unsigned w = 0; w < workers_count(c->of->env) && !s.published; w++)
        workers_call(c->of->env, w, look, &s);
    free(s.name);
    return s.published ? vhost : NULL;
}

static bool is_own(const char *host)
{
    return !*host || strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
           strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

/* Writes the address at which others reach this endpoint, without brackets: the listen address if
 * it is specific, else the address that the request was sent to (the interface's own address may
 * only be valid behind a router). */
static void find_ip(const struct conf *conf, const struct conf_endpoints *listen,
                    const char *coworker, char *buf, size_t size)
{
    const struct conf_endpoint *e = listen->n ? &listen->v[0] : NULL;
    struct host_port parts = host_port_split(coworker, strlen(coworker));
    char own[64];

    if (e && !is_own(e->host))
        (void)snprintf(buf, size, "%s", e->host);
    else if (*coworker)
        (void)snprintf(buf, size, "%.*s", (int)parts.host_n, parts.host);
    else
        (void)snprintf(buf, size, "%s", machine_address(conf->stats.network, own, sizeof(own)));
}

/* Writes the address of the API; "" if it is off. */
static void find_api(const struct conf *conf, const char *coworker, char *buf, size_t size)
{
    const struct conf_endpoints *api = &conf->http_api.listen;
    char ip[TEXT_MAX];

    find_ip(conf, api, coworker, ip, sizeof(ip));
    if (api->n > 0)
        (void)snprintf(buf, size, strchr(ip, ':') ? "[%s]:%d" : "%s:%d", ip, api->v[0].port);
    else
        buf[0] = '\0';
}

static void put_origin(struct api_call *c, const struct conf *conf, const struct asked *q,
                       const struct conf_vhost *vhost)
{
    char ip[TEXT_MAX], api[TEXT_MAX + 16];

    find_ip(conf, &conf->rtmp.listen, q->v[COWORKER], ip, sizeof(ip));
    find_api(conf, q->v[COWORKER], api, sizeof(api));
    jput_open(&c->j, "origin", '{');
    jput_text(&c->j, "ip", ip);
    jput_int(&c->j, "port", conf->rtmp.listen.n ? conf->rtmp.listen.v[0].port : 1935);
    jput_text(&c->j, "vhost", vhost->name);
    jput_text(&c->j, "api", api);
    jput_open(&c->j, "routers", '[');
    jput_text(&c->j, NULL, api);
    jput_close(&c->j, ']');
    jput_close(&c->j, '}');
}

static err_t clusters(struct api_call *c)
{
    const struct conf_vhost *vhost;
    struct asked q;

    for (int i = 0; i < WORDS; i++) {
        if (!api_param(c, keys[i], q.v[i], sizeof(q.v[i])))
            q.v[i][0] = '\0';
    }
    vhost = find(c, &q);
    jput_open(&c->j, "data", '{');
    jput_open(&c->j, "query", '{');
    for (int i = 0; i < COWORKER; i++)
        jput_text(&c->j, keys[i], q.v[i]);
    jput_close(&c->j, '}');
    if (vhost)
        put_origin(c, c->x->conf, &q, vhost);
    else
        jput_null(&c->j, "origin");
    jput_close(&c->j, '}');
    return NULL;
}

const struct api_row api_rows_clusters[] = {
    { "clusters", "origin cluster server API", API_ANY, clusters, NULL },
    { .path = NULL },
};
