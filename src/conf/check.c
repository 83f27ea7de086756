/* SPDX-License-Identifier: MIT */
/* check.c - checks that involve several values of a configuration. */
#include "conf/check.h"

#include "conf/protocol.h"

#include <stdio.h>
#include <string.h>

enum {
    OTHER_FILES = 128, /* descriptors for other purposes than connections */
    CORES_MOST = 1024, /* maximum of cpu_set_t */
};

typedef err_t check_fn(const struct conf *c, const struct conf_source *src);
typedef err_t vhost_fn(const struct conf_vhost *v);

static err_t check_full(const struct conf *c, const struct conf_source *src)
{
    if (c->is_full && !src->allow_full)
        return err_new(ERR_CONF, "is_full: this file only lists the directives, start with "
                       "conf/srs.conf");
    return NULL;
}

static err_t check_listen(const struct conf *c, const struct conf_source *src)
{
    (void)src;
    if (c->rtmp.listen.n == 0)
        return err_new(ERR_CONF, "nothing to listen on: write \"listen 1935;\" or set SRS_LISTEN");
    return NULL;
}

static err_t check_daemon(const struct conf *c, const struct conf_source *src)
{
    (void)src;
    if (c->daemon && c->asprocess)
        return err_new(ERR_CONF, "daemon and asprocess cannot both be on");
    return NULL;
}

static err_t check_files(const struct conf *c, const struct conf_source *src)
{
    long need = (long)c->max_connections + c->limits.api_reserve + OTHER_FILES;
    err_t err;

    if (src->max_files <= 0 || need < src->max_files)
        return NULL;
    err = err_new(ERR_CONF, "run \"ulimit -HSn %ld\" first, or lower it", need + 1);
    return err_wrap(err, "max_connections %d needs more than %ld descriptors, the limit is %ld",
                    c->max_connections, need, src->max_files);
}

/* "0110": one digit per core, the lowest core last. */
static bool is_mask(const char *word)
{
    size_t n = strlen(word);

    return n > 0 && n <= CORES_MOST && strspn(word, "01") == n && strchr(word, '1');
}

static err_t check_affinity(const struct conf *c, const struct conf_source *src)
{
    const struct conf_list *l = &c->worker_cpu_affinity;
    size_t first = l->n > 0 && strcmp(l->v[0], "auto") == 0;

    (void)src;
    if (first && l->n > 2)
        return err_new(ERR_CONF, "worker_cpu_affinity: only one mask may follow auto");
    for (size_t i = first; i < l->n; i++) {
        if (!is_mask(l->v[i]))
            return err_new(ERR_CONF, "worker_cpu_affinity: \"%.40s\" is neither auto nor a mask of "
                           "0 and 1 that includes a core", l->v[i]);
    }
    return NULL;
}

static bool same_port(const struct conf_endpoints *a, const struct conf_endpoints *b)
{
    for (size_t i = 0; i < a->n; i++) {
        for (size_t j = 0; j < b->n; j++) {
            if (a->v[i].port == b->v[j].port)
                return true;
        }
    }
    return false;
}

static err_t check_http(const struct conf *c, const struct conf_source *src)
{
    const struct conf_http_api *api = &c->http_api;
    const struct conf_http_server *server = &c->http_server;
    bool http, https;

    (void)src;
    if (!api->enabled || !api->https.enabled || !server->enabled || !server->https.enabled)
        return NULL;
    http = same_port(&api->listen, &server->listen);
    https = same_port(&api->https.listen, &server->https.listen);
    if (http && !https)
        return err_new(ERR_CONF, "http_api and http_server share a port, but not the https port");
    if (https && !http)
        return err_new(ERR_CONF, "http_api and http_server share the https port, but not http");
    return NULL;
}

/* The token is part of a header: visible ASCII (RFC 6750 2.1 allows even less). */
static err_t check_bearer(const char *token, const char *where, const char *env)
{
    if (!*token)
        return err_new(ERR_CONF, "%s is on but has no token: write one, or set %s", where, env);
    for (const char *p = token; *p; p++) {
        if (*p <= ' ' || *p > '~')
            return err_new(ERR_CONF, "%s: the token has characters that no header allows", where);
    }
    return NULL;
}

/* An empty password counts as missing. */
static err_t check_auth(const struct conf *c, const struct conf_source *src)
{
    const struct conf_auth *auth = &c->http_api.auth;

    (void)src;
    if (!auth->enabled)
        return NULL;
    if (auth->type == CONF_AUTH_BEARER)
        return check_bearer(auth->token, "http_api.auth", "SRS_HTTP_API_AUTH_TOKEN");
    if (!*auth->username || !*auth->password)
        return err_new(ERR_CONF, "http_api.auth is on but has no username or password");
    return NULL;
}

static err_t check_heartbeat(const struct conf *c, const struct conf_source *src)
{
    const struct conf_heartbeat_auth *auth = &c->heartbeat.auth;

    (void)src;
    return auth->enabled ? check_bearer(auth->token, "heartbeat.auth", "SRS_HEARTBEAT_AUTH_TOKEN")
                         : NULL;
}

static err_t check_versions(const struct conf_tls *tls, const char *where)
{
    for (size_t i = 0; i < tls->protocols.n; i++) {
        const char *word = tls->protocols.v[i];

        if (strcmp(word, "TLSv1.2") != 0 && strcmp(word, "TLSv1.3") != 0)
            return err_new(ERR_CONF, "%s: ssl_protocols: \"%.30s\" is not one of TLSv1.2, TLSv1.3",
                           where, word);
    }
    return NULL;
}

static err_t check_certificates(const struct conf_tls *tls, const char *where)
{
    if (tls->enabled && tls->listen.n == 0)
        return err_new(ERR_CONF, "%s is on but has no listen", where);
    for (size_t i = 0; tls->enabled && i < tls->certificate.n; i++) {
        const struct conf_certificate *one = &tls->certificate.v[i];

        if (!*one->key || !*one->cert)
            return err_new(ERR_CONF, "%s: certificate %.60s needs both key and cert", where,
                           one->name);
    }
    return check_versions(tls, where);
}

static err_t check_tls(const struct conf *c, const struct conf_source *src)
{
    const struct conf_served *s = NULL;
    enum protocol_id id = 0;
    err_t err = NULL;

    (void)src;
    while (!err && (s = conf_served_next(s, &id))) {
        char where[64];

        (void)snprintf(where, sizeof(where), "%.*s", (int)(strrchr(s->listens, '.') - s->listens),
                       s->listens);
        if (s->tls != CONF_NOWHERE)
            err = check_certificates(conf_served_tls(s, c), where);
    }
    return err;
}

static err_t same_proxied(const struct conf_endpoints *a, const struct conf_endpoints *b)
{
    for (size_t i = 0; i < a->n; i++) {
        for (size_t j = 0; j < b->n; j++) {
            if (a->v[i].port == b->v[j].port && strcmp(a->v[i].host, b->v[j].host) == 0 &&
                a->v[i].proxied != b->v[j].proxied)
                return err_new(ERR_CONF, "%.60s is listed with and without proxy_protocol",
                               a->v[i].text);
        }
    }
    return NULL;
}

/* The server must know about the PROXY header before it knows the service of a connection. */
static err_t check_proxied(const struct conf *c, const struct conf_source *src)
{
    const unsigned without = CONF_SERVED_UDP | CONF_SERVED_NO_PROXY;
    const struct conf_served *a = NULL;
    enum protocol_id at = 0;
    err_t err = NULL;

    (void)src;
    while (!err && (a = conf_served_next(a, &at))) {
        const struct conf_served *b = NULL;
        enum protocol_id id = 0;

        while (!err && b != a && (b = conf_served_next(b, &id))) {
            if (!((a->flags | b->flags) & without))
                err = same_proxied(conf_served_listen(a, c), conf_served_listen(b, c));
        }
    }
    return err;
}

static err_t check_network(const struct conf *c, const struct conf_source *src)
{
    if (src->interfaces > 0 && c->stats.network >= src->interfaces)
        return err_new(ERR_CONF, "stats.network is %d, there are %d interfaces", c->stats.network,
                       src->interfaces);
    return NULL;
}

/* SRS_ variables of the server hold passwords; programs get their own SRS_ variables. */
static err_t check_ff_env(const struct conf *c, const struct conf_source *src)
{
    (void)src;
    for (size_t i = 0; i < c->ff_env.n; i++) {
        const char *name = c->ff_env.v[i];

        if (strncmp(name, "SRS_", 4) == 0 || strchr(name, '='))
            return err_new(ERR_CONF, "ff_env: %.60s cannot be passed to programs", name);
    }
    return NULL;
}

static err_t vhost_remux(const struct conf_vhost *v)
{
    size_t size = strlen(v->http_remux.mount);

    if (v->hls.enabled && v->http_remux.enabled && size >= 3 &&
        strcmp(v->http_remux.mount + size - 3, ".ts") == 0)
        return err_new(ERR_CONF, "http_remux of .ts and hls cannot both be on");
    return NULL;
}

/* Low-latency parts are not encrypted, so hls_keys would not protect the stream. */
static err_t vhost_hls(const struct conf_vhost *v)
{
    if (v->hls.enabled && v->hls.ll && v->hls.keys)
        return err_new(ERR_CONF, "hls_ll and hls_keys cannot both be on");
    return NULL;
}

static err_t vhost_forward(const struct conf_vhost *v)
{
    if (v->forward.enabled && v->publish.kickoff_for_idle > 0)
        return err_new(ERR_CONF, "forward and publish.kickoff_for_idle cannot be combined");
    return NULL;
}

static err_t vhost_ingest(const struct conf_vhost *v)
{
    for (size_t i = 0; i < v->ingest.n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(v->ingest.v[i].name, v->ingest.v[j].name) == 0)
                return err_new(ERR_CONF, "two ingest blocks are named \"%.40s\"",
                               v->ingest.v[i].name);
        }
    }
    return NULL;
}

static err_t check_protocols(const struct conf *c, const struct conf_source *src)
{
    (void)src;
    return conf_protocols_check(c);
}

static check_fn *const checks[] = {
    check_full, check_listen, check_daemon, check_files, check_affinity, check_http, check_auth,
    check_heartbeat, check_tls, check_proxied, check_network, check_ff_env, check_protocols,
};
static vhost_fn *const vhost_checks[] = { vhost_remux, vhost_hls, vhost_forward, vhost_ingest,
                                          conf_check_token, conf_protocols_check_vhost,
                                          conf_check_vod };

err_t conf_check(const struct conf *c, const struct conf_source *src)
{
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        err_t err = checks[i](c, src);

        if (err)
            return err;
    }
    for (size_t i = 0; i < c->vhost.n; i++) {
        for (size_t k = 0; k < sizeof(vhost_checks) / sizeof(vhost_checks[0]); k++) {
            err_t err = vhost_checks[k](&c->vhost.v[i]);

            if (err)
                return err_wrap(err, "vhost %.60s", c->vhost.v[i].name);
        }
    }
    return NULL;
}
