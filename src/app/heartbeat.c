/* SPDX-License-Identifier: MIT */
/* heartbeat.c - periodic status reports to a URL. */
#include "app/heartbeat.h"

#include "base/log.h"
#include "base/must.h"
#include "conf/protocol.h"
#include "proto/http/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY_MAX = 256 * 1024, REPLY_MAX = 64 * 1024 };

/* How often it checks whether it has been enabled. */
#define POLL CO_SECONDS(1)
#define PATIENCE CO_SECONDS(10)

/* An endpoint with a scheme always has a host: SRS proxies before 2025 refuse udp://PORT. */
static void put_endpoints(struct jput *j, const struct conf_endpoints *e, const char *schema)
{
    char text[300];

    for (size_t i = 0; i < e->n; i++) {
        bool bare = *schema && !*e->v[i].host;

        if (bare)
            (void)snprintf(text, sizeof(text), "%s0.0.0.0:%d", schema, e->v[i].port);
        else
            (void)snprintf(text, sizeof(text), "%s%s", schema, e->v[i].text);
        jput_text(j, NULL, text);
    }
}

/* If a protocol has UDP endpoints, all of its endpoints have a scheme. */
static const char *schema_of(const struct conf_served *s, enum protocol_id id)
{
    if (s->flags & CONF_SERVED_UDP)
        return "udp://";
    return conf_protocol(id)->served->flags & CONF_SERVED_UDP ? "tcp://" : "";
}

/* Endpoints with the same name are neighbours in the list and share one array. */
static void put_all_ports(struct jput *j, const struct conf *c)
{
    const struct conf_served *s = NULL;
    const char *open = "";
    enum protocol_id id = 0;

    while ((s = conf_served_next(s, &id))) {
        if (!s->heartbeat || !conf_served_is_on(s, c))
            continue;
        if (strcmp(open, s->heartbeat) != 0) {
            if (*open)
                jput_close(j, ']');
            jput_open(j, open = s->heartbeat, '[');
        }
        put_endpoints(j, conf_served_listen(s, c), schema_of(s, id));
    }
    if (*open)
        jput_close(j, ']');
}

/* Appends the body of the report to w. */
static void heartbeat_body(struct wr *w, const struct api_parts *of)
{
    const struct conf *c = of->env->conf;
    const char *ip = getenv("SRS_DEVICE_IP");
    char address[64], pid[16];
    struct jput j = { .w = w };

    (void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
    if (!ip || !*ip)
        ip = machine_address(c->stats.network, address, sizeof(address));
    jput_open(&j, NULL, '{');
    jput_text(&j, "device_id", c->heartbeat.device_id);
    jput_text(&j, "ip", ip);
    jput_text(&j, "server", of->env->server_id);
    jput_text(&j, "service", of->env->service_id);
    jput_text(&j, "pid", pid);
    if (c->heartbeat.summaries) {
        jput_open(&j, "summaries", '{');
        api_put_summaries(&j, of);
        jput_close(&j, '}');
    }
    if (c->heartbeat.ports)
        put_all_ports(&j, c);
    jput_close(&j, '}');
}

/* Adds the Authorization header. The field and *bearer (malloc'ed or NULL) must outlive the call.
 * */
static void add_token(struct http_call *call, const struct conf_heartbeat_auth *auth,
                      struct http_field *field, char **bearer)
{
    *bearer = NULL;
    if (!auth->enabled)
        return;
    *bearer = must_print("Bearer %s", auth->token);
    *field = (struct http_field){ "Authorization", *bearer };
    call->fields = field;
    call->n_fields = 1;
}

static err_t beat(const struct api_parts *of, const struct conf_heartbeat *conf)
{
    struct http_field field;
    char *bearer;
    struct http_call call = { .agent = of->env->signature, .timeout = PATIENCE,
                              .max_reply = REPLY_MAX, .cut = true, .trust = { .any = true } };
    struct http_reply reply = { 0 };
    struct wr w;
    err_t err;

    add_token(&call, &conf->auth, &field, &bearer);
    wr_init(&w, BODY_MAX);
    heartbeat_body(&w, of);
    err = wr_err(&w, "heartbeat");
    call.body = w.buf;
    call.size = w.len;
    if (!err)
        err = http_client_call(&reply, conf->url, &call);
    free(bearer);
    wr_free(&w);
    http_reply_free(&reply); /* the content does not matter */
    return err;
}

/* Logs the first failure of a series, and the end of the series. */
static void log_state(const char *url, err_t *err, bool *failing)
{
    if (*err && !*failing) {
        log_end("heartbeat", err);
        *failing = true;
    } else if (!*err && *failing) {
        log_trace("heartbeat: %s answers again", url);
        *failing = false;
    }
    err_free(err);
}

err_t heartbeat_run(void *parts)
{
    const struct api_parts *of = parts;
    bool failing = false;

    for (;;) {
        struct conf *c = conf_ref(of->env->conf); /* a reload may replace it during the request */
        co_usec pause = c->heartbeat.enabled ? c->heartbeat.interval : co_to_second(POLL, co_now());
        err_t err = NULL;

        if (c->heartbeat.enabled) {
            err = beat(of, &c->heartbeat);
            log_state(c->heartbeat.url, &err, &failing);
        }
        (void)conf_unref(c);
        err = co_sleep(pause);
        if (err)
            return err;
    }
}
